// A loss from a loss table of its weights: piecewise cubic, with everything else derived from it.
//
// With z = |u| / scale, the knots are where the binary digits of 1 + z after the seventh vanish:
// 128 cells between any two powers of two, so that cells are fine near 0 and grow with the margin,
// and the cell and the place in it are bits of one number.  Each half of the axis has its own
// cells, because a loss may have a kink at 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

constexpr int kCellBits = 7;
constexpr int kOctaves = 24;
constexpr std::size_t kCells = std::size_t{kOctaves} << kCellBits;

// c0 + c1 t + c2 t^2 + c3 t^3 for t in [0, 1), the place in the cell.
template <class T>
struct Cubic {
  T c0, c1, c2, c3;

  T value(T t) const { return c0 + t * (c1 + t * (c2 + t * c3)); }
  T slope(T t) const { return c1 + t * (T(2) * c2 + t * (T(3) * c3)); }
  T area(T t) const {  // from 0 to t
    return t * (c0 + t * (T(0.5) * c1 + t * (T(1.0 / 3) * c2 + t * (T(0.25) * c3))));
  }
};

// Where a margin is.
template <class T>
struct Place {
  std::int32_t cell;
  T t;
  T width;  // of the cell, in u
};

// The cells in one precision, those of the right half first, then those of the left; borrowed.
template <class T>
struct Cells {
  const Cubic<T>* weight;
  const T* loss;         // where each begins
  const Cubic<T>* tail;  // 1 - probability(|u|), of the right half only
};

// The policy.
struct Table {
  const char* name = "";
  bool convex = false;
  bool canonical = false;
  double largest_link = 0.0;
  double scale = 1.0;
  double inverse_scale = 1.0;
  double last = 0.0;    // knot, in u
  double steady = 0.0;  // the weight beyond it on the left, unless it falls there
  Cells<float> singles{};
  Cells<double> doubles{};
  // The largest weight and Newton curvature from each cell on, to the right; borrowed.
  const double* weight_from = nullptr;
  const double* curvature_from = nullptr;

  template <class T>
  T weight(T u) const {
    const Place<T> at = find(u);
    return weight_at(cells<T>().weight[at.cell], at.t);
  }
  template <class T>
  T loss(T u) const {
    const Place<T> at = find(u);
    return loss_at(cells<T>().weight[at.cell], cells<T>().loss[at.cell], at.t, at.width, u);
  }
  template <class T>
  T curvature(T u) const {
    const Place<T> at = find(u);
    return curvature_at(cells<T>().weight[at.cell], at.t, at.width, u);
  }
  template <class T>
  T probability(T u) const {
    const Place<T> at = find(std::fabs(u));
    return probability_at(cells<T>().tail[at.cell], at.t, u);
  }
  template <class T>
  T density(T u) const {
    const Place<T> at = find(std::fabs(u));
    return math::at_least(-cells<T>().tail[at.cell].slope(at.t) / at.width, T(0));
  }

  // The same once the cell is known.
  template <class T>
  static T weight_at(const Cubic<T>& weight, T t) {
    return math::at_least(weight.value(t), T(0));
  }
  template <class T>
  static constexpr T kFarthest = std::is_same_v<T, float> ? T(1e38) : T(1e300);
  template <class T>
  T loss_at(const Cubic<T>& weight, T begin, T t, T width, T u) const {
    const T area = width * weight.area(t);
    const T inside = math::at_least(begin + (u < T(0) ? area : -area), T(0));
    const T excess = math::at_most(math::at_least(-u - T(last), T(0)), kFarthest<T>);
    const T loss = inside + T(steady) * excess;
    return std::is_same_v<T, float> ? math::at_most(loss, kFarthest<T>) : loss;
  }
  template <class T>
  T curvature_at(const Cubic<T>& weight, T t, T width, T u) const {
    const T slope = weight.slope(t) / width;
    const T value = u < T(0) ? slope : -slope;
    return convex ? math::at_least(value, T(0)) : value;
  }
  template <class T>
  static T probability_at(const Cubic<T>& tail, T t, T u) {
    const T beyond = math::at_most(math::at_least(tail.value(t), T(0)), T(1));
    return u < T(0) ? beyond : T(1) - beyond;
  }

  double most_weight(double least) const { return weight_from[find(least).cell]; }
  double most_curvature(double least) const { return curvature_from[find(least).cell]; }

  double link(double p) const;
  double minimum_risk(double p) const {
    const double u = link(p);
    return p * loss(u) + (1.0 - p) * loss(-u);
  }

  template <class T>
  Place<T> find(T u) const {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    using Signed = std::make_signed_t<Bits>;
    constexpr int kMantissa = std::is_same_v<T, float> ? 23 : 52;
    constexpr Bits kBias = std::is_same_v<T, float> ? 127 : 1023;
    constexpr int kRest = kMantissa - kCellBits;
    // Beyond the last knot everything stays as it is there.
    constexpr T kLast = T(1 << kOctaves) * (T(1) - T(1) / T(Bits{1} << (kMantissa + 1)));
    const T from_one = T(1) + std::fabs(u) * T(inverse_scale);
    const T x = from_one < kLast ? from_one : kLast;  // also where u is NaN
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    const Bits exponent = bits >> kMantissa << kMantissa;
    T power;
    std::memcpy(&power, &exponent, sizeof power);
    const T t =
        static_cast<T>(static_cast<Signed>(bits & ((Bits{1} << kRest) - 1))) / T(Bits{1} << kRest);
    const auto cell = static_cast<std::int32_t>((bits >> kRest) - (kBias << kCellBits));
    return {cell + (u < T(0) ? static_cast<std::int32_t>(kCells) : 0), u != u ? u : t,
            power * T(scale / (1 << kCellBits))};
  }

 private:
  template <class T>
  const Cells<T>& cells() const {
    if constexpr (std::is_same_v<T, float>) {
      return singles;
    } else {
      return doubles;
    }
  }
};

}  // namespace properboost::losses
