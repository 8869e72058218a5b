// Whole numbers of a unit: no order of additions changes their sums, and differences are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace properboost {

// Numbers as multiples of a unit, a power of two: their sum takes so many bits, and whole numbers
// whose sum fits are stored unchanged.
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

// What rows add to cells: units of their weights and curvatures, found from sums of these that no
// order of rows changes.
struct CellUnits {
  double total_weight = 0.0, total_curvature = 0.0;
  double most_weight = 0.0, most_curvature = 0.0;  // of a row, with its sample weight or without
  FixedPoint weight, curvature;

  CellUnits() = default;
  // No more than these in total, and of a row.
  CellUnits(double weights, double curvatures, double a_weight, double a_curvature)
      : total_weight(weights),
        total_curvature(curvatures),
        most_weight(a_weight),
        most_curvature(a_curvature),
        weight(unit_for(weights)),
        curvature(unit_for(curvatures)) {}

 private:
  static FixedPoint unit_for(double total) {
    return std::isfinite(total) ? FixedPoint(total) : FixedPoint::of_nothing();
  }
};

}  // namespace properboost
