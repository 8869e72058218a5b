// Sums over the rows of a cell, for one lane or many.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properboost/core/vectors.hpp"

namespace properboost {

// The numbers added to a cell in every lane: W weights, then W curvatures if there are any.
template <std::size_t W, bool kCurvature>
struct LaneSums {
  using Number = float;
  using Total = double;
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
  using Total = double;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = false;

  Floats<W> weights{};

  void operator+=(const LaneSums& other) noexcept { weights += other.weights; }
  double weight(std::size_t lane) const noexcept { return static_cast<double>(weights.data[lane]); }
};

// The same for one lane, in whole units: weight and curvature are one vector add.
template <bool kCurvature>
struct RowSums {
  using Number = std::int64_t;
  using Total = std::int64_t;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = true;

  Two<std::int64_t> both{};

  RowSums() = default;
  RowSums(std::int64_t weight, std::int64_t curvature) : both{{weight, curvature}} {}
  void operator+=(const RowSums& other) noexcept { both += other.both; }
  std::int64_t weight(std::size_t) const noexcept { return both.data[0]; }
  std::int64_t curvature(std::size_t) const noexcept { return both.data[1]; }
};
template <>
struct RowSums<false> {
  using Number = std::int64_t;
  using Total = std::int64_t;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = false;

  std::int64_t sum = 0;

  RowSums() = default;
  explicit RowSums(std::int64_t weight) : sum(weight) {}
  void operator+=(const RowSums& other) noexcept { sum += other.sum; }
  std::int64_t weight(std::size_t) const noexcept { return sum; }
};

// The same for every lane, in the numbers that cells are kept in.
template <class Number, std::size_t W, bool kCurvature>
struct TotalSums {
  using Total = Number;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  Number sums[kCurvature ? 2 * W : W];

  Number weight(std::size_t lane) const noexcept { return sums[lane]; }
  Number curvature(std::size_t lane) const noexcept { return sums[W + lane]; }
};

}  // namespace properboost
