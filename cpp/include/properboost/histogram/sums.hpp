// Sums over the rows of a cell, for one lane or many.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properboost/core/vectors.hpp"

namespace properboost {

// The numbers added to a cell in every lane, in whole units or grains: W weights, then W curvatures
// if there are any.
template <std::size_t W, bool kCurvature, class Whole>
struct LaneSums {
  using Number = Whole;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  Wholes<W, Whole> weights{};
  Wholes<W, Whole> curvatures{};

  void operator+=(const LaneSums& other) noexcept {
    weights += other.weights;
    curvatures += other.curvatures;
  }
  std::int64_t weight(std::size_t lane) const noexcept { return weights[lane]; }
  std::int64_t curvature(std::size_t lane) const noexcept { return curvatures[lane]; }
};
template <std::size_t W, class Whole>
struct LaneSums<W, false, Whole> {
  using Number = Whole;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = false;

  Wholes<W, Whole> weights{};

  void operator+=(const LaneSums& other) noexcept { weights += other.weights; }
  std::int64_t weight(std::size_t lane) const noexcept { return weights[lane]; }
};

// The same for one lane: weight and curvature are one vector add.
template <bool kCurvature>
struct RowSums {
  using Number = std::int64_t;
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
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = false;

  std::int64_t sum = 0;

  RowSums() = default;
  explicit RowSums(std::int64_t weight) : sum(weight) {}
  void operator+=(const RowSums& other) noexcept { sum += other.sum; }
  std::int64_t weight(std::size_t) const noexcept { return sum; }
};

// The same for one lane in half the room: weight and curvature are one add of a whole number.
struct HalfSums {
  using Number = std::uint32_t;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = true;

  Halves both{};

  void operator+=(const HalfSums& other) noexcept { both += other.both; }
  std::int64_t weight(std::size_t) const noexcept { return both.data[0]; }
  std::int64_t curvature(std::size_t) const noexcept { return both.data[1]; }
};

// The same for every lane, as numbers side by side.
template <std::size_t W, bool kCurvature>
struct TotalSums {
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  std::int64_t sums[kCurvature ? 2 * W : W];

  std::int64_t weight(std::size_t lane) const noexcept { return sums[lane]; }
  std::int64_t curvature(std::size_t lane) const noexcept { return sums[W + lane]; }
};

}  // namespace properboost
