// Terms: the numbers that rows add to their cells, and the loop that adds them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/core/words.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/histogram/sums.hpp"

namespace properboost {

// The numbers that a row adds to its cell.  Terms of `kRows` rows stay in the cache while the
// features of a task take turns with them.

// One lane: float32 from the loss, times the sample weight if rows have one, in whole units.  One
// scalar add of whole numbers costs what one of floats does, and no order changes their sum.
template <bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = RowSums<kCurvature>;
  static constexpr std::size_t kJointCells = BundleSet::most_cells(1, kCurvature);
  static constexpr std::size_t kRows = 4096;           // 32 KiB in whole units
  static constexpr std::size_t kFeaturesPerTask = 64;  // whose sums stay in the second cache

  // Terms of some rows, from `first` on, that have been made.
  struct Made {
    using Sum = RowTerms::Sum;
    static constexpr std::size_t kJointCells = RowTerms::kJointCells;

    const Sum* terms;
    std::size_t first;

    Sum operator[](std::size_t i) const noexcept { return terms[i - first]; }
  };

  const float* weight = nullptr;
  const float* curvature = nullptr;
  RowSampleWeights sample_weight = {};
  CellUnits units = {};

  // The same kind of terms of other rows.
  RowTerms of(const float* w, const float* c, RowSampleWeights s, const CellUnits& u) const {
    return {w, c, s, u};
  }

  Sum operator[](std::size_t i) const noexcept {
    if constexpr (kCurvature) {
      return Sum(units.weight.round(times_weight(weight[i], i)),
                 units.curvature.round(times_weight(curvature[i], i)));
    } else {
      return Sum(units.weight.round(times_weight(weight[i], i)));
    }
  }

 private:
  // In double, so that a weight of 3 adds what three rows add.
  double times_weight(float x, std::size_t i) const noexcept {
    if constexpr (kWeighted) return sample_weight.given(i) * static_cast<double>(x);
    return static_cast<double>(x);
  }
};

// Many lanes: weights that are already multiplied, summed in float32 over an accumulation block of
// rows.
template <std::size_t W, bool kCurvature>
struct LaneTerms {
  using Sum = LaneSums<W, kCurvature>;
  static constexpr std::size_t kJointCells = BundleSet::most_cells(W, kCurvature);
  static constexpr std::size_t kRows = 65'536 / W;     // 256 KiB: in the second cache
  static constexpr std::size_t kFeaturesPerTask = 26;  // so are their sums

  const float* weight = nullptr;
  const float* curvature = nullptr;

  using Made = LaneTerms;  // as they are read

  LaneTerms of(const float* w, const float* c, RowSampleWeights, const CellUnits&) const {
    return {w, c};
  }

  Sum operator[](std::size_t i) const noexcept {
    Sum term;
    term.weights = reinterpret_cast<const Floats<W>*>(weight)[i];
    if constexpr (kCurvature) term.curvatures = reinterpret_cast<const Floats<W>*>(curvature)[i];
    return term;
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
      const auto term = terms[i + j];
      for (std::size_t g = 0; g < Together; ++g)
        sums[g * Stride + unpack<std::uint8_t>(words[g], j)] += term;
    }
  }
  for (; i < end; ++i) {
    const auto term = terms[i];
    for (std::size_t g = 0; g < Together; ++g) sums[g * Stride + codes[g][i]] += term;
  }
}

// Adds the sums over rows of segments with these roles to the cells of feature f, and clears them.
template <class Sum>
void flush_sums(Sum* sums, std::size_t codes, const SegmentRoles& roles, Histogram& histogram,
                std::size_t f) {
  constexpr std::size_t W = Sum::kLanes;
  using Total = typename Sum::Total;
  Total* __restrict positive = histogram.positive<Total>(f);
  Total* __restrict negative = histogram.negative<Total>(f);
  Total* __restrict curvature = histogram.curvature<Total>(f);
  std::array<Total, W> is_positive, is_negative, is_either;  // as factors
  for (std::size_t k = 0; k < W; ++k) {
    is_positive[k] = roles.positive(k) ? 1 : 0;
    is_negative[k] = roles.negative(k) ? 1 : 0;
    is_either[k] = roles.trained[k] ? 1 : 0;
  }
  for (std::size_t b = 0; b < codes; ++b) {
    for (std::size_t k = 0; k < W; ++k) {
      const Total weight = sums[b].weight(k);
      positive[b * W + k] += is_positive[k] * weight;
      negative[b * W + k] += is_negative[k] * weight;
      if constexpr (Sum::kHasCurvature) {
        curvature[b * W + k] += is_either[k] * sums[b].curvature(k);
      }
    }
    sums[b] = {};
  }
}

// Calls visitor(Terms()) with the kind of terms that rows of W lanes have.
template <std::size_t W, class Visitor>
void visit_terms(bool has_curvature, [[maybe_unused]] bool has_weight, const Visitor& visitor) {
  if constexpr (W > 1) {  // sample weights have been multiplied in
    if (has_curvature) return visitor(LaneTerms<W, true>());
    return visitor(LaneTerms<W, false>());
  } else if (has_weight) {
    if (has_curvature) return visitor(RowTerms<true, true>());
    return visitor(RowTerms<false, true>());
  } else {
    if (has_curvature) return visitor(RowTerms<true, false>());
    return visitor(RowTerms<false, false>());
  }
}

}  // namespace properboost
