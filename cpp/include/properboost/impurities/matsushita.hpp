// Matsushita's: phi(p) = -sqrt(p (1 - p)).
#pragma once

#include <cmath>

#include "properboost/impurities/impurity.hpp"

namespace properboost::impurities {

struct Matsushita : ImpurityDefaults {
  static constexpr const char* name = "matsushita";
  using ImpurityDefaults::ImpurityDefaults;
  static double cost(const Cell& c, const Regularizers&) {
    return 2.0 * std::sqrt(c.positive) * std::sqrt(c.negative);
  }
};

}  // namespace properboost::impurities
