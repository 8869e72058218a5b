// The tree: splits of several features, best first.
#pragma once

#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class TreeLearner final : public WeakLearner {
 public:
  static constexpr const char* name = "tree";
  explicit TreeLearner(const LearnerOptions& options)
      : limits(options.limits), subsample(options.subsample), seed(options.seed) {}

  const TreeLimits limits;
  const double subsample;    // share of the rows that each tree is grown from
  const std::uint64_t seed;  // of what is drawn
};

}  // namespace properboost::learners
