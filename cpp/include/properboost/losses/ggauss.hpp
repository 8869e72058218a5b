// The canonical loss of the Gaussian inverse link, (1 + erf(k u)) / 2 (BoostLR, Table 2).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct GGauss : Canonical<GGauss> {
  static constexpr const char* name = "ggauss";

  template <class T>
  T tail(T t) const {  // erfc(k t) / 2
    return T(0.5) * bell(t) * math::erfcx(T(k) * t);
  }
  template <class T>
  T pdf(T t) const {
    return T(0.25) * bell(t);
  }
  template <class T>
  void find_tail_and_pdf(T t, T& tail, T& pdf) const {  // not through subnormal numbers
    const T near = math::zero_outside(T(1e-37), T(1), bell(t));
    tail = T(0.5) * near * math::erfcx(T(k) * t);
    pdf = T(0.25) * near;
  }
  template <class T>
  T area(T t) const {  // (2 / pi) e^-(k t)^2 - t erfc(k t) / 2
    return T(two_over_pi) * bell(t) * math::integrated_erfcx(T(k) * t);
  }
  template <class T>
  T bend(T u, T /*weight*/) const {
    constexpr T far = math::kFarMargin<T>;
    return T(-2.0 * k * k) * math::at_most(math::at_least(u, -far), far);
  }
  double log_tail(double t) const {
    const double x = k * math::at_most(t, math::kFarMargin<double>);
    return math::log(0.5 * math::erfcx(x)) - x * x;
  }
  double link(double p) const { return -math::inverse_erfc(2.0 * p) / k; }
  double minimum_risk(double p) const { return two_over_pi * bell(link(p)); }

 private:
  static constexpr double k = 0.44311346272637900682;  // sqrt(pi) / 4
  static constexpr double two_over_pi = 0.63661977236758134308;

  template <class T>
  static T bell(T u) {
    return math::exp_minus_square(k * k, u);
  }
};

}  // namespace properboost::losses
