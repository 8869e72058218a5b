// Half the log-odds of the cell's weight sums, kept finite by e (BoostLR, Algorithm 1 with
// confidence-rated tables; Schapire and Singer 1999).
#pragma once

#include <cmath>

#include "properboost/core/math.hpp"
#include "properboost/responses/response.hpp"

namespace properboost::responses {

struct Real : ResponseDefaults {
  static constexpr const char* name = "real";
  static double cost(const Cell& c, const Regularizers&) {
    return std::sqrt(c.positive * c.negative);
  }
  static double value(const Cell& c, const Regularizers& r) {
    // Two logarithms: the quotient may overflow where neither does.
    return 0.5 * (math::log(c.positive + r.prior) - math::log(c.negative + r.prior));
  }
};

}  // namespace properboost::responses
