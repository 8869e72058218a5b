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
  // The first stationary point ahead; at most the largest move, where an error of 0 counts as half
  // a row.
  static double minimiser(const Direction& direction, const StepLimits& limits) {
    Bracket bracket{0.0, limits.slope};
    const bool passed = look_ahead(direction, limits, limits.largest, bracket);
    return passed ? find_stationary_point(direction, bracket) : limits.largest;
  }
};

}  // namespace properboost::steps
