// The Savage loss (Masnadi-Shirazi and Vasconcelos 2008):
//
//   loss(u) = 1 / (1 + e^2u)^2,  probability(u) = 1 / (1 + e^-2u),  minimum risk p (1 - p).
//
// It is bounded, so that rows far below margin 0, which are often mislabelled, lose their weight.
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

// With p = probability(u) and q = 1 - p the loss is q^2, its weight 4 p q^2 (minus the derivative),
// and its curvature 8 p q^2 (3p - 1).
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
  // The largest weight at margins from `least` on; it peaks where q = 2/3, at u = -log(2) / 2.
  double most_weight(double least) const {
    return least > -0.5 * std::log(2.0) ? weight(least) : 16.0 / 27.0;
  }
  // The largest curvature of Newton's steps, 8 p^2 q^2, from `least` on; it peaks at 0.
  double most_curvature(double least) const {
    const double u = math::at_least(least, 0.0);
    return density(u) * (weight(u) + weight(-u));
  }
  double minimum_risk(double p) const { return p * (1.0 - p); }
};

}  // namespace properboost::losses
