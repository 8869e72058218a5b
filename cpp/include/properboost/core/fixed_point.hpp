// Whole numbers of a unit: no order of additions changes their sums, and differences are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace properboost {

// Numbers as multiples of a unit, a power of two: their sum takes so many bits, and whole numbers
// whose sum fits are stored unchanged.
struct FixedPoint {
  double per_unit = 1.0;
  double unit = 1.0;

  FixedPoint() = default;
  explicit FixedPoint(double total, int bits = 61) {
    if (!std::isfinite(total)) throw std::invalid_argument("weight must have a finite sum");
    if (!(total > 0.0)) return;
    per_unit = std::ldexp(1.0, std::clamp(bits - 1 - std::ilogb(total), -1022, 1022));
    unit = 1.0 / per_unit;
  }
  // A call would keep loops from being vectorised, and x is not negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  std::int64_t round(double x) const { return static_cast<std::int64_t>(x * per_unit + 0.5); }
  double value(std::int64_t sum) const { return static_cast<double>(sum) * unit; }
};

inline std::int64_t to_bits(double x) noexcept {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// A unit for numbers of less than 2^51 of it: adding `rounder` rounds a number to whole units,
// which are then the difference of the bits to `zero`.  That is done with vectors.
struct Unit {
  double unit = 1.0;
  double rounder = 0x1.8p52;
  std::int64_t zero = to_bits(0x1.8p52);

  Unit() = default;
  explicit Unit(double size) : unit(size), rounder(0x1.8p52 * size), zero(to_bits(rounder)) {}
  // Everything is 0 of it, which is NaN.
  static Unit of_nothing() { return Unit(std::numeric_limits<double>::infinity()); }

  std::int64_t round(double x) const noexcept { return to_bits(x + rounder) - zero; }
  double value(std::int64_t sum) const noexcept { return static_cast<double>(sum) * unit; }
};

// What rows add to cells: units of their weights and curvatures, found from sums of these that no
// order of rows changes.
struct CellUnits {
  double total_weight = 0.0, total_curvature = 0.0;
  double most_weight = 0.0, most_curvature = 0.0;  // of a row, with its sample weight or without
  Unit weight, curvature;

  CellUnits() = default;
  // No more than these in total, and of a row.
  CellUnits(double weights, double curvatures, double a_weight, double a_curvature)
      : total_weight(weights),
        total_curvature(curvatures),
        most_weight(a_weight),
        most_curvature(a_curvature),
        weight(unit_for(weights, a_weight)),
        curvature(unit_for(curvatures, a_curvature)) {}

 private:
  static Unit unit_for(double total, double most) {
    if (!std::isfinite(total) || !std::isfinite(most)) return Unit::of_nothing();
    return Unit(std::max(FixedPoint(total).unit, FixedPoint(most, 51).unit));
  }
};

}  // namespace properboost
