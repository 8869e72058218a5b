// The canonical loss of the Laplacian inverse link (BoostLR, Table 2).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct GLaplacian : Canonical<GLaplacian> {
  static constexpr const char* name = "glaplacian";

  template <class T>
  T tail(T t) const {
    return T(0.5) * area(t);
  }
  template <class T>
  T pdf(T t) const {
    return T(0.25) * area(t);
  }
  template <class T>
  T area(T t) const {
    return math::exp(T(-0.5) * t);
  }
  template <class T>
  T bend(T u, T /*weight*/) const {
    return u < T(0) ? T(0.5) : T(-0.5);
  }
  double log_tail(double t) const { return -0.5 * t - 0.69314718055994530942; }
  double link(double p) const { return 2.0 * std::log(2.0 * p); }
  double minimum_risk(double p) const { return 2.0 * p * (1.0 - std::log(2.0 * p)); }
};

}  // namespace properboost::losses
