// phi(p) = 2/|zeta| (log cosh(zeta/2 (p - 1/2)) - log cosh(zeta/4)), zeta < 0; Gini's in the limit
// of 0.
#pragma once

#include <cmath>

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
    return x < 0.5 ? std::log1p(2.0 * std::sinh(x / 2.0) * std::sinh(x / 2.0))
                   : x + std::log1p(std::exp(-2.0 * x)) - 0.69314718055994530942;
  }

  double half_;
};

}  // namespace properboost::impurities
