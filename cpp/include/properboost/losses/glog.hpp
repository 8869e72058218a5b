// The logistic loss, log(1 + e^-u): LogitBoost's, and BoostLR's generalised logistic (Table 2).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct GLog : Canonical<GLog> {
  static constexpr const char* name = "glog";

  template <class T>
  T tail(T t) const {
    return LogitLink<1>::tail(t);
  }
  template <class T>
  T pdf(T t) const {
    return LogitLink<1>::pdf(t);
  }
  template <class T>
  void find_tail_and_pdf(T t, T& tail, T& pdf) const {
    LogitLink<1>::find_tail_and_pdf(t, tail, pdf);
  }
  template <class T>
  T area(T t) const {
    return math::log1p(math::exp(-t));
  }
  template <class T>
  T bend(T /*u*/, T weight) const {
    return T(2) * weight - T(1);
  }
  // The sum of the log(1 + e) is the logarithm of their product, 1 + joined.
  template <class T>
  T join_area(T joined, T t, T /*tail*/) const {
    const T e = math::exp(-t);
    return joined + (e + joined * e);
  }
  template <class T>
  T sum_of_areas(T joined) const {
    return math::log_one_more(joined);
  }
  double log_tail(double t) const { return -t - math::log1p(math::exp(-t)); }
  double link(double p) const { return LogitLink<1>::link(p); }
  double minimum_risk(double p) const { return -p * std::log(p) - (1.0 - p) * std::log1p(-p); }
};

}  // namespace properboost::losses
