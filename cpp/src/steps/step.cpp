#include "properboost/steps/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properboost/steps/line_search_oracle.hpp"
#include "properboost/steps/registry.hpp"

namespace properboost {

// For one row, link(1 - 1/2) = 0 would forbid every step; for more than 2^52, 1 - 0.5/n rounds
// to 1.
double share_of_half_a_row(double rows) { return 0.5 / std::clamp(rows, 2.0, 0x1p52); }

std::unique_ptr<Step> make_step(const std::string& name) {
  return steps::Builtins::make<Step>("step", name);
}
std::vector<std::string> step_names() { return steps::Builtins::names(); }

std::unique_ptr<Step> make_vote_step(const std::string& name) {
  return steps::ForVotes::make<Step>("step", name);
}
std::vector<std::string> vote_step_names() { return steps::ForVotes::names(); }

bool look_ahead(LineSearchOracle& oracle, const StepLimits& limits, double end, Bracket& bracket) {
  // Twice infinity is no farther: tables that move margins by next to nothing have such ends.
  const double last = std::min(end, std::numeric_limits<double>::max());
  for (double t = limits.first_look(); t <= last; t *= 2) {
    const double slope = oracle.slope_at(t);
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

// Inverse quadratic interpolation where it can be trusted, else bisection (Chandrupatla 1997).  It
// starts where a straight line between the ends crosses zero.  It ends on the line through the last
// two points, without a slope there: that line misses by about the product of their slopes.
double find_stationary_point(LineSearchOracle& oracle, const Bracket& bracket) {
  constexpr double kTolerance = 1e-7;
  constexpr int kMostSlopes = 60;
  const double flat = kTolerance * bracket.slope_low;
  const double nearly_flat = 1e-9 * bracket.slope_low * bracket.slope_low;
  struct Point {
    double t, slope;
  };
  Point a{bracket.high, bracket.slope_high};  // the last point
  Point b{bracket.low, bracket.slope_low};    // on the other side of the zero
  double share = std::isfinite(a.slope) ? a.slope / (a.slope - b.slope) : 0.5;  // it may overflow
  for (int i = 0; i < kMostSlopes; ++i) {
    const double t = a.t + share * (b.t - a.t);
    const Point next{t, oracle.slope_at(t)};
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
    const bool finite = std::isfinite(a.slope) && std::isfinite(b.slope) && std::isfinite(c.slope);
    if (finite && phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi) {
      share =
          a.slope / (b.slope - a.slope) * c.slope / (b.slope - c.slope) +
          (c.t - a.t) / (b.t - a.t) * a.slope / (c.slope - a.slope) * b.slope / (c.slope - b.slope);
    }
    share = std::clamp(share, least, 1.0 - least);
  }
  return a.t;
}

}  // namespace properboost
