// phi(p) = -(mu + (1 - mu) sqrt(p (1 - p))), 0 <= mu < 1.  A cell's weight times a constant does
// not depend on the splits, so that the trees are Matsushita's.
#pragma once

#include <cmath>

#include "properboost/impurities/impurity.hpp"

namespace properboost::impurities {

class Mu : public ImpurityDefaults {
 public:
  static constexpr const char* name = "mu";
  explicit Mu(double mu = 0.0) : constant_(2.0 * mu / (1.0 - mu)) {}
  double cost(const Cell& c, const Regularizers&) const {
    return constant_ * c.weight() + 2.0 * std::sqrt(c.positive) * std::sqrt(c.negative);
  }

 private:
  double constant_;
};

}  // namespace properboost::impurities
