// phi(p) = 2/|zeta| (log cosh(zeta/2 (p - 1/2)) - log cosh(zeta/4)), zeta < 0; Gini's in the limit
// of 0.
#pragma once

#include <cmath>

#include "properboost/core/math.hpp"
#include "properboost/impurities/impurity.hpp"

namespace properboost::impurities {

class Zeta : public ImpurityDefaults {
 public:
  static constexpr const char* name = "zeta";
  explicit Zeta(double zeta = 0.0) : half_(std::abs(zeta) / 2.0) {}
  double cost(const Cell& c, const Regularizers&) const {
    const double weight = c.weight();
    if (!(weight > 0.0)) return 0.0;
    const double p = c.positive / weight;
    if (half_ < 1e-3) return weight * 4.0 * p * (1.0 - p);  // to 1e-7
    return weight * (1.0 - log_cosh(half_ * (p - 0.5)) / log_cosh(half_ / 2.0));
  }

 private:
  static double log_cosh(double x) {
    x = std::abs(x);
    // log((e^x + e^-x) / 2), without overflow and exact for small x.
    if (x >= 0.5) return x + math::log1p(math::exp(-2.0 * x)) - 0.69314718055994530942;
    const double e = math::expm1(x);
    return math::log1p(e * e / (2.0 * (1.0 + e)));
  }

  double half_;
};

}  // namespace properboost::impurities
