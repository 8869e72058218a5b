// Terms: the numbers that rows add to their cells, and the loop that adds them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/core/words.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/histogram/sums.hpp"

namespace properboost {

// The numbers that a row adds to its cell in every lane: float32 from the loss, times the sample
// weight if rows have one, in whole units.  One scalar add of whole numbers costs what one of
// floats does, and no order changes their sum.
//
// Terms are made of so many rows at a time that they stay in the cache while the features of a task
// take turns with them.
template <std::size_t W, bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = std::conditional_t<W == 1, RowSums<kCurvature>, LaneSums<W, kCurvature>>;
  static constexpr std::size_t kJointCells = BundleSet::most_cells(W, kCurvature);
  static constexpr std::size_t kRows = W == 1 ? 4096 : 16'384 / W;   // 32 and 128 KiB
  static constexpr std::size_t kFeaturesPerTask = W == 1 ? 64 : 16;  // whose sums are in the second

  // Terms of some rows, from `first` on, that have been made.
  struct Made {
    using Sum = RowTerms::Sum;
    // Copies of many lanes would go through memory.
    using Term = std::conditional_t<W == 1, Sum, const Sum&>;
    static constexpr std::size_t kJointCells = RowTerms::kJointCells;

    const Sum* terms;
    std::size_t first;

    Term operator[](std::size_t i) const noexcept { return terms[i - first]; }
  };

  const float* weight = nullptr;  // [row][lane]
  const float* curvature = nullptr;
  RowSampleWeights sample_weight = {};
  std::array<double, W> weights_per_unit{}, curvatures_per_unit{};
  std::array<double, W> most{};  // 0 in lanes that do not train on these rows

  // The same kind of terms of rows of segments with these roles, in these units of each lane.
  RowTerms of(const float* w, const float* c, RowSampleWeights s, const CellUnits* units,
              const SegmentRoles& roles) const {
    RowTerms terms{w, c, s};
    for (std::size_t k = 0; k < W; ++k) {
      terms.weights_per_unit[k] = units[k].weight.per_unit;
      terms.curvatures_per_unit[k] = units[k].curvature.per_unit;
      terms.most[k] = roles.trained[k] ? 0x1p62 : 0.0;
    }
    return terms;
  }

  // Those of rows from `begin` to `end`.
  void make(std::size_t begin, std::size_t end, Sum* made) const noexcept {
    constexpr std::size_t kNumbers = sizeof(Sum) / sizeof(std::int64_t);
    std::int64_t* __restrict to = reinterpret_cast<std::int64_t*>(made);
    if constexpr (W == 1 && kCurvature) {  // one store
      for (std::size_t i = begin; i < end; ++i) {
        made[i - begin] =
            Sum(round(weight, weights_per_unit, i, 0), round(curvature, curvatures_per_unit, i, 0));
      }
      return;
    }
    for (std::size_t i = begin; i < end; ++i, to += kNumbers) {
      for (std::size_t k = 0; k < W; ++k) to[k] = round(weight, weights_per_unit, i, k);
      if constexpr (kCurvature) {
        for (std::size_t k = 0; k < W; ++k) {
          to[W + k] = round(curvature, curvatures_per_unit, i, k);
        }
      }
    }
  }

 private:
  // As a fixed-point number does.  Numbers of lanes that do not train on a row have no bound, and
  // count as 0.
  std::int64_t round(const float* numbers, const std::array<double, W>& per_unit, std::size_t i,
                     std::size_t k) const noexcept {
    const double x = times_weight(numbers[i * W + k], i) * per_unit[k] + 0.5;
    return static_cast<std::int64_t>(W == 1 || x < most[k] ? x : 0.0);
  }
  // In double, so that a weight of 3 adds what three rows add.
  double times_weight(float x, std::size_t i) const noexcept {
    if constexpr (kWeighted) return sample_weight.given(i) * static_cast<double>(x);
    return static_cast<double>(x);
  }
};

// sums[g x Stride + codes[g][i]] += terms[i], g < Together, i in [begin, end).
template <std::size_t Together, std::size_t Stride, class Terms>
void add_terms(const std::uint8_t* const* codes, const Terms& terms, std::size_t begin,
               std::size_t end, typename Terms::Sum* sums) {
  constexpr unsigned kUnrolled = 8;
  std::size_t i = begin;
  for (; i + kUnrolled <= end; i += kUnrolled) {
    std::uint64_t words[Together];
    for (std::size_t g = 0; g < Together; ++g)
      std::memcpy(&words[g], codes[g] + i, sizeof words[g]);
    for (unsigned j = 0; j < kUnrolled; ++j) {
      typename Terms::Term term = terms[i + j];
      for (std::size_t g = 0; g < Together; ++g)
        sums[g * Stride + unpack<std::uint8_t>(words[g], j)] += term;
    }
  }
  for (; i < end; ++i) {
    typename Terms::Term term = terms[i];
    for (std::size_t g = 0; g < Together; ++g) sums[g * Stride + codes[g][i]] += term;
  }
}

// Adds the sums over rows of segments with these roles to the cells of feature f, and clears them.
template <class Sum>
void flush_sums(Sum* sums, std::size_t codes, const SegmentRoles& roles, Histogram& histogram,
                std::size_t f) {
  constexpr std::size_t W = Sum::kLanes;
  std::int64_t* __restrict positive = histogram.positive(f);
  std::int64_t* __restrict negative = histogram.negative(f);
  std::int64_t* __restrict curvature = histogram.curvature(f);
  std::array<std::int64_t, W> is_positive, is_negative;  // as masks
  for (std::size_t k = 0; k < W; ++k) {
    is_positive[k] = roles.positive(k) ? -1 : 0;
    is_negative[k] = roles.negative(k) ? -1 : 0;
  }
  for (std::size_t b = 0; b < codes; ++b) {
    for (std::size_t k = 0; k < W; ++k) {
      const std::int64_t weight = sums[b].weight(k);
      positive[b * W + k] += is_positive[k] & weight;
      negative[b * W + k] += is_negative[k] & weight;
      if constexpr (Sum::kHasCurvature) {
        curvature[b * W + k] += sums[b].curvature(k);  // 0 in lanes that do not train on the rows
      }
    }
    sums[b] = {};
  }
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
