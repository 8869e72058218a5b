// Sums over rows that depend on nothing but the rows: not on their order, nor on how they are cut
// into blocks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

class AllReduce;

inline double wide(float x) { return static_cast<double>(x); }

using WholeSums = std::array<std::int64_t, kMostLanes>;

inline std::uint64_t to_bits(double x) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline std::int32_t to_bits(float x) noexcept {
  std::int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// A unit for numbers of less than 2^51 of it: adding `rounder` rounds a number to whole units,
// which are then the difference of the bits to `zero`.  That is done with vectors.
struct Unit {
  double unit = 1.0;
  double rounder = 0x1.8p52;
  std::uint64_t zero = to_bits(0x1.8p52);

  Unit() = default;
  explicit Unit(double size) : unit(size), rounder(0x1.8p52 * size), zero(to_bits(rounder)) {}
  // Everything is 0 of it, which is NaN.
  static Unit of_nothing() { return Unit(std::numeric_limits<double>::infinity()); }

  double value(std::int64_t sum) const noexcept { return static_cast<double>(sum) * unit; }
};

// The units of each lane's terms, powers of two.
class TermUnits {
 public:
  TermUnits() = default;
  TermUnits(const TermUnits& other)
      : units_(other.units_), rounders_(other.rounders_), lost_(other.lost_.load()) {}
  TermUnits& operator=(const TermUnits& other) {
    units_ = other.units_;
    rounders_ = other.rounders_;
    lost_ = other.lost_.load();
    return *this;
  }

  // `largest` bounds the terms, and `total` is the sum of the weights of those that are added up.
  // Bounds are computed with rounding, so that twice as much is allowed for.  Terms that have no
  // bound have no sum: it is NaN.
  //
  // Terms are rounded before they are multiplied, so that a weight of 3 is three rows.
  void set(std::size_t lane, double largest, RowSampleWeights weight, double total) {
    const double scale = scale_of(weight);
    const double sum = largest * (total * scale);
    units_[lane] = sum < kMost ? Unit(unit_for(sum, kDigits) / scale) : Unit::of_nothing();
    rounders_[lane] = units_[lane].rounder * scale;
  }
  // How many rows a weight of 1 stands for in the engine; large weights are not treated as counts.
  static double scale_of(RowSampleWeights weight) noexcept {
    return weight.unit() >= 1.0 && weight.unit() <= 16.0 ? weight.unit() : 1.0;
  }
  // The same of `rows` terms that are weighted already.
  void set(std::size_t lane, double largest, std::size_t rows) {
    int of_rows = 0;
    while (rows >> of_rows != 0) ++of_rows;
    units_[lane] = largest < kMost ? Unit(unit_for(largest, std::min(kDigits, 62 - of_rows)))
                                   : Unit::of_nothing();
  }
  // The number that is added and subtracted to round terms before they are multiplied.
  double rounder(std::size_t lane) const noexcept { return rounders_[lane]; }
  const Unit& of(std::size_t lane) const noexcept { return units_[lane]; }
  bool same(std::size_t lane, const TermUnits& other) const noexcept {
    return units_[lane].unit == other.units_[lane].unit;
  }
  // A lane's term was not finite, or larger than its bound: no sum is known.
  void lose(std::size_t lane) const noexcept {
    lost_.fetch_or(1U << lane, std::memory_order_relaxed);
  }
  // Whether any process has lost a lane's sum.
  using Lost = std::array<double, kMostLanes>;
  void add_to(AllReduce& all_reduce, Lost& lost) const;
  void lose_if(const Lost& lost) const noexcept {
    for (std::size_t lane = 0; lane < lost.size(); ++lane) {
      if (lost[lane] > 0.0) lose(lane);
    }
  }
  double value(std::size_t lane, std::int64_t sum) const noexcept {
    if (has_lost(lane)) return std::numeric_limits<double>::quiet_NaN();
    return units_[lane].value(sum);
  }

 private:
  static constexpr int kDigits = 50;
  static constexpr double kLeast = 0x1p-900, kMost = 0x1p900;

  bool has_lost(std::size_t lane) const noexcept {
    return (lost_.load(std::memory_order_relaxed) >> lane & 1U) != 0;
  }
  static double unit_for(double most, int digits) {
    int exponent = 0;
    std::frexp(2.0 * std::max(most, kLeast), &exponent);
    return std::ldexp(1.0, exponent - digits);
  }

  std::array<Unit, kMostLanes> units_;
  std::array<double, kMostLanes> rounders_{};
  mutable std::atomic<std::uint32_t> lost_{0};  // a bit for each lane
};

// Signs of terms.  A positive term that is too large has a larger exponent than it may, one of
// whose bits is not in the unit's zero; where some are negative, it takes one more operation to see
// it.
enum class Signs { kPositive, kBoth };

// Sums over rows of terms in whole units, in vectors of accumulators.
template <std::size_t W, Signs kSigns>
class RowAdder {
 public:
  // In these units, which must outlive it.
  explicit RowAdder(const TermUnits& units) : units_(units) {
    for (std::size_t k = 0; k < kSums; ++k) {
      rounder_[k] = units.of(k % W).rounder;
      zero_[k] = units.of(k % W).zero;
      first_[k] = units.rounder(k % W);
    }
  }

  // Adds each row's weight times term(row x W + k).
  template <InstructionSet kSet, class Term>
  void add(CompiledFor<kSet> set, std::size_t rows, RowSampleWeights weight, const Term& term) {
    const std::size_t n = rows * W;
    std::size_t j = n / kSums * kSums;
    if (j > 0) add_vectors(set, j, weight, term);
    for (std::size_t k = 0; j < n; ++j, ++k) {
      double x = term(j);
      if (!weight.all_ones()) x = weight.stored(j / W) * ((x + first_[k]) - first_[k]);
      const std::uint64_t bits = to_bits(x + rounder_[k]);
      sums_[k] += bits;
      seen_[k] |= kSigns == Signs::kBoth ? bits ^ zero_[k] : bits;
    }
    for (std::size_t k = 0; k < kSums; ++k) added_[k] += n / kSums + (k < n % kSums ? 1 : 0);
  }

  // Adds what there is to the totals.  Where `counts` is given, the terms of lanes with a 0 there
  // have no bound, and their sums are of no use.
  void add_to(WholeSums& total, const std::array<bool, kMostLanes>* counts = nullptr) const {
    for (std::size_t k = 0; k < kSums; ++k) {
      std::int64_t& lane_sum = total[k % W];  // which terms without a bound may wrap around
      lane_sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(lane_sum) + sums_[k] -
                                           added_[k] * zero_[k]);
      const std::uint64_t other = kSigns == Signs::kBoth ? seen_[k] : seen_[k] & ~zero_[k];
      const bool any_outside = other >> 52 != 0;
      if (any_outside && (counts == nullptr || (*counts)[k % W])) units_.lose(k % W);
    }
  }

 private:
  static constexpr std::size_t kSums = W < 8 ? 8 : W;

  // The first n, a multiple of the sums.
  template <InstructionSet kSet, class Term>
  void add_vectors(CompiledFor<kSet> /*set*/, std::size_t n, RowSampleWeights weight,
                   const Term& term) {
    using Real = VectorOf<double, kSet>;
    using Bits = VectorOf<std::uint64_t, kSet>;
    constexpr std::size_t kEach = Real::kSize, kVectors = kSums / kEach;
    Real rounder[kVectors], first[kVectors];
    Bits zero[kVectors], sums[kVectors], seen[kVectors];
    std::memcpy(rounder, rounder_, sizeof rounder);
    std::memcpy(first, first_, sizeof first);
    std::memcpy(zero, zero_, sizeof zero);
    std::memcpy(sums, sums_, sizeof sums);
    std::memcpy(seen, seen_, sizeof seen);
    // Vectors are passed by reference, since GCC notes that its rules for values have changed.
    const auto take = [&](std::size_t v, const Real& value) {
      Real x = value;
      x += rounder[v];
      Bits bits;
      std::memcpy(&bits, &x, sizeof bits);
      sums[v] += bits;
      if constexpr (kSigns == Signs::kBoth) bits ^= zero[v];
      seen[v] |= bits;
    };
    if (weight.all_ones()) {
      for (std::size_t j = 0; j < n; j += kSums) {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v) {
          Real x;
          for (std::size_t q = 0; q < kEach; ++q) x.data[q] = term(j + v * kEach + q);
          take(v, x);
        }
      }
    } else {
      for (std::size_t j = 0; j < n; j += kSums) {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVectors; ++v) {
          Real x, s;
          for (std::size_t q = 0; q < kEach; ++q) {
            const std::size_t i = j + v * kEach + q;
            x.data[q] = term(i);
            s.data[q] = weight.stored(i / W);
          }
          x += first[v];
          x -= first[v];
          x *= s;
          take(v, x);
        }
      }
    }
    std::memcpy(sums_, sums, sizeof sums);
    std::memcpy(seen_, seen, sizeof seen);
  }

  const TermUnits& units_;
  double rounder_[kSums], first_[kSums];
  std::uint64_t zero_[kSums];
  std::uint64_t sums_[kSums] = {};  // as often as there were terms, too much by zero
  std::uint64_t seen_[kSums] = {};  // which bits
  std::uint64_t added_[kSums] = {};
};

// The same of rows that lie side by side: total[k] += the sum of lane k.
template <std::size_t W, Signs kSigns, class Set, class Term>
void add_rows(Set set, std::size_t rows, RowSampleWeights weight, const TermUnits& units,
              WholeSums& total, const Term& term,
              const std::array<bool, kMostLanes>* counts = nullptr) {
  RowAdder<W, kSigns> adder(units);
  adder.add(set, rows, weight, term);
  adder.add_to(total, counts);
}

}  // namespace properboost
