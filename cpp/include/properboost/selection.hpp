// Selection: which feature a round uses.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/learners/learner.hpp"
#include "properboost/parallel.hpp"

namespace properboost {

struct Choice {
  std::size_t feature;
  double cost;
};

// Greedy: the feature of least cost; of those within kTie of it, the first.
inline Choice select_greedy(const CellTable& cells, std::size_t features,
                            const WeakLearner& learner, const Response& response,
                            const Regularizers& r, double nanoseconds, Team& team) {
  std::vector<double> costs(features);
  team.for_each(features, nanoseconds,
                [&](std::size_t f) { costs[f] = learner.cost(cells.feature(f), response, r); });
  const std::size_t best = first_best(costs.data(), features);
  return {best, costs[best]};
}

}  // namespace properboost
