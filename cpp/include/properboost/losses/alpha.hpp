// The alpha-tunable loss, from the logistic (alpha 0) to the exponential at gain 2 (alpha 1/2)
// (BoostLR, eq. 53).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct Alpha : Defaults, LogitLink<1> {
  static constexpr const char* name = "alpha";
  static constexpr std::array<Parameter, 1> parameters{{{"alpha", 0.0, 0.5}}};

  explicit Alpha(double alpha) : alpha_(alpha), c_((1.0 - alpha) / (2.0 - 3.0 * alpha)) {
    set_series(alpha, float_);
    set_series(alpha, double_);
  }

  // The weight at -t exceeds the one at t by an even function, 2 c cosh(alpha t), and so the loss
  // by its integral: only the right half, where nothing grows, needs the series.
  template <class T>
  T loss(T u) const {
    const T size = std::fabs(u);
    const T t = math::at_most(size, math::kFarMargin<T>);
    const T alpha = T(alpha_);
    const T q = -math::exp(-t);
    const auto& series = coefficients<T>();
    const T right = math::exp(-(T(1) - alpha) * t) * series.first(q) +
                    math::exp(-(T(1) + alpha) * t) * series.second(q);
    return T(c_) * (right + (u < T(0) ? T(2) * sinh_over_alpha(size) : T(0)));
  }
  // c (e^(alpha u) + e^(-alpha u)) / (1 + e^u), the exponents combined so that none overflows.
  template <class T>
  T weight(T u) const {
    const T t = math::at_most(std::fabs(u), math::kFarMargin<T>);
    const T alpha = T(alpha_);
    const T larger = math::growing_exp((u < T(0) ? alpha : alpha - T(1)) * t);
    const T ratio = T(1) + math::exp(T(-2) * alpha * t);
    return T(c_) * larger * ratio / (T(1) + math::exp(-t));
  }
  template <class T>
  T curvature(T u) const {
    const T t = math::at_most(std::fabs(u), math::kFarMargin<T>);
    const T tanh = math::tanh(T(alpha_) * t);
    return weight(u) * (probability(u) + T(alpha_) * (u < T(0) ? tanh : -tanh));
  }
  double most_curvature(double least) const {
    return (1.0 + alpha_) * static_cast<double>(weight(static_cast<float>(least)));
  }
  double minimum_risk(double p) const {
    const double u = -link(p);
    return loss(u) + 2.0 * c_ * p * sinh_over_alpha(u);
  }

 private:
  // Over [0, inf) the weight is c sum_k (-1)^(k+1) (e^-(k-alpha)u + e^-(k+alpha)u), k = 1, 2, ...;
  // its integral is an alternating series, e^-(1-alpha)u sum_k (-q)^(k-1) / (k - alpha) and the
  // like with q = e^-u, which the weights of Cohen, Rodriguez Villegas and Zagier (2000) sum
  // to 5.8^-n with n terms.
  template <class T, std::size_t n>
  struct Series {
    std::array<T, n> minus;  // of the powers of -q
    std::array<T, n> plus;

    T first(T x) const { return horner(x, minus, std::make_index_sequence<n>()); }
    T second(T x) const { return horner(x, plus, std::make_index_sequence<n>()); }

    template <std::size_t... i>
    static T horner(T x, const std::array<T, n>& c, std::index_sequence<i...>) {
      return math::polynomial(x, c[i]...);
    }
  };

  template <class T, std::size_t n>
  static void set_series(double alpha, Series<T, n>& series) {
    double largest = 1.0;
    for (std::size_t i = 0; i < n; ++i) largest *= 3.0 + std::sqrt(8.0);
    const double d = 0.5 * (largest + 1.0 / largest);
    double b = 1.0;
    double remaining = d;
    for (std::size_t i = 0; i < n; ++i) {
      const double k = static_cast<double>(i);
      remaining -= b;  // d minus the first k + 1 coefficients of the Chebyshev polynomial
      series.minus[i] = static_cast<T>(remaining / d / (k + 1.0 - alpha));
      series.plus[i] = static_cast<T>(remaining / d / (k + 1.0 + alpha));
      const double terms = static_cast<double>(n);
      b *= 2.0 * (terms + k) * (terms - k) / ((2.0 * k + 1.0) * (k + 1.0));
    }
  }

  template <class T>
  const auto& coefficients() const {
    if constexpr (std::is_same_v<T, float>) {
      return float_;
    } else {
      return double_;
    }
  }

  // sinh(alpha t) / alpha, t at alpha = 0.
  template <class T>
  T sinh_over_alpha(T t) const {
    const T x = T(alpha_) * math::at_most(t, math::kFarMargin<T>);
    const T e = math::growing_exp(x);
    const T far = (e - T(1) / e) / T(2.0 * (alpha_ > 0.0 ? alpha_ : 1.0));
    const T near = t * math::polynomial(x * x, T(1), T(1.0 / 6), T(1.0 / 120), T(1.0 / 5040),
                                        T(1.0 / 362880), T(1.0 / 39916800));
    return math::bounded(x < T(0.5) ? near : far);
  }

  double alpha_;
  double c_;
  Series<float, 10> float_;
  Series<double, 22> double_;
};

}  // namespace properboost::losses
