// The exact minimiser of the risk along the table, times the learning rate.
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class LineSearch final : public Step {
 public:
  static constexpr const char* name = "line_search";
  double take(Direction& direction, const StepLimits& limits) const override {
    const double t = limits.learning_rate * minimiser(direction, limits);
    direction.go(t);
    return t;
  }

 private:
  // The first stationary point ahead, found by doubling from a sixteenth of the largest move; at
  // most the largest move, where an error of 0 counts as half a row.
  static double minimiser(const Direction& direction, const StepLimits& limits) {
    double low = 0.0;
    double slope_low = limits.slope;
    for (double t = limits.largest / 16; t <= limits.largest; t *= 2) {
      const double slope = direction.look(t);
      if (!(slope > 0.0)) return find_stationary_point(direction, low, slope_low, t, slope);
      low = t;
      slope_low = slope;
    }
    return limits.largest;
  }
};

}  // namespace properboost::steps
