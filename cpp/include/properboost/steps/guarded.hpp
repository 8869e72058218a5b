// The unit step where it does not overshoot the minimiser of the risk along the table, else that
// minimiser.
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Guarded final : public Step {
 public:
  static constexpr const char* name = "guarded";
  double take(Direction& direction, const StepLimits& limits) const override {
    Bracket bracket{0.0, limits.slope};
    // A loss that is not convex may have turned long before: look on the way.
    bool passed = !limits.convex && look_ahead(direction, limits, limits.rate, bracket);
    if (!passed) {
      // The move it tries is the move it keeps in most rounds.
      bracket.high = limits.rate;
      bracket.slope_high = direction.go(limits.rate);
      passed = bracket.slope_high < 0.0;
    }
    if (!passed) return limits.rate;
    const double minimiser = find_stationary_point(direction, bracket);
    direction.go(minimiser);
    return minimiser;
  }
};

}  // namespace properboost::steps
