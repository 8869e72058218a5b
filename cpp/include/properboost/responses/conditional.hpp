// Half the log of the ratio of the classes' densities over the cells: each class's weights are
// divided by their sum, in every round (class-conditional histograms; Wu, Ai, Huang and Lao 2004).
// The feature is the one that `real` would choose, since all costs have the same factor then.
#pragma once

#include "properboost/core/math.hpp"
#include "properboost/responses/real.hpp"

namespace properboost::responses {

struct Conditional : ResponseDefaults {
  static constexpr const char* name = "conditional";
  static constexpr bool compares_classes = true;
  static double cost(const Cell& c, const Regularizers& r) { return Real::cost(c, r); }
  static double value(const Cell& c, const Regularizers& r) {
    return 0.5 * (log_of_share(c.positive, r.all_positive, r) -
                  log_of_share(c.negative, r.all_negative, r));
  }

 private:
  // The classes have half of the round's weight each.  A class whose weights have all underflowed
  // has nothing in any cell.
  static double log_of_share(double weight, double all, const Regularizers& r) {
    const double half = 0.5 * (r.all_positive + r.all_negative);
    return math::log((all > 0.0 ? half * (weight / all) : 0.0) + r.prior);
  }
};

}  // namespace properboost::responses
