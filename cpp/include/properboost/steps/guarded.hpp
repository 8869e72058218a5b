// The unit step where it does not overshoot the minimiser of the risk along the table, else that
// minimiser.
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Guarded final : public Step {
 public:
  static constexpr const char* name = "guarded";
  double take(Direction& direction, const StepLimits& limits) const override {
    // The move it tries is the move it keeps in most rounds.  A loss that is not convex may have
    // turned before: look on the way.
    constexpr int kLooks = 4;
    double low = 0.0;
    double slope_low = limits.slope;
    for (int i = limits.convex ? kLooks : 1; i <= kLooks; ++i) {
      const double t = i == kLooks ? limits.rate : limits.rate * i / kLooks;
      const double slope = i == kLooks ? direction.go(t) : direction.look(t);
      if (slope < 0.0) {
        const double minimiser = find_stationary_point(direction, low, slope_low, t, slope);
        direction.go(minimiser);
        return minimiser;
      }
      low = t;
      slope_low = slope;
    }
    return limits.rate;
  }
};

}  // namespace properboost::steps
