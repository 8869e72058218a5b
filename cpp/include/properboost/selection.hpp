// Selection: which feature a round uses.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/learners/learner.hpp"
#include "properboost/parallel.hpp"

namespace properboost {

// Greedy: the feature of least cost; of those within kTie of it, the first.
inline std::size_t select_greedy(const CellTable& cells, std::size_t features,
                                 const WeakLearner& learner, const Response& response,
                                 const Regularizers& r, double nanoseconds, Team& team) {
  std::vector<double> costs(features);
  team.for_each(features, nanoseconds,
                [&](std::size_t f) { costs[f] = learner.cost(cells.feature(f), response, r); });
  return first_best(costs.data(), features);
}

}  // namespace properboost
