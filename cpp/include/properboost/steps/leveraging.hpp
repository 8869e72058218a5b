// The exact minimiser of the risk along the look-up table, in double: the newest one has no edge
// left (classical ULS; Nock and Nielsen 2009, Fig. 4 and eq. 35).
#pragma once

#include "properboost/steps/step.hpp"

namespace properboost::steps {

class Leveraging : public Step {
 public:
  static constexpr const char* name = "leveraging";
  Solved solves() const override { return Solved::kLast; }
  // Never called, because steps that are solved for are not proposed.
  double propose(LineSearchOracle& /*oracle*/, const StepLimits& limits) const final {
    return limits.rate;
  }
};

}  // namespace properboost::steps
