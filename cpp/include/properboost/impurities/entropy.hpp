// Entropy: phi(p) = p log p + (1 - p) log(1 - p).
#pragma once

#include "properboost/core/math.hpp"
#include "properboost/impurities/impurity.hpp"

namespace properboost::impurities {

struct Entropy : ImpurityDefaults {
  static constexpr const char* name = "entropy";
  using ImpurityDefaults::ImpurityDefaults;
  static double cost(const Cell& c, const Regularizers&) {
    const double weight = c.weight();
    const auto bits = [&](double w) { return w > 0.0 ? w * math::log2(weight / w) : 0.0; };
    return bits(c.positive) + bits(c.negative);
  }
};

}  // namespace properboost::impurities
