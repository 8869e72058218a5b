// Impurities: criteria of class probability trees, one per permissible function (Nock and Nielsen
// 2009, eq. 49: the weight of a cell times -phi(p) / b_phi, so that a cell of two equal classes and
// weight 1 costs 1 more than a pure one).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

struct ImpurityDefaults {
  static constexpr bool needs_curvature = false;
  explicit ImpurityDefaults(double /*parameter*/ = 0.0) {}
};

// A policy with its parameter, if it has one.
template <class Policy>
class BoundImpurity final : public BoundCriterion<Policy> {
 public:
  explicit BoundImpurity(double parameter) : BoundCriterion<Policy>(Policy(parameter)) {}
};

// The impurity of this name; errors call the argument `axis`.
std::unique_ptr<Criterion> make_impurity(const char* axis, const std::string& name,
                                         double parameter);
std::vector<std::string> impurity_names();

}  // namespace properboost
