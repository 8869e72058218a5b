// phi(p) = -(mu + (1 - mu) sqrt(p (1 - p))), 0 <= mu < 1.  A cell's weight times a constant adds up
// to the same whatever the splits, and is left out: the rest is Matsushita's.
#pragma once

#include "properboost/impurities/matsushita.hpp"

namespace properboost::impurities {

struct Mu : Matsushita {
  static constexpr const char* name = "mu";
  using Matsushita::Matsushita;
};

}  // namespace properboost::impurities
