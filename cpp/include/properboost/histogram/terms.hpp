// Terms: the numbers that rows add to their cells, and the loop that adds them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "properboost/core/fixed_point.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/add_by_codes.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/flush.hpp"
#include "properboost/histogram/sums.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// The numbers that a row adds to its cell in every lane: float32 from the loss, times the sample
// weight if rows have one, in whole units.  One scalar add of whole numbers costs as much as one of
// floats, and no order changes their sum.
//
// Terms are computed for few rows at a time, so that they stay in the cache while the features of a
// task take turns with them.
template <std::size_t W, bool kCurvature, bool kWeighted>
struct RowTerms {
  static constexpr bool kScheduled = false;
  using Sum =
      std::conditional_t<W == 1, RowSums<kCurvature>, LaneSums<W, kCurvature, std::int64_t>>;
  static constexpr std::size_t kRows = W == 1 ? 4096 : 16'384 / W;   // 32 and 128 KiB
  static constexpr std::size_t kFeaturesPerTask = W == 1 ? 64 : 16;  // whose sums are in the second

  const float* weight = nullptr;  // [row][lane]
  const float* curvature = nullptr;
  RowSampleWeights sample_weight = {};
  std::array<double, W> weights_per_unit{}, curvatures_per_unit{};
  std::array<double, W> weight_rounder{}, curvature_rounder{};  // 0 in lanes without grains
  std::array<double, W> most{};  // 0 in lanes that do not train on these rows

  // The same kind of terms of rows of segments with these roles, in these units of each lane.
  RowTerms of(const CellUnits* units, const SegmentRoles& roles) const {
    RowTerms terms;
    for (std::size_t k = 0; k < W; ++k) {
      terms.weights_per_unit[k] = units[k].weight.per_unit;
      terms.curvatures_per_unit[k] = units[k].curvature.per_unit;
      terms.weight_rounder[k] = units[k].weight_grain.rounder();
      terms.curvature_rounder[k] = units[k].curvature_grain.rounder();
      terms.most[k] = roles.trained[k] ? 0x1p62 : 0.0;
    }
    return terms;
  }
  // Where the rows' numbers are.
  void read(const float* w, const float* c, RowSampleWeights s) noexcept {
    weight = w;
    curvature = c;
    sample_weight = s;
  }

  // Those of rows from `begin` to `end`, by a kernel of this set.
  template <class Set>
  void make(Set set, std::size_t begin, std::size_t end, Sum* made) const noexcept {
    const bool has_grains = has_any(weight_rounder) || has_any(curvature_rounder);
    if (has_grains) {
      make_with<true>(set, begin, end, made);
    } else {
      make_with<false>(set, begin, end, made);
    }
  }

  // Sums are in units.
  Reading<W> reading(const CellUnits* /*units*/, const SegmentRoles& roles) const {
    return Reading<W>(roles);
  }

 private:
  static bool has_any(const std::array<double, W>& rounder) noexcept {
    for (const double number : rounder) {
      if (number != 0.0) return true;
    }
    return false;
  }
  template <bool kGrains, class Set>
  void make_with(Set set, std::size_t begin, std::size_t end, Sum* made) const noexcept {
    constexpr std::size_t kNumbers = sizeof(Sum) / sizeof(std::int64_t);
    const auto weight_of = [=](std::size_t i, std::size_t k) {
      return round<kGrains>(set, weight[i * W + k], weight_rounder[k], weights_per_unit[k], i, k);
    };
    const auto curvature_of = [=](std::size_t i, std::size_t k) {
      return round<kGrains>(set, curvature[i * W + k], curvature_rounder[k], curvatures_per_unit[k],
                            i, k);
    };
    std::int64_t* __restrict to = reinterpret_cast<std::int64_t*>(made);
    for (std::size_t i = begin; i < end; ++i, to += kNumbers) {
      for (std::size_t k = 0; k < W; ++k) to[k] = weight_of(i, k);
      if constexpr (kCurvature) {
        for (std::size_t k = 0; k < W; ++k) to[W + k] = curvature_of(i, k);
      }
    }
  }
  // As a fixed-point number does.  Numbers of lanes that do not train on a row have no bound, and
  // count as 0.  They are weighed in double and once they are rounded to grains, so that a weight
  // of 3 adds what three rows add.
  template <bool kGrains, class Set>
  std::int64_t round(Set set, float number, double rounder, double per_unit, std::size_t i,
                     std::size_t k) const noexcept {
    double x = number;
    if constexpr (kGrains) x = (x + rounder) - rounder;
    if constexpr (kWeighted) x *= sample_weight.stored(i);
    x = x * per_unit + 0.5;
    return whole_part(x < most[k] ? x : 0.0, set);
  }
};

// Terms of some rows, from `first` on, that have been made.
template <class SumOfTerms>
struct MadeTerms {
  using Sum = SumOfTerms;
  // Copies of many lanes would go through memory.
  using Term = std::conditional_t<sizeof(Sum) <= 2 * sizeof(std::int64_t), Sum, const Sum&>;
  static constexpr std::size_t kJointCells = BundleSet::most_cells(Sum::kLanes, Sum::kHasCurvature);

  const Sum* terms;
  std::size_t first;

  Term operator[](std::size_t i) const noexcept { return terms[i - first]; }
};

// sums[g x Stride + codes[g][i]] += terms[i], g < Together, i in [begin, end).
template <std::size_t Together, std::size_t Stride, class Terms>
void add_terms(const std::uint8_t* const* codes, const Terms& terms, std::size_t begin,
               std::size_t end, typename Terms::Sum* sums) {
  typename Terms::Sum* cells[Together];
  for (std::size_t g = 0; g < Together; ++g) cells[g] = sums + g * Stride;
  add_by_codes<Together>(codes, begin, end, cells,
                         [terms](std::size_t i) -> typename Terms::Term { return terms[i]; });
}

// Calls visitor(RowTerms()) with the kind of terms that rows of W lanes have.
template <std::size_t W, class Visitor>
void visit_terms(bool has_curvature, bool has_weight, const Visitor& visitor) {
  if (has_weight) {
    if (has_curvature) return visitor(RowTerms<W, true, true>());
    return visitor(RowTerms<W, false, true>());
  }
  if (has_curvature) return visitor(RowTerms<W, true, false>());
  return visitor(RowTerms<W, false, false>());
}

}  // namespace properboost
