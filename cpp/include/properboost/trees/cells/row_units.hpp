// Rows' weights as whole numbers: sums do not depend on the order of additions, and differences of
// sums are exact.
#pragma once

#include <algorithm>
#include <array>
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
#include "properboost/data/soft_labels.hpp"
#include "properboost/trees/cells/weighted_screen.hpp"

namespace properboost {

// How much each row counts: weight times sample weight, finite and at least 0, in segment order.
struct RowWeights {
  const float* weight;
  const float* curvature;  // read only if the criterion needs it
  RowSampleWeights sample_weight;
  CellUnits units;          // of all training rows
  double share = 1.0;       // share of the rows that count, drawn by the tree's number
  RowNumbers numbers = {};  // and theirs
  // Draws the rows that a tree is grown from before it has the sums of all; or null.
  const WeightedScreen* screen = nullptr;
  // With soft labels the weights are those towards the class; these are the ones against it, and
  // the class's shares of the rows.
  const float* against = nullptr;
  const float* shares = nullptr;
  // Where they are summed: the shares times the squares of the weights that rows would have with
  // one label, of the class and of the others.
  const float* squares = nullptr;
  const float* squares_of_others = nullptr;
  bool are_of_others = false;  // the weights are those against the class

  bool is_soft() const noexcept { return against != nullptr; }
  // How many rows a row counts for that a tree is grown from.
  double stands_for(std::size_t row) const noexcept {
    return screen == nullptr ? 1.0 : screen->stands_for(row);
  }
  // The same with the units of the rows that a tree is grown from.
  RowWeights as_drawn() const {
    RowWeights drawn = *this;
    if (screen != nullptr) drawn.units = screen->units(units);
    return drawn;
  }
  double weight_of(std::size_t row) const noexcept {
    return static_cast<double>(weight[row]) * sample_weight[row];
  }
  double against_of(std::size_t row) const noexcept {
    return static_cast<double>(against[row]) * sample_weight[row];
  }
  // The sample weight times the square of the boosting weight.
  double square_of(std::size_t row) const noexcept {
    if (squares != nullptr) return static_cast<double>(squares[row]) * sample_weight[row];
    return static_cast<double>(weight[row]) * weight_of(row);
  }
  // With soft labels: the same of the labels that are not the class.
  RowWeights of_others() const noexcept {
    RowWeights others = *this;
    others.weight = against;
    others.squares = squares_of_others;
    others.are_of_others = true;
    return others;
  }
  // The same with the weights against the class in the place of curvatures.
  RowWeights as_pairs() const noexcept {
    RowWeights pairs = *this;
    pairs.curvature = against;
    pairs.units.curvature = units.weight;
    pairs.units.most_curvature = units.most_weight;
    pairs.units.total_curvature = units.total_weight;
    return pairs;
  }
  double curvature_of(std::size_t row) const noexcept {
    return static_cast<double>(curvature[row]) * sample_weight[row];
  }
};

// The sum of a number of each row, rounded; none is negative.
template <class NumberOf>
std::int64_t sum_rounded(const FixedPoint& units, const std::uint32_t* rows, std::size_t n,
                         const NumberOf& number_of) {
  constexpr std::size_t kStrip = 256;
  std::array<double, kStrip> numbers;
  std::int64_t sum = 0;
  for (std::size_t begin = 0; begin < n; begin += kStrip) {
    const std::size_t size = std::min(kStrip, n - begin);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = number_of(rows[begin + i]);
    sum += sum_rounded(units, numbers.data(), size);
  }
  return sum;
}

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
    store(i, 1, &weight, &curvature);
    return weight > 0 || curvature > 0;
  }
  // The same of n rows, each times the rows that it counts for; writes whether each counts.
  void set(const RowWeights& rows, const std::uint32_t* row, std::size_t n,
           std::uint8_t* counts) noexcept {
    constexpr std::size_t kStrip = 256;
    std::array<double, kStrip> stands_for, numbers;
    std::array<std::int64_t, kStrip> weight, curvature{};
    for (std::size_t done = 0; done < n; done += kStrip, row += kStrip) {
      const std::size_t size = std::min(kStrip, n - done);
      if (rows.screen != nullptr) {
        rows.screen->stand_for(row, size, stands_for.data());
      } else {
        std::fill_n(stands_for.begin(), size, 1.0);
      }
      for (std::size_t i = 0; i < size; ++i) numbers[i] = stands_for[i] * rows.weight_of(row[i]);
      round(numbers.data(), size, weight_, least_, weight.data());
      if constexpr (kCurvature) {
        for (std::size_t i = 0; i < size; ++i) {
          numbers[i] = stands_for[i] * rows.curvature_of(row[i]);
        }
        round(numbers.data(), size, curvature_, is_narrow() ? 1 : 0, curvature.data());
      }
      for (std::size_t i = 0; i < size; ++i) {
        store(row[i], 1, &weight[i], &curvature[i]);
        counts[done + i] = weight[i] > 0 || curvature[i] > 0 ? 1 : 0;
      }
    }
  }
  // The same of n rows from `begin` on, which count for themselves; writes whether each counts.
  void set(const RowWeights& rows, std::size_t begin, std::size_t n,
           std::uint8_t* counts) noexcept {
    constexpr std::size_t kStrip = 256;
    std::array<std::int64_t, kStrip> weight, curvature;
    for (std::size_t done = 0; done < n; done += kStrip) {
      const std::size_t first = begin + done, size = std::min(kStrip, n - done);
      round(rows.weight + first, rows.sample_weight.from(first), size, weight_, least_,
            weight.data());
      if constexpr (kCurvature) {
        round(rows.curvature + first, rows.sample_weight.from(first), size, curvature_,
              is_narrow() ? 1 : 0, curvature.data());
      } else {
        std::fill_n(curvature.begin(), size, 0);
      }
      store(first, size, weight.data(), curvature.data());
      vectorized([=, out = counts + done, w = weight.data(), c = curvature.data()] {
        std::uint8_t* const __restrict to = out;  // copies, which nothing written could change
        const std::size_t all = size;
        for (std::size_t i = 0; i < all; ++i) to[i] = ((w[i] > 0) | (c[i] > 0)) ? 1 : 0;
      });
    }
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
  // Rounds n numbers; positive ones are at least `least`.
  static void round(const double* numbers, std::size_t n, const FixedPoint& units,
                    std::int64_t least, std::int64_t* out) noexcept {
    vectorized([=, per_unit = units.per_unit](auto set) {
      std::int64_t* const __restrict to = out;  // copies, which nothing written could change
      const double* const from = numbers;
      const double scale = per_unit;
      const std::int64_t lowest = least;
      const std::size_t all = n;
      for (std::size_t i = 0; i < all; ++i) {
        to[i] = std::max(whole_part(from[i] * scale + 0.5, set), from[i] > 0.0 ? lowest : 0);
      }
    });
  }
  // The same of weights times sample weights.
  static void round(const float* weight, RowSampleWeights sample_weight, std::size_t n,
                    const FixedPoint& units, std::int64_t least, std::int64_t* out) noexcept {
    const auto round_all = [&](const auto& sample_of) {
      vectorized([=, per_unit = units.per_unit](auto set) {
        std::int64_t* const __restrict to = out;  // copies, which nothing written could change
        const float* const from = weight;
        const auto sample = sample_of;
        const double scale = per_unit;
        const std::int64_t lowest = least;
        const std::size_t all = n;
        for (std::size_t i = 0; i < all; ++i) {
          const double x = static_cast<double>(from[i]) * sample(i);
          to[i] = std::max(whole_part(x * scale + 0.5, set), x > 0.0 ? lowest : 0);
        }
      });
    };
    if (sample_weight.all_ones()) {
      round_all([](std::size_t) { return 1.0; });
    } else {
      round_all([sample_weight](std::size_t i) { return sample_weight.stored(i); });
    }
  }

  // Keeps the units of n rows from `first` on.
  void store(std::size_t first, std::size_t n, const std::int64_t* weight,
             const std::int64_t* curvature) noexcept {
    if (is_narrow()) {
      Narrow* const to = narrow_.data() + first;
      for (std::size_t i = 0; i < n; ++i) to[i] = narrowed(weight[i], curvature[i]);
      return;
    }
    Numbers* const to = units_.data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (kCurvature) {
        to[i].data[0] = weight[i];
        to[i].data[1] = curvature[i];
      } else {
        to[i] = weight[i];
      }
    }
  }

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
