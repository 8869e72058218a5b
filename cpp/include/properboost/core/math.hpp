// The elementary functions of the losses, for float (the engine) and double (Python, the checks).
//
// The float versions are ours: branch-free, so that the compiler vectorises the loops they are in,
// and the same bits on every machine; those in double, which see fewer numbers, are in
// math_double.hpp.
//
// Every polynomial below is minimax (Remez exchange in 40 digits) for the relative error of its
// function, which the comment next to it gives; the coefficients are rounded to float.  The bounds
// in ulp were measured on every float of the range, against double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "properboost/core/math_double.hpp"

namespace properboost::math {

// Comparisons are written so that a NaN in x is returned as NaN.
template <class T>
T at_most(T x, T bound) {
  return bound < x ? bound : x;
}
template <class T>
T at_least(T x, T bound) {
  return x < bound ? bound : x;
}

namespace detail {

// The integer nearest to x / log(2), for |x| < 2^21: adding 1.5 * 2^23 leaves it in the low bits,
// and 127 more is the bias of a float's exponent, so that the low bits are the exponent of 2^n.
constexpr float kRound = 12582912.0F + 127.0F;
constexpr float kLog2e = 1.44269504F;
// log(2) in two parts; the first has so few bits that its product with n is exact.
constexpr float kLog2High = 0.693145752F;
constexpr float kLog2Low = 1.42860677e-6F;
constexpr float kLogSmallestNormal = -87.3365448F;

// e^(a + b), 0 below the smallest normal number; b is a small correction, a + b <= 88.
inline float exp_of_sum(float a, float b) {
  const float x = a + b;
  const float shifted = x * kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = ((a - n * kLog2High) + b) - n * kLog2Low;
  // e^r on |r| <= log(2) / 2, 3.1e-9
  const float p = 1.0F + (r + (r * r) * polynomial(r, 0.49999994F, 0.166665196F, 0.0416683629F,
                                                   0.00836879015F, 0.00138168701F));
  std::uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits <<= 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return x < kLogSmallestNormal ? 0.0F : p * power;
}

}  // namespace detail

// e^x within 1 ulp; exactly 0 below log(2^-126) = -87.34, and e^88 above 88.
inline float exp(float x) { return detail::exp_of_sum(at_most(x, 88.0F), 0.0F); }

// e^x for the losses that grow without bound.  In float it stops at e^64 = 6e27, so that no margin
// gives an infinite weight and a sum over 65,536 such rows is still finite, sample weights and all.
constexpr float kLargestExponent = 64.0F;
inline float growing_exp(float x) { return exp(at_most(x, kLargestExponent)); }
inline double growing_exp(double x) { return exp(x); }

// The same for a loss that grows without bound: finite in float, as it is in double.
inline float bounded(float x) { return at_most(x, 1e38F); }
inline double bounded(double x) { return x; }

// x, but 0 unless it is between two positive bounds, so that no product of it is subnormal: those
// take a hundred times as long.  By arithmetic on its bits: where comparisons choose, compilers
// multiply first, also the values that are not chosen, like powers of e that are out of range.
inline float zero_outside(float least, float most, float x) {
  std::uint32_t bits, low, high;
  std::memcpy(&bits, &x, sizeof bits);
  std::memcpy(&low, &least, sizeof low);
  std::memcpy(&high, &most, sizeof high);
  const auto outside = static_cast<std::int32_t>((bits - low) | (high - bits));  // if negative
  bits &= ~static_cast<std::uint32_t>(outside >> 31);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline double zero_outside(double least, double most, double x) {
  return x >= least && x <= most ? x : 0.0;
}

namespace detail {

// 2 artanh(s) for |s| <= 1/3; `seen` is s, or 0 where its square does not matter.
inline float twice_artanh(float s, float seen) {
  // (artanh(s) / s - 1) / s^2, 4.5e-9
  const float s2 = seen * seen;
  const float q = polynomial(s2, 0.333332092F, 0.200107634F, 0.14000909F, 0.140059665F);
  return 2.0F * s + (2.0F * s) * (s2 * q);
}

}  // namespace detail

// log(1 + z) for z in [0, 1], within 2 ulp.
inline float log1p(float z) {
  const float s = z / (2.0F + z);
  return detail::twice_artanh(s, zero_outside(1e-8F, 1.0F, s));
}

// log(x) for normal x > 0, within 3 ulp (in absolute terms 1e-7 near 1).
inline float log(float x) {
  constexpr std::uint32_t kRootOfHalf = 0x3F3504F3U;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits -= kRootOfHalf;
  const float exponent = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
  bits = (bits & 0x007FFFFFU) + kRootOfHalf;
  float m;  // in [sqrt(1/2), sqrt(2)), x = m 2^exponent
  std::memcpy(&m, &bits, sizeof m);
  const float s = (m - 1.0F) / (m + 1.0F);
  const float log_m = detail::twice_artanh(s, s);
  return exponent * detail::kLog2High + (exponent * detail::kLog2Low + log_m);
}

// log(1 + x) for x >= 0.
template <class T>
T log_one_more(T x) {
  const T near = log1p(at_most(x, T(1)));
  return x > T(1) ? log(T(1) + x) : near;
}

// tanh(x) for x >= 0, within 3 ulp.
inline float tanh(float x) {
  // (tanh(x) / x - 1) / x^2 on x <= 0.4, 1.8e-9; beyond, 1 - e loses at most a bit.
  const float x2 = x * x;
  const float q = polynomial(x2, -0.333332986F, 0.133312136F, -0.0535619445F, 0.0187440906F);
  const float e = exp(-2.0F * x);
  return x < 0.4F ? x + x * (x2 * q) : (1.0F - e) / (1.0F + e);
}

// exp(-c u^2) for u >= 0 and 0 < c < 1, within 4 ulp: the leading 8 bits of c and u give an exact
// first part of the exponent, and the rest is small enough for its rounding not to matter.
inline float exp_minus_square(double c, float u) {
  u = at_most(u, 1e4F);  // far below the smallest float already; keeps the products finite
  const float c_high = static_cast<float>(static_cast<int>(c * 1024.0)) / 1024.0F;
  const float c_low = static_cast<float>(c - static_cast<double>(c_high));
  std::uint32_t bits;
  std::memcpy(&bits, &u, sizeof bits);
  bits &= 0xFFFF0000U;
  float u_high;
  std::memcpy(&u_high, &bits, sizeof u_high);
  const float u_low = u - u_high;
  const float first = c_high * (u_high * u_high);
  const float rest = c_high * (u_low * (u + u_high)) + c_low * (u * u);
  return detail::exp_of_sum(-first, -rest);
}
inline double exp_minus_square(double c, double u) { return exp(-c * (u * u)); }

namespace detail {

// K in erfcx(x) = 1 / (sqrt(pi) (x + K)), Laplace's continued fraction
// K = (1/2) / (x + (2/2) / (x + (3/2) / (x + ...))); 80 terms give double precision from x = 2 on.
inline double tail_fraction(double x) {
  double fraction = 0.0;
  for (int j = 80; j >= 1; --j) fraction = 0.5 * j / (x + fraction);
  return fraction;
}
constexpr double kSqrtPi = 1.77245385090551602730;

}  // namespace detail

// e^(x^2) erfc(x) for x >= 0, within 8 ulp.
inline float erfcx(float x) {
  // (x + 5/2) erfcx(x) in w = (x - 5/2) / (x + 5/2), x <= 9.4, 5.7e-8
  const float y = 1.0F / (x + 2.5F);
  const float w = 1.0F - 5.0F * y;
  return y * polynomial(w, 1.05403173F, -0.804651439F, 0.453917861F, -0.171260908F, 0.0283170417F,
                        0.00844681449F, -0.00462712441F, -0.000503895688F, 0.000391147216F);
}
inline double erfcx(double x) {
  if (!(x < 2.0)) return 1.0 / (detail::kSqrtPi * (x + detail::tail_fraction(x)));
  // In x - 1, interpolated at 23 Chebyshev nodes, 1.3e-17
  return polynomial(x - 1.0, 0.427583576155807, -0.27321201478389867, 0.15437156137190847,
                    -0.07922696894131832, 0.037572296215288785, -0.016661869090633042,
                    0.006970142375012327, -0.0027690647732271888, 0.0010502693991382378,
                    -0.0003819545453946746, 0.00013366297860567539, -4.514384845945934e-05,
                    1.4753158690550198e-05, -4.675681534333413e-06, 1.4397128503210553e-06,
                    -4.3113469223076925e-07, 1.2595223199264538e-07, -3.6270895953342104e-08,
                    1.0093956071573399e-08, -2.4974179339603815e-09, 6.715529014661823e-10,
                    -2.772753187706875e-10, 7.021054261137798e-11);
}

// 1 - sqrt(pi) x erfcx(x) for x >= 0, within 11 ulp: the factor that turns e^(-x^2) / sqrt(pi) into
// the integral of erfc from x on.  The formula as written would lose every digit in the tail.
inline float integrated_erfcx(float x) {
  // (x + 5/2)^2 times it, in w as above, 1.8e-8
  const float y = 1.0F / (x + 2.5F);
  const float w = 1.0F - 5.0F * y;
  return (y * y) * polynomial(w, 1.64721549F, -2.23074985F, 1.66211689F, -0.707620144F,
                              0.0884510577F, 0.0703550056F, -0.0269485898F, -0.00840366166F,
                              0.00442594988F, 0.00167918205F);
}
inline double integrated_erfcx(double x) {
  if (x < 2.0) return 1.0 - detail::kSqrtPi * x * erfcx(x);
  const double fraction = detail::tail_fraction(x);
  return fraction / (x + fraction);
}

// The y with erfc(y) = z, for 0 < z <= 1.  Newton's method on log erfc, which is concave: from the
// right of the root it descends to it.  Near z = 1 the same on erf, where 1 - z has all the digits.
inline double inverse_erfc(double z) {
  const bool central = z > 0.5;
  double y = central ? 0.5 * detail::kSqrtPi * (1.0 - z) : std::sqrt(-std::log(z));
  for (int step = 0; step < 30; ++step) {
    const double change =
        central ? 0.5 * detail::kSqrtPi * std::exp(y * y) * ((1.0 - z) - std::erf(y))
                : 0.5 * detail::kSqrtPi * erfcx(y) * (std::log(erfcx(y)) - y * y - std::log(z));
    y += change;
    if (!(std::fabs(change) > 1e-15 * y)) break;
  }
  return y;
}

// Beyond this margin every tail is 0 or at its limit; squares of it are still finite.
template <class T>
constexpr T kFarMargin = std::is_same_v<T, float> ? T(1e18F) : T(1e150);

}  // namespace properboost::math
