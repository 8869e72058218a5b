// The decision stump: the best two cells of one feature.
#pragma once

#include "properboost/learners/few_cells.hpp"
#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class Stump final : public FeatureLearner {
 public:
  static constexpr const char* name = "stump";
  using Fields = StumpFields;
  Stump(const Fields& /*fields*/, const LearnerOptions& options) : FeatureLearner(options) {}
  bool cuts_in_two() const noexcept override { return true; }

  double cost(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
              const EffectiveRows& /*rows*/) const override {
    return CellCutter(feature, criterion, r, 2).cut().cost;
  }

  double statistic(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
                   const EffectiveRows& rows) const override {
    return CellCutter(feature, criterion, r, 2).cut().statistic(feature, rows);
  }

  double freedom(const FeatureCells& feature) const override {
    return freedom_of_best_cells(feature, 2);
  }

  Partition partition(const FeatureCells& feature, const Criterion& criterion,
                      const Regularizers& r, const EffectiveRows& /*rows*/) const override {
    return CellCutter(feature, criterion, r, 2).cut().partition(feature);
  }
};

}  // namespace properboost::learners
