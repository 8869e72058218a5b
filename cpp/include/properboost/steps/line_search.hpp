// The exact minimiser of the risk along the look-up table, times the learning rate.
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class LineSearch final : public Step {
 public:
  static constexpr const char* name = "line_search";
  // The first stationary point ahead.  Where no row moves the wrong way there is none: then the
  // largest move, at which an error of 0 counts as half a row.
  double propose(LineSearchOracle& oracle, const StepLimits& limits) const override {
    Bracket bracket{0.0, limits.slope};
    double minimiser = limits.largest;
    if (look_ahead(oracle, limits, kFar * limits.largest, bracket)) {
      // Far out a slope of 0 is one that underflowed.
      const bool turns = bracket.slope_high < 0.0 || bracket.high <= limits.largest;
      if (turns) minimiser = find_stationary_point(oracle, bracket);
    }
    return limits.learning_rate * minimiser;
  }

 private:
  // Under the exponential loss, where it is least, rows of 1e-300 of the weight count.
  static constexpr double kFar = 1024.0;
};

}  // namespace properboost::steps
