// The Savage loss, 1 / (1 + e^2u)^2: bounded, so rows far below margin 0 lose their weight
// (SavageBoost).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

// With p the probability of u and q = 1 - p: loss q^2, weight 4 p q^2, curvature 8 p q^2 (3p - 1).
struct Savage : Defaults, LogitLink<2> {
  static constexpr const char* name = "savage";
  static constexpr bool convex = false;

  template <class T>
  T loss(T u) const {
    const T s = T(1) + math::exp(T(-2) * std::fabs(u));
    return math::exp(T(-4) * math::at_least(u, T(0))) / (s * s);
  }
  template <class T>
  T weight(T u) const {
    // p q^2 in one exponential: squaring a small q would go through the slow subnormal numbers.
    const T t = std::fabs(u);
    const T s = T(1) + math::exp(T(-2) * t);
    return T(4) * math::exp(u < T(0) ? T(-2) * t : T(-4) * t) / (s * s * s);
  }
  template <class T>
  T curvature(T u) const {
    return T(2) * weight(u) * (T(3) * probability(u) - T(1));
  }
  // q is 2/3 where the weight is largest; Newton's curvature, 8 p^2 q^2, has its mode at 0.
  double most_weight(double least) const {
    return least > -0.5 * std::log(2.0) ? weight(least) : 16.0 / 27.0;
  }
  double most_curvature(double least) const {
    const double u = math::at_least(least, 0.0);
    return density(u) * (weight(u) + weight(-u));
  }
  double minimum_risk(double p) const { return p * (1.0 - p); }
};

}  // namespace properboost::losses
