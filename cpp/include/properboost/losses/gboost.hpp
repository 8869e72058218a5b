// The canonical loss that has the exponential's minimum risk, (sqrt(4 + u^2) - u) / 2 (BoostLR,
// Table 2).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct GBoost : Canonical<GBoost> {
  static constexpr const char* name = "gboost";

  // With r = sqrt(4 + t^2), r - t = 4 / (r + t): differences become sums.
  template <class T>
  T tail(T t) const {
    const T r = root(t);
    return T(2) / (r * (r + near(t)));
  }
  template <class T>
  T pdf(T t) const {
    const T r = root(t);
    return (T(2) / r) / (r * r);
  }
  template <class T>
  T area(T t) const {
    return T(2) / (root(t) + near(t));
  }
  // 1 / r^2 = tail (1 - tail): with it one root and one division are enough.
  template <class T>
  void find_tail_and_pdf(T t, T& tail, T& pdf) const {
    const T r = root(t);
    tail = T(2) / (r * (r + near(t)));
    const T square = tail * (T(1) - tail);
    pdf = T(2) * (r * square) * square;
  }
  template <class T>
  T join_area(T joined, T t, T tail) const {
    return joined + root(t) * tail;
  }
  template <class T>
  T bend(T u, T weight) const {
    return T(-3) * math::at_least(near(u), -math::kFarMargin<T>) * (weight * (T(1) - weight));
  }
  double link(double p) const { return (2.0 * p - 1.0) / (std::sqrt(p) * std::sqrt(1.0 - p)); }
  double minimum_risk(double p) const { return 2.0 * std::sqrt(p) * std::sqrt(1.0 - p); }

 private:
  template <class T>
  static T near(T t) {  // so that the square does not overflow
    return math::at_most(t, math::kFarMargin<T>);
  }
  template <class T>
  static T root(T t) {
    return std::sqrt(T(4) + near(t) * near(t));
  }
};

}  // namespace properboost::losses
