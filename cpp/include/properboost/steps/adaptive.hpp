// The step of AR-Boost (Saha et al. 2013, Algorithms 1 and 2), in closed form for the exponential
// loss: AdaBoost's, or SAMME's, at rho 1; L1-regularised boosting's (Xi et al. 2009) below 1.
#pragma once

#include "properboost/core/math.hpp"
#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Adaptive final : public Step {
 public:
  static constexpr const char* name = "adaptive";
  double propose(LineSearchOracle& /*oracle*/, const StepLimits& limits) const override {
    return limits.rate * alpha(limits);
  }
  // Errors below rho (C-1) / (rho (C-1) + 1) are accepted.
  bool accepts(const StepLimits& limits) const override { return alpha(limits) > kRounding; }

 private:
  // Weights are floats: the last classifier's error, which is the limit itself, may come out so
  // much smaller.
  static constexpr double kRounding = 1e-6;

  static double alpha(const StepLimits& limits) {
    const Agreement& rows = limits.agreement;
    const double odds = math::log(rows.rho) + math::log(rows.right) - math::log(rows.wrong) +
                        math::log(rows.ways - 1.0);
    return rows.ways == 2.0 ? 0.5 * odds : odds;  // between -1 and +1, or 0 and 1
  }
};

}  // namespace properboost::steps
