// Rows' weights as whole numbers: sums do not depend on the order of additions, and differences of
// sums are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/screen.hpp"

namespace properboost {

// How much each row counts: weight times sample weight, finite and at least 0, in segment order.
struct RowWeights {
  const float* weight;
  const float* curvature;  // read only if the criterion needs it
  RowSampleWeights sample_weight;
  CellUnits units;          // of all training rows
  double share = 1.0;       // share of the rows that count, drawn by the tree's number
  RowNumbers numbers = {};  // and theirs
  // The rows that a tree is grown from before it has the sums of all, or null.
  const Screen* screen = nullptr;

  // How many rows of its slot a row stands for that a tree is grown from.
  double stands_for(std::size_t slot) const {
    return screen == nullptr ? 1.0 : screen->stands_for[slot];
  }
  double weight_of(std::size_t row) const noexcept {
    return static_cast<double>(weight[row]) * sample_weight[row];
  }
  // The sample weight times the square of the boosting weight.
  double square_of(std::size_t row) const noexcept {
    return static_cast<double>(weight[row]) * weight_of(row);
  }
  double curvature_of(std::size_t row) const noexcept {
    return static_cast<double>(curvature[row]) * sample_weight[row];
  }
};

// The numbers that a row adds to its cells: its weight and, if needed, its curvature.
template <bool kCurvature>
using Units = std::conditional_t<kCurvature, Two<std::int64_t>, std::int64_t>;
// The same in half the room, for sums of not too many rows.
template <bool kCurvature>
using NarrowUnits = std::conditional_t<kCurvature, Halves, std::uint32_t>;

// The units of narrow numbers, for a search.
struct NarrowScale {
  static constexpr int kFewestBits = 20, kMostBits = 22;  // of the largest number
  static constexpr std::size_t kLeastRows = (std::size_t{1} << (32 - kMostBits)) - 1;

  FixedPoint weight, curvature;
  std::int64_t most = 0;  // of a number
  // The most rows whose numbers may be added up, at least kLeastRows; 0: nothing is narrow.
  std::size_t most_rows = 0;

  NarrowScale() = default;
  NarrowScale(const CellUnits& units, bool needs_curvature) {
    if (!(units.rows > 0.0)) return;
    int bits = bits_for(units.most_weight, units.total_weight / units.rows);
    if (needs_curvature) {
      bits = std::max(bits, bits_for(units.most_curvature, units.total_curvature / units.rows));
    }
    if (bits > kMostBits) return;
    weight = scale(units.most_weight, bits);
    if (needs_curvature) curvature = scale(units.most_curvature, bits);
    most = std::int64_t{1} << bits;
    most_rows = (std::size_t{1} << (32 - bits)) - 1;
  }

 private:
  // Rounding errors of rows do not even out where many have the same weight.
  static constexpr int kBitsOfMean = 15;

  // For the largest number, so that the mean has enough.
  static int bits_for(double most, double mean) {
    constexpr double kLargest = 0x1p60;
    if (!(most <= kLargest) || !(mean >= 1.0 / kLargest)) return kMostBits + 1;
    return std::max(kFewestBits, kBitsOfMean + std::ilogb(most / mean) + 1);
  }
  // Bounds are found with rounding.
  static FixedPoint scale(double most, int bits) {
    return FixedPoint(most * (1.0 + 0x1p-20), bits);
  }
};

template <bool kCurvature>
class RowUnits {
 public:
  using Numbers = Units<kCurvature>;
  using Narrow = NarrowUnits<kCurvature>;

  // Takes the units of the rows, which must be set one by one: narrow ones where that is
  // allowed and possible.  Then a row that counts has some, however light it is: without, its code
  // would seem to have no rows.  Others are at least `least` for a positive weight; with 0, rows
  // much lighter than the others do not count.
  void begin(const RowWeights& rows, std::size_t all_rows, std::int64_t least, bool narrow) {
    scale_ = narrow ? NarrowScale(rows.units, kCurvature) : NarrowScale();
    weight_ = is_narrow() ? scale_.weight : rows.units.weight;
    curvature_ = is_narrow() ? scale_.curvature : rows.units.curvature;
    least_ = is_narrow() ? 1 : least;
    if (is_narrow()) {
      narrow_.resize(all_rows);
      Aligned<Numbers>().swap(units_);
    } else {
      units_.resize(all_rows);
      Aligned<Narrow>().swap(narrow_);
    }
  }
  // Rounds the weights of a row; returns whether it counts.
  bool set(const RowWeights& rows, std::size_t i) noexcept {
    const double x = rows.weight_of(i);
    const std::int64_t weight = std::max(weight_.round(x), x > 0.0 ? least_ : 0);
    std::int64_t curvature = 0;
    if constexpr (kCurvature) {
      const double y = rows.curvature_of(i);
      curvature = std::max<std::int64_t>(curvature_.round(y), is_narrow() && y > 0.0 ? 1 : 0);
    }
    if (is_narrow()) {
      narrow_[i] = narrowed(weight, curvature);
    } else if constexpr (kCurvature) {
      units_[i].data[0] = weight;
      units_[i].data[1] = curvature;
    } else {
      units_[i] = weight;
    }
    return weight > 0 || curvature > 0;
  }
  // And those of all rows of these blocks.
  void set(const RowWeights& rows, const std::vector<RowBlock>& blocks, Team& team) {
    double a_pass = 0.0;
    for (const RowBlock& block : blocks) a_pass += static_cast<double>(block.end - block.begin);
    team.for_each(blocks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) set(rows, i);
    });
  }

  bool is_narrow() const noexcept { return scale_.most_rows > 0; }
  // How many rows' narrow numbers may be added up.
  std::size_t most_rows() const noexcept { return scale_.most_rows; }
  // The same to a sum that is there already.
  std::size_t most_rows_beside(std::uint32_t sum) const noexcept {
    return static_cast<std::size_t>((~sum) / scale_.most);
  }
  const Numbers* data() const noexcept { return units_.data(); }
  const Narrow* narrow() const noexcept { return narrow_.data(); }
  Numbers operator[](std::size_t row) const noexcept {
    return is_narrow() ? widen(narrow_[row]) : units_[row];
  }
  static Numbers widen(const Narrow& narrow) noexcept {
    if constexpr (kCurvature) {
      return narrow.widened();
    } else {
      return narrow;
    }
  }
  void prefetch(std::size_t row) const noexcept {
    if (is_narrow()) {
      properboost::prefetch(&narrow_[row]);
    } else {
      properboost::prefetch(&units_[row]);
    }
  }
  double unit_of_weight() const noexcept { return weight_.unit; }
  double unit_of_curvature() const noexcept { return curvature_.unit; }

 private:
  // A number is above its bound by rounding alone, unless a loss of the user's own is at fault.
  Narrow narrowed(std::int64_t weight, [[maybe_unused]] std::int64_t curvature) const noexcept {
    const auto first = static_cast<std::uint32_t>(std::min(weight, scale_.most));
    if constexpr (kCurvature) {
      return {first, static_cast<std::uint32_t>(std::min(curvature, scale_.most))};
    } else {
      return first;
    }
  }

  Aligned<Numbers> units_;  // or these:
  Aligned<Narrow> narrow_;
  NarrowScale scale_;
  FixedPoint weight_, curvature_;
  std::int64_t least_ = 0;
};

}  // namespace properboost
