// The exact minimiser of the risk along the look-up table, times the learning rate.
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class LineSearch final : public Step {
 public:
  static constexpr const char* name = "line_search";
  // The first stationary point ahead, but at most the largest move, at which an error of 0 counts
  // as half a row.
  double propose(LineSearchOracle& oracle, const StepLimits& limits) const override {
    Bracket bracket{0.0, limits.slope};
    const bool passed = look_ahead(oracle, limits, limits.largest, bracket);
    const double minimiser = passed ? find_stationary_point(oracle, bracket) : limits.largest;
    return limits.learning_rate * minimiser;
  }

  double follow(const StepLimits& /*limits*/, double twins) const override { return twins; }
};

}  // namespace properboost::steps
