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
  static constexpr bool fits_lines = true;
  // Those of the exponential loss at this value, of which only the ratio matters: the larger is 1.
  static LineTwin line_twin(double value, const Regularizers&) {
    const double less = math::exp(-2.0 * std::abs(value));
    return value > 0.0 ? LineTwin{less, 1.0, 1.0} : LineTwin{1.0, less, 1.0};
  }
};

}  // namespace properboost::responses
