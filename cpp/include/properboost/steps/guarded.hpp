// The unit step, unless it overshoots the minimiser of the risk along the look-up table; then that
// minimiser.
#pragma once

#include "properboost/steps/line_search_oracle.hpp"
#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Guarded final : public Step {
 public:
  static constexpr const char* name = "guarded";
  double propose(LineSearchOracle& oracle, const StepLimits& limits) const override {
    if (limits.negligible(limits.rate)) return limits.rate;
    Bracket bracket{0.0, limits.slope};
    // A loss that is not convex may have a stationary point before the end: check on the way.
    if (!limits.convex && look_ahead(oracle, limits, limits.rate, bracket)) {
      return find_stationary_point(oracle, bracket);
    }
    // From far beyond the minimiser margins overflow, or a search ends before it is back.
    if (limits.convex && limits.rate > kFar * limits.largest &&
        look_ahead(oracle, limits, limits.rate, bracket) && bracket.slope_high < 0.0) {
      return find_stationary_point(oracle, bracket);
    }
    // In most rounds the step stays at the rate.  If the last one did not, checking the slope first
    // may save a move; and after a very long move the float32 margins could not be restored
    // exactly.
    if (limits.shortened || limits.rate > limits.largest) {
      bracket.high = limits.rate;
      bracket.slope_high = oracle.slope_at(limits.rate);
      if (bracket.slope_high < 0.0) return find_stationary_point(oracle, bracket);
    }
    return limits.rate;
  }

  bool overshoots(const StepLimits& limits, double t, double slope) const override {
    return t == limits.rate && slope < 0.0 && !limits.negligible(t);
  }

  double correct(LineSearchOracle& oracle, const StepLimits& limits, double t,
                 double slope) const override {
    Bracket bracket{0.0, limits.slope};
    if (!limits.convex) look_ahead(oracle, limits, t, bracket);  // known not to turn before t
    bracket.high = t;
    bracket.slope_high = slope;
    return find_stationary_point(oracle, bracket);
  }

 private:
  static constexpr double kFar = 0x1p32;  // as many halvings leave a search its precision
};

}  // namespace properboost::steps
