// Gini: phi(p) = -p (1 - p).
#pragma once

#include "properboost/impurities/impurity.hpp"

namespace properboost::impurities {

struct Gini : ImpurityDefaults {
  static constexpr const char* name = "gini";
  using ImpurityDefaults::ImpurityDefaults;
  static double cost(const Cell& c, const Regularizers&) {
    const double weight = c.weight();
    return weight > 0.0 ? 4.0 * c.positive * (c.negative / weight) : 0.0;
  }
};

}  // namespace properboost::impurities
