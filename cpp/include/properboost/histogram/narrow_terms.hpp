// Terms of lanes in 32 bits: whole grains.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "properboost/core/fixed_point.hpp"
#include "properboost/histogram/flush_schedule.hpp"
#include "properboost/histogram/terms.hpp"

namespace properboost {

// The terms of lanes if all that train have grains and rows have no sample weight: the same numbers
// in half the memory.  A schedule determines when their sums are flushed.
template <std::size_t W, bool kCurvature>
struct NarrowTerms {
  static constexpr bool kScheduled = true;
  using Sum = std::conditional_t<W == 1, HalfSums, LaneSums<W, kCurvature, std::uint32_t>>;
  static constexpr std::size_t kRows = std::min<std::size_t>(4096, 16'384 / W);  // whole chunks
  static_assert(kRows % FlushSchedule::kRows == 0);
  static constexpr std::size_t kFeaturesPerTask = W == 1 ? 64 : 16;  // sums in the second cache

  const float* weight = nullptr;  // [row][lane]
  const float* curvature = nullptr;
  std::array<float, W> weights_per_grain{}, curvatures_per_grain{};
  std::array<float, W> most{};  // 0 in lanes that do not train on these rows

  NarrowTerms of(const CellUnits* units, const SegmentRoles& roles) const {
    NarrowTerms terms;
    for (std::size_t k = 0; k < W; ++k) {
      if (!roles.trained[k]) continue;
      terms.weights_per_grain[k] = static_cast<float>(1.0 / units[k].weight_grain.size);
      if (kCurvature) {
        terms.curvatures_per_grain[k] = static_cast<float>(1.0 / units[k].curvature_grain.size);
      }
      terms.most[k] = static_cast<float>((1 << Grain::kBits) - 1);
    }
    return terms;
  }
  void read(const float* w, const float* c, RowSampleWeights /*all_ones*/) noexcept {
    weight = w;
    curvature = c;
  }

  // Those of rows from `begin` to `end`, by a kernel of any set.
  template <class Set>
  void make(Set /*set*/, std::size_t begin, std::size_t end, Sum* made) const noexcept {
    std::uint32_t* __restrict to = reinterpret_cast<std::uint32_t*>(made);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < W; ++k)
        *to++ = round(weight[i * W + k] * weights_per_grain[k], k);
      if constexpr (kCurvature) {
        for (std::size_t k = 0; k < W; ++k) {
          *to++ = round(curvature[i * W + k] * curvatures_per_grain[k], k);
        }
      }
    }
  }

  // From grains to units.
  Reading<W> reading(const CellUnits* units, const SegmentRoles& roles) const {
    Reading<W> reading(roles);
    for (std::size_t k = 0; k < W; ++k) {
      if (!roles.trained[k]) continue;
      reading.weight_shift[k] = units[k].weight_grain.shift_to(units[k].weight);
      if (kCurvature) {
        reading.curvature_shift[k] = units[k].curvature_grain.shift_to(units[k].curvature);
      }
    }
    return reading;
  }

 private:
  // To the nearest, as RowTerms does.  Numbers of lanes that do not train on a row may be anything.
  std::uint32_t round(float x, std::size_t k) const noexcept {
    constexpr float kRounder = 0x1p23F;
    static_assert(Grain::kBits <= 23, "the sum's last bit must be a grain");
    const float shifted = (x < most[k] ? x : most[k]) + kRounder;
    std::uint32_t bits, zero;
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&zero, &kRounder, sizeof zero);
    return bits - zero;
  }
};

}  // namespace properboost
