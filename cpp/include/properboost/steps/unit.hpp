// The learning rate itself (BoostLR, Algorithm 1 at rate 1; smaller rates shrink its steps).
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Unit final : public Step {
 public:
  static constexpr const char* name = "unit";
  bool guards() const override { return false; }
  double propose(LineSearchOracle& /*oracle*/, const StepLimits& limits) const override {
    return limits.rate;
  }
};

}  // namespace properboost::steps
