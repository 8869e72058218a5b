// The fit state: a model's results so far.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "properboost/ensemble/ensemble.hpp"
#include "properboost/rounds/held_out_means.hpp"

namespace properboost {

struct FitState {
  std::vector<Rounds> rounds;                  // one per vote target; a single one without votes
  std::vector<double> log_loss, error, brier;  // held-out means, per estimator
  // The same of the negative class, and of the positive, whatever the classes' weights are.
  std::vector<std::array<HeldOutMeans, 2>> of_class;
  std::size_t n_estimators = 0;
  std::size_t n_repeated = 0;  // the first ones, of an earlier fit, which are not among `rounds`
  bool finished = false;       // no round lowers its risk any more
  bool separated = false;      // a step that solves for coefficients found none that are finite
  bool takes_turns = false;    // the last two weak classifiers would alternate for ever
};

}  // namespace properboost
