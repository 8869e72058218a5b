// How sums over rows are read off: added to the cells of a histogram.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "properboost/histogram/histogram.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// How the sums of each lane are read.
template <std::size_t W>
struct Reading {
  std::array<std::int64_t, W> is_positive{}, is_negative{};       // as masks
  std::array<std::int64_t, W> weight_shift{}, curvature_shift{};  // to the left, to whole units

  explicit Reading(const SegmentRoles& roles) {
    for (std::size_t k = 0; k < W; ++k) {
      is_positive[k] = roles.positive(k) ? -1 : 0;
      is_negative[k] = roles.negative(k) ? -1 : 0;
    }
  }
};

// Adds the sums over rows of segments with the reading's roles to `codes` cells of feature f, from
// `first` on, and clears them.
template <class Sum>
void flush_sums(Sum* sums, std::size_t codes, const Reading<Sum::kLanes>& how, Histogram& histogram,
                std::size_t f, std::size_t first = 0) {
  constexpr std::size_t W = Sum::kLanes;
  std::int64_t* __restrict positive = histogram.positive(f) + first * W;
  std::int64_t* __restrict negative = histogram.negative(f) + first * W;
  std::int64_t* __restrict curvature =
      Sum::kHasCurvature ? histogram.curvature(f) + first * W : nullptr;
  for (std::size_t b = 0; b < codes; ++b) {
    for (std::size_t k = 0; k < W; ++k) {
      const std::int64_t weight = sums[b].weight(k) << how.weight_shift[k];
      positive[b * W + k] += how.is_positive[k] & weight;
      negative[b * W + k] += how.is_negative[k] & weight;
      if constexpr (Sum::kHasCurvature) {
        // 0 in lanes that do not train on the rows
        curvature[b * W + k] += sums[b].curvature(k) << how.curvature_shift[k];
      }
    }
    sums[b] = {};
  }
}

}  // namespace properboost
