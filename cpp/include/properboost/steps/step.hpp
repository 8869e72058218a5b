// Steps: how far to move along a look-up table.
//
// A step works on scaled margins: t moves them by t times the look-up table, and the papers' step
// is a = gain t.  It proposes a t; all lanes of a batch move together; after the move it may
// correct the lane's t by the slope there.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace properboost {

class LineSearchOracle;

// An error of 0 counts as half a row: returns half a row's share of `rows` rows.
double share_of_half_a_row(double rows);

// The weights of the rows that a look-up table moves the right way and the wrong way, the number of
// answers, and the factor on the odds of being right.
struct Agreement {
  double right = 0.0, wrong = 0.0, ways = 2.0;
  double rho = 1.0;
};

struct StepLimits {
  double rate;           // learning rate / gain: the unit step, scaled
  double learning_rate;  // the unscaled one
  double slope;          // at t = 0: positive
  double largest;        // t beyond which a line search does not go
  double farthest;       // how far t = 1 moves a row at most
  bool convex;           // whether the risk has one stationary point along any look-up table
  bool shortened;        // whether the last step was less than its rate
  Agreement agreement = {};

  // Where a search that must not step over a stationary point starts; it then doubles.
  double first_look() const noexcept { return largest / 16; }
  // Whether a step moves every row by so little that its slope is rounding, of float32 margins.
  bool negligible(double t) const noexcept { return t * farthest <= 0x1p-20; }
};

// Which coefficients a step solves for in double, instead of proposing a step.
enum class Solved { kNone, kLast, kAll };

class Step {
 public:
  virtual ~Step() = default;
  virtual Solved solves() const { return Solved::kNone; }
  // Whether a step that raises the risk is shortened.
  virtual bool guards() const { return true; }
  // The step to take.
  virtual double propose(LineSearchOracle& oracle, const StepLimits& limits) const = 0;
  // Whether to step at all, along a look-up table that may be the best there is.
  virtual bool accepts(const StepLimits& /*limits*/) const { return true; }
  // Whether t, with this slope there, is too far.
  virtual bool overshoots(const StepLimits& /*limits*/, double /*t*/, double /*slope*/) const {
    return false;
  }
  // The corrected step after overshooting.  It depends on the loss and the look-up table, not on
  // the rate.
  virtual double correct(LineSearchOracle& /*oracle*/, const StepLimits& /*limits*/, double t,
                         double /*slope*/) const {
    return t;
  }
};

std::unique_ptr<Step> make_step(const std::string& name);
std::vector<std::string> step_names();
// Those that a boosting of votes may take.
std::unique_ptr<Step> make_vote_step(const std::string& name);
std::vector<std::string> vote_step_names();

// Where a slope changes sign, or how far it is known to stay positive.
struct Bracket {
  double low;
  double slope_low;
  double high = 0.0;
  double slope_high = 0.0;
};

// Checks slopes up to `end`, doubling from the first; returns whether one is not positive.
bool look_ahead(LineSearchOracle& oracle, const StepLimits& limits, double end, Bracket& bracket);

// The zero of the slope in a bracket, to the precision of float32 margins.
double find_stationary_point(LineSearchOracle& oracle, const Bracket& bracket);

}  // namespace properboost
