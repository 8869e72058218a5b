// The exponential loss, e^-u: AdaBoost's (BoostLR, Table 1).
#pragma once

#include <cmath>

#include "properboost/losses/policy.hpp"

namespace properboost::losses {

struct Exponential : Defaults, LogitLink<2> {
  static constexpr const char* name = "exponential";

  template <class T>
  T loss(T u) const {
    return math::growing_exp(-u);
  }
  template <class T>
  T weight(T u) const {
    return loss(u);
  }
  template <class T>
  T curvature(T u) const {
    return loss(u);
  }
  double most_curvature(double least) const {
    return static_cast<double>(loss(static_cast<float>(least)));
  }
  double minimum_risk(double p) const { return 2.0 * std::sqrt(p) * std::sqrt(1.0 - p); }
};

}  // namespace properboost::losses
