// Whole numbers of a unit: no order of additions changes their sums, and differences are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "properboost/core/instruction_set.hpp"

namespace properboost {

// The whole part of x, which is below 2^62 and not negative.
//
// AVX2 has no vectors for the conversion: there the upper and the lower bits are whole multiples of
// 2^32 and of 1, which are exact, and are read off the digits of a double that has room for them.
template <InstructionSet kSet>
std::int64_t whole_part(double x, CompiledFor<kSet> /*set*/) noexcept {
  if constexpr (kSet == InstructionSet::kAvx2) {
    constexpr double kRounder = 0x1.8p52;  // whose lower bits are 0
    const auto bits = [](double number) {
      std::uint64_t pattern;
      std::memcpy(&pattern, &number, sizeof pattern);
      return pattern;
    };
    const double upper = x * 0x1p-32 + kRounder;
    const double rest = x - (upper - kRounder) * 0x1p32;
    const double lower = rest + kRounder;
    const std::uint64_t too_much = lower - kRounder > rest ? 1 : 0;  // it was rounded up
    return static_cast<std::int64_t>((bits(upper) << 32) + (bits(lower) - bits(kRounder)) -
                                     too_much);
  } else {
    return static_cast<std::int64_t>(x);
  }
}

// Numbers as multiples of a unit, a power of two.  It follows from the bits that their sum may
// take; whole numbers whose sum fits are stored unchanged.
struct FixedPoint {
  double per_unit = 1.0;
  double unit = 1.0;

  FixedPoint() = default;
  // Everything is 0 of it, which is NaN.
  static FixedPoint of_nothing() {
    FixedPoint none;
    none.per_unit = 0.0;
    none.unit = std::numeric_limits<double>::quiet_NaN();
    return none;
  }
  explicit FixedPoint(double total, int bits = 61) {
    if (!std::isfinite(total)) throw std::invalid_argument("weight must have a finite sum");
    if (!(total > 0.0)) return;
    per_unit = std::ldexp(1.0, std::clamp(bits - 1 - std::ilogb(total), -1022, 1022));
    unit = 1.0 / per_unit;
  }
  // A call would keep loops from being vectorised, and x is not negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  std::int64_t round(double x) const { return static_cast<std::int64_t>(x * per_unit + 0.5); }
  std::int64_t round_signed(double x) const { return x < 0.0 ? -round(-x) : round(x); }
  double value(std::int64_t sum) const { return static_cast<double>(sum) * unit; }
};

// The sum of n numbers, each rounded; none is negative.
inline std::int64_t sum_rounded(const FixedPoint& units, const double* numbers, std::size_t n) {
  std::int64_t sum = 0;
  vectorized([=, per_unit = units.per_unit, &sum](auto set) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += whole_part(numbers[i] * per_unit + 0.5, set);
    sum = total;
  });
  return sum;
}

// The multiples that rows' numbers are rounded to, so that sums of hundreds of rows take 32 bits.
struct Grain {
  static constexpr int kBits = 22;  // of a number in grains
  double size = 0.0;                // a power of two, or 0 if numbers are not rounded

  Grain() = default;
  // For numbers of at most `most` and of `mean` on average.  They are not rounded if the few that
  // are large would leave the others too few bits.
  Grain(double most, double mean) {
    constexpr double kMostOverMean = 16.0, kLargest = 0x1p60;
    if (mean * kMostOverMean >= most && most >= 1.0 / kLargest && most <= kLargest) {
      // Bounds are found with rounding.
      size = std::ldexp(1.0, std::ilogb(most * (1.0 + 0x1p-20)) + 1 - kBits);
    }
  }
  bool rounds() const { return size > 0.0; }
  // Adding this number and subtracting it again rounds.
  double rounder() const { return 0x1.8p52 * size; }
  // Grains, shifted by so many bits, are units.
  int shift_to(const FixedPoint& unit) const { return std::ilogb(size * unit.per_unit); }
};

// Units of the weights and curvatures that rows add to cells.  They follow from sums that no order
// of rows changes.
struct CellUnits {
  double total_weight = 0.0, total_curvature = 0.0;
  double most_weight = 0.0, most_curvature = 0.0;  // of a row, with its sample weight or without
  double rows = 0.0;  // by sample weight; 0 if nothing may be rounded, as errors would not even out
  FixedPoint weight, curvature;
  Grain weight_grain, curvature_grain;

  CellUnits() = default;
  // No more than these in total, and of a row.
  CellUnits(double weights, double curvatures, double a_weight, double a_curvature)
      : total_weight(weights),
        total_curvature(curvatures),
        most_weight(a_weight),
        most_curvature(a_curvature),
        weight(unit_for(weights)),
        curvature(unit_for(curvatures)) {}

  // Rounds the numbers of rows, if there are enough for errors to even out.  `a_weight` and
  // `a_curvature` bound them without their sample weight.
  void round_rows(double a_weight, double a_curvature, double training) {
    constexpr double kFewRows = 4096.0;
    if (training < kFewRows) return;
    rows = training;
    weight_grain = grain_of(weight, a_weight, total_weight / rows);
    curvature_grain = grain_of(curvature, a_curvature, total_curvature / rows);
  }

  // Whether rows add the same to cells.
  bool same(const CellUnits& other) const {
    return weight.unit == other.weight.unit && curvature.unit == other.curvature.unit &&
           weight_grain.size == other.weight_grain.size &&
           curvature_grain.size == other.curvature_grain.size;
  }

 private:
  static FixedPoint unit_for(double total) {
    return std::isfinite(total) ? FixedPoint(total) : FixedPoint::of_nothing();
  }
  static Grain grain_of(const FixedPoint& unit, double most, double mean) {
    const Grain grain(most, mean);
    return grain.size * unit.per_unit >= 1.0 ? grain : Grain();
  }
};

}  // namespace properboost
