// The minimiser of the risk over the steps of all look-up tables so far: none of them has an edge
// left (totally corrective ULS; Nock and Nielsen 2009, Fig. 4).
#pragma once

#include "properboost/steps/leveraging.hpp"

namespace properboost::steps {

class TotallyCorrective final : public Leveraging {
 public:
  static constexpr const char* name = "totally_corrective";
  Solved solves() const override { return Solved::kAll; }
};

}  // namespace properboost::steps
