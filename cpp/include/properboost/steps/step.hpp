// Steps: how far to go along a table.
//
// A step works on scaled margins: t moves them by t times the table, and the papers' step is
// a = gain t.  It proposes a t; all lanes of a batch move there together; and seeing the slope
// there it may correct the lane's t.
#pragma once

#include <algorithm>

#include "properboost/steps/line_search_oracle.hpp"

namespace properboost {

// An error of 0 counts as half a row: the share of so many rows that this is.
double share_of_half_a_row(double rows);

// The weights of the rows that a look-up table moves the right way and the wrong way, among how
// many answers it chooses, and what odds of being right are multiplied by.
struct Agreement {
  double right = 0.0, wrong = 0.0, ways = 2.0;
  double rho = 1.0;
};

struct StepLimits {
  double rate;           // learning rate / gain: the unit step, scaled
  double learning_rate;  // the unscaled one
  double slope;          // at t = 0: positive
  double largest;        // t beyond which a line search does not go
  bool convex;           // whether the loss has one stationary point along any table
  bool shortened;        // whether the step before was less than its rate
  Agreement agreement = {};

  // Where a search that must not step over a stationary point starts; it then doubles.
  double first_look() const noexcept { return largest / 16; }
};

// Which features' coefficients a step solves for in double, instead of proposing how far to go.
enum class Solved { kNone, kLast, kAll };

class Step {
 public:
  virtual ~Step() = default;
  virtual Solved solves() const { return Solved::kNone; }
  // Where to go.
  virtual double propose(LineSearchOracle& oracle, const StepLimits& limits) const = 0;
  // Whether to go at all, along a table that may be the best there is.
  virtual bool accepts(const StepLimits& /*limits*/) const { return true; }
  // Where to go, when the same rows go this far along the same table at a higher rate.
  virtual double follow(const StepLimits& limits, double twins) const = 0;
  // Whether t, with this slope there, is too far.
  virtual bool overshoots(const StepLimits& /*limits*/, double /*t*/, double /*slope*/) const {
    return false;
  }
  // Where to stay, having overshot.  It depends on the loss and the table, not on the rate.
  virtual double correct(LineSearchOracle& /*oracle*/, const StepLimits& /*limits*/, double t,
                         double /*slope*/) const {
    return t;
  }
};

// Where a slope changes sign, or how far it is known to stay positive.
struct Bracket {
  double low;
  double slope_low;
  double high = 0.0;
  double slope_high = 0.0;
};

// Goes ahead up to `end`, doubling from the first step; whether the slope stops being positive
// there.
bool look_ahead(LineSearchOracle& oracle, const StepLimits& limits, double end, Bracket& bracket);

// The zero of the slope in a bracket, to the precision of float32 margins.
double find_stationary_point(LineSearchOracle& oracle, const Bracket& bracket);

}  // namespace properboost
