// Steps: how far to go along a table.
//
// A step works on scaled margins: t moves them by t times the table, and the papers' step is
// a = gain t.  It finds t with moves that stay and looks that do not, and leaves the rows at t.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "properboost/margins.hpp"

namespace properboost {

// One table, and the rows to move along it.
class Direction {
 public:
  Direction(Margins& margins, const std::uint8_t* codes, const std::vector<double>& table)
      : margins_(margins), codes_(codes), table_(table) {}

  double at() const noexcept { return at_; }
  const Margins::Point& point() const noexcept { return point_; }
  double largest_entry() const {
    double largest = 0.0;
    for (const double g : table_) largest = std::max(largest, std::abs(g));
    return largest;
  }

  // Moves the rows to t; the slope there.
  double go(double t) {
    point_ = margins_.move(codes_, table_, t - at_);
    at_ = t;
    return point_.slope;
  }

  // The slope at t, seen from here.
  double look(double t) const { return margins_.slope_after(codes_, table_, t - at_); }

 private:
  Margins& margins_;
  const std::uint8_t* codes_;
  const std::vector<double>& table_;
  double at_ = 0.0;
  Margins::Point point_;
};

struct StepLimits {
  double rate;           // learning rate / gain: the unit step, scaled
  double learning_rate;  // the unscaled one
  double slope;          // at t = 0: positive
  double largest;        // t beyond which a line search does not go
  bool convex;           // whether the loss has one stationary point along any table

  // Where a search that must not step over a stationary point starts; it then doubles.
  double first_look() const noexcept { return largest / 16; }
};

class Step {
 public:
  virtual ~Step() = default;
  // Leaves the rows at the t it returns.
  virtual double take(Direction& direction, const StepLimits& limits) const = 0;
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
inline bool look_ahead(const Direction& direction, const StepLimits& limits, double end,
                       Bracket& bracket) {
  for (double t = limits.first_look(); t <= end; t *= 2) {
    const double slope = direction.look(t);
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

// The zero of the slope in a bracket: false position with the Illinois weights (Dowell and Jarratt
// 1971), to the precision of float32 margins.
inline double find_stationary_point(const Direction& direction, Bracket b) {
  constexpr double kTolerance = 1e-7;
  constexpr int kMostLooks = 60;
  const double flat = kTolerance * b.slope_low;
  double t = b.low;
  int last_side = 0;
  for (int i = 0; i < kMostLooks && b.high - b.low > kTolerance * b.high; ++i) {
    t = (b.slope_low * b.high - b.slope_high * b.low) / (b.slope_low - b.slope_high);
    if (!(t > b.low && t < b.high)) t = 0.5 * (b.low + b.high);
    const double slope = direction.look(t);
    if (std::abs(slope) <= flat) break;
    const int side = slope > 0.0 ? 1 : -1;
    if (side > 0) {
      b.low = t;
      b.slope_low = slope;
      if (last_side > 0) b.slope_high /= 2;
    } else {
      b.high = t;
      b.slope_high = slope;
      if (last_side < 0) b.slope_low /= 2;
    }
    last_side = side;
  }
  return t;
}

}  // namespace properboost
