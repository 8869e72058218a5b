// Sums over the rows of a cell, for one lane or many.
#pragma once

#include <cstddef>

#include "properboost/core/vectors.hpp"

namespace properboost {

// The numbers added to a cell in every lane: W weights, then W curvatures if there are any.
template <std::size_t W, bool kCurvature>
struct LaneSums {
  using Number = float;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  Floats<W> weights{};
  Floats<W> curvatures{};

  void operator+=(const LaneSums& other) noexcept {
    weights += other.weights;
    curvatures += other.curvatures;
  }
  double weight(std::size_t lane) const noexcept { return static_cast<double>(weights.data[lane]); }
  double curvature(std::size_t lane) const noexcept {
    return static_cast<double>(curvatures.data[lane]);
  }
};
template <std::size_t W>
struct LaneSums<W, false> {
  using Number = float;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = false;

  Floats<W> weights{};

  void operator+=(const LaneSums& other) noexcept { weights += other.weights; }
  double weight(std::size_t lane) const noexcept { return static_cast<double>(weights.data[lane]); }
};

// The same for one lane, in float or double: weight and curvature are one vector add.
template <class Real, bool kCurvature>
struct RowSums {
  using Number = Real;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = true;

  Two<Real> both{};

  RowSums() = default;
  RowSums(Real weight, Real curvature) : both{{weight, curvature}} {}
  void operator+=(const RowSums& other) noexcept { both += other.both; }
  double weight(std::size_t) const noexcept { return static_cast<double>(both.data[0]); }
  double curvature(std::size_t) const noexcept { return static_cast<double>(both.data[1]); }
};
template <class Real>
struct RowSums<Real, false> {
  using Number = Real;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = false;

  Real sum = 0;

  RowSums() = default;
  explicit RowSums(Real weight) : sum(weight) {}
  void operator+=(const RowSums& other) noexcept { sum += other.sum; }
  double weight(std::size_t) const noexcept { return static_cast<double>(sum); }
};

// The same for every lane, in double.
template <std::size_t W, bool kCurvature>
struct DoubleSums {
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  double sums[kCurvature ? 2 * W : W];

  double weight(std::size_t lane) const noexcept { return sums[lane]; }
  double curvature(std::size_t lane) const noexcept { return sums[W + lane]; }
};

}  // namespace properboost
