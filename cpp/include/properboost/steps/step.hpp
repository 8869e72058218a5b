// Steps: how far to go along a table.
//
// A step works on scaled margins: t moves them by t times the table, and the papers' step is
// a = gain t.  It proposes a t; all lanes of a pack move there together; and seeing the slope
// there it may correct the lane's t.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "properboost/boosting/margins.hpp"

namespace properboost {

// One lane's rows along one table: the slopes at places it has not moved to.
class Looks {
 public:
  Looks(Margins& margins, std::size_t lane, const std::uint8_t* codes,
        const std::vector<double>& table, Team& team)
      : margins_(margins), lane_(lane), codes_(codes), table_(table), team_(team) {}

  // The slope at t.
  double look(double t) {
    if (!ready_) {
      margins_.single_out(lane_, team_);
      margins_.face(lane_, codes_, table_, team_);
      ready_ = true;
    }
    return margins_.slope_after(lane_, t - at_, team_);
  }

  // The lane has moved to t.
  void moved_to(double t) {
    at_ = t;
    ready_ = false;
  }

 private:
  Margins& margins_;
  std::size_t lane_;
  const std::uint8_t* codes_;
  const std::vector<double>& table_;
  Team& team_;
  double at_ = 0.0;
  bool ready_ = false;
};

// The weights of the rows that a table moves the right way and the wrong way, and among how many
// answers it chooses.
struct Agreement {
  double right = 0.0, wrong = 0.0, ways = 2.0;
};

struct StepLimits {
  double rate;           // learning rate / gain: the unit step, scaled
  double learning_rate;  // the unscaled one
  double slope;          // at t = 0: positive
  double largest;        // t beyond which a line search does not go
  bool convex;           // whether the loss has one stationary point along any table
  bool shortened;        // whether the step before was less than its rate
  Agreement agreement = {};
  double rho = 1.0;  // what odds of being right are multiplied by

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
  virtual double propose(Looks& looks, const StepLimits& limits) const = 0;
  // Whether to go at all, along a table that may be the best there is.
  virtual bool accepts(const StepLimits& /*limits*/) const { return true; }
  // Where to go, when the same rows go this far along the same table at a higher rate.
  virtual double follow(const StepLimits& limits, double twins) const = 0;
  // Whether t, with this slope there, is too far.
  virtual bool overshoots(const StepLimits& /*limits*/, double /*t*/, double /*slope*/) const {
    return false;
  }
  // Where to stay, having overshot.  It depends on the loss and the table, not on the rate.
  virtual double correct(Looks& /*looks*/, const StepLimits& /*limits*/, double t,
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

// Looks ahead up to `end`, doubling from the first look; whether the slope stops being positive
// there.
inline bool look_ahead(Looks& looks, const StepLimits& limits, double end, Bracket& bracket) {
  for (double t = limits.first_look(); t <= end; t *= 2) {
    const double slope = looks.look(t);
    if (!(slope > 0.0)) {
      bracket.high = t;
      bracket.slope_high = slope;
      return true;
    }
    bracket.low = t;
    bracket.slope_low = slope;
  }
  return false;
}

// The zero of the slope in a bracket, to the precision of float32 margins: inverse quadratic
// interpolation where it can be trusted, else bisection (Chandrupatla 1997).  The first look is
// where a straight line between the ends crosses zero.  So is, without a look, the end: the line
// through the last two looks misses by about the product of their slopes.
inline double find_stationary_point(Looks& looks, const Bracket& bracket) {
  constexpr double kTolerance = 1e-7;
  constexpr int kMostLooks = 60;
  const double flat = kTolerance * bracket.slope_low;
  const double nearly_flat = 1e-9 * bracket.slope_low * bracket.slope_low;
  struct Point {
    double t, slope;
  };
  Point a{bracket.high, bracket.slope_high};  // the last look
  Point b{bracket.low, bracket.slope_low};    // on the other side of the zero
  double share = a.slope / (a.slope - b.slope);
  for (int i = 0; i < kMostLooks; ++i) {
    const double t = a.t + share * (b.t - a.t);
    const Point next{t, looks.look(t)};
    Point c = a;  // the one before, to bend the line
    if ((next.slope > 0.0) != (a.slope > 0.0)) {
      c = b;
      b = a;
    }
    a = next;
    const double least = kTolerance * std::abs(a.t) / std::abs(b.t - a.t);
    if (std::abs(a.slope) <= flat || least > 0.5) break;
    if (std::abs(a.slope * c.slope) <= nearly_flat) {
      const double end = a.t - a.slope * (c.t - a.t) / (c.slope - a.slope);
      if ((end - a.t) * (end - b.t) < 0.0) return end;
    }
    const double xi = (a.t - b.t) / (c.t - b.t);
    const double phi = (a.slope - b.slope) / (c.slope - b.slope);
    share = 0.5;
    if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi) {
      share =
          a.slope / (b.slope - a.slope) * c.slope / (b.slope - c.slope) +
          (c.t - a.t) / (b.t - a.t) * a.slope / (c.slope - a.slope) * b.slope / (c.slope - b.slope);
    }
    share = std::clamp(share, least, 1.0 - least);
  }
  return a.t;
}

}  // namespace properboost
