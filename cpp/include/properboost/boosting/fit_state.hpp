// The fit state: what a model has so far.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/ensemble/ensemble.hpp"

namespace properboost {

struct FitState {
  std::vector<Rounds> rounds;  // of each vote target; there is one where there are no votes
  std::vector<double> log_loss, error, brier;  // means over the rows held out, per estimator
  std::size_t n_estimators = 0;
  bool finished = false;   // nothing lowers its risk any further
  bool separated = false;  // a step that solves for coefficients found none that are finite
};

}  // namespace properboost
