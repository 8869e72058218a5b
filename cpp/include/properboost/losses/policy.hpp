// Base classes of losses: the facts and formulas that many losses share.
//
// A loss is a policy: pure arithmetic on one margin u at gain 1, in float or double.  It must have
//   static constexpr const char* name
//   template <class T> T loss(T u) const         phi(u)
//   template <class T> T weight(T u) const       -phi'(u)
//   template <class T> T curvature(T u) const    phi''(u)
//   template <class T> T probability(T u) const  inverse link
//   template <class T> T density(T u) const      derivative of the inverse link
//   double link(double p) const                  for 0 < p <= 1/2; Bound mirrors it
//   double minimum_risk(double p) const          for 0 < p <= 1/2; Bound mirrors it
//   double most_curvature(double least) const    that of Newton steps, at no u below `least`
// and, where it is not convex,
//   double most_weight(double least) const       the same of weights
// and it is constructed from its parameters, in the order it lists them in.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "properboost/core/math.hpp"

namespace properboost::losses {

struct Parameter {
  const char* name;
  double least;
  double most;
};

// Default facts about a policy; a policy hides those that differ.
struct Defaults {
  static constexpr bool convex = true;
  static constexpr bool canonical = false;
  static constexpr double largest_link = std::numeric_limits<double>::infinity();  // at p = 1
  static constexpr std::array<Parameter, 0> parameters{};
};

// The canonical losses, those of weight 1 - inverse link.  Such a loss is known from its right
// half, t = |u| >= 0, where nothing cancels:
//   template <class T> T tail(T t) const  1 - inverse link
//   template <class T> T pdf(T t) const   derivative of the inverse link
//   template <class T> T area(T t) const  the loss: the integral of the tail beyond t
// and, at any margin,
//   template <class T> T bend(T u, T weight) const  how fast the logarithm of the pdf grows
// and, where the tail underflows, it may have
//   double log_tail(double t) const       its logarithm
// and, where it is cheaper to find tail and pdf together, or a sum of some 32 areas,
//   template <class T> void find_tail_and_pdf(T t, T& tail, T& pdf) const
//   template <class T> T join_area(T joined, T t, T tail) const  with what was joined, first 0
//   template <class T> T sum_of_areas(T joined) const
template <class Policy>
struct Canonical : Defaults {
  static constexpr bool canonical = true;

  template <class T>
  T loss(T u) const {
    return self().area(std::fabs(u)) + math::at_least(-u, T(0));
  }
  template <class T>
  T weight(T u) const {
    const T tail = self().tail(std::fabs(u));
    return u < T(0) ? T(1) - tail : tail;
  }
  template <class T>
  T curvature(T u) const {
    return density(u);
  }
  // Weight and curvature, and the area, joined to others'.
  template <class T>
  void find_weight_and_curvature(T u, T& weight, T& curvature, T& joined) const {
    const T t = std::fabs(u);
    T tail;
    self().find_tail_and_pdf(t, tail, curvature);
    weight = u < T(0) ? T(1) - tail : tail;
    joined = self().join_area(joined, t, tail);
  }
  // Areas are added up, unless their sum is found faster from something else.
  template <class T>
  T join_area(T joined, T t, T /*tail*/) const {
    return joined + self().area(t);
  }
  template <class T>
  T sum_of_areas(T joined) const {
    return joined;
  }
  // The pdf has its mode at 0.
  double most_curvature(double least) const { return density(math::at_least(least, 0.0)); }
  template <class T>
  T probability(T u) const {
    return weight(-u);
  }
  template <class T>
  T density(T u) const {
    return self().pdf(std::fabs(u));
  }
  template <class T>
  void find_tail_and_pdf(T t, T& tail, T& pdf) const {
    tail = self().tail(t);
    pdf = self().pdf(t);
  }

 private:
  const Policy& self() const { return static_cast<const Policy&>(*this); }
};

// The logit link: probability 1 / (1 + e^(-slope u)).
template <int slope>
struct LogitLink {
  template <class T>
  static T tail(T t) {  // 1 - probability, for t >= 0
    const T e = math::exp(T(-slope) * t);
    return e / (T(1) + e);
  }
  template <class T>
  static T pdf(T t) {  // for t >= 0
    const T e = math::exp(T(-slope) * t);
    return T(slope) * e / ((T(1) + e) * (T(1) + e));
  }
  template <class T>
  static void find_tail_and_pdf(T t, T& tail, T& pdf) {  // with one division
    const T e = math::zero_outside(std::numeric_limits<T>::min(), T(1), math::exp(T(-slope) * t));
    const T share = T(1) / (T(1) + e);
    tail = e * share;
    pdf = T(slope) * tail * share;
  }
  template <class T>
  static T probability(T u) {
    const T tail_of_u = tail(std::fabs(u));
    return u < T(0) ? tail_of_u : T(1) - tail_of_u;
  }
  template <class T>
  static T density(T u) {
    return pdf(std::fabs(u));
  }
  static double link(double p) {
    // 2p - 1 is exact near 1/2, where the quotient would lose the leading digits.
    return (p > 0.25 ? 2.0 * std::atanh(2.0 * p - 1.0) : std::log(p) - std::log1p(-p)) / slope;
  }
};

}  // namespace properboost::losses
