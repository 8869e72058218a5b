// The heavier class of the cell, +1 or -1 (BoostLR, Algorithm 1 over tables of +-1); 0 where both
// weigh the same but for rounding.
#pragma once

#include <cmath>

#include "properboost/responses/response.hpp"
#include "properboost/trees/split.hpp"

namespace properboost::responses {

struct Sign : ResponseDefaults {
  static constexpr const char* name = "sign";
  static constexpr bool larger_is_better = true;
  static constexpr bool sees_every_difference = false;  // one class may be heavier in all cells
  static double cost(const Cell& c, const Regularizers&) { return -std::abs(c.gradient()); }
  static double value(const Cell& c, const Regularizers&) {
    if (std::abs(c.gradient()) <= kTie * c.weight()) return 0.0;
    return c.gradient() > 0.0 ? 1.0 : -1.0;
  }
};

}  // namespace properboost::responses
