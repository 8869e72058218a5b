// Contributions of features to the sums of a forest's trees: Shapley values.
#pragma once

#include <cstdint>

#include "properboost/data/codes.hpp"
#include "properboost/ensemble/forest.hpp"

namespace properboost {

class Bins;
class Team;

// Adds the contribution of each feature of the bins to each row: out[row * features + feature].
// Returns the baseline, to which they add up to the sums of trees.  `weights` are the nodes'
// training weights, and no node has two parents.
double add_contributions(const Forest& forest, const double* weights, const Bins& bins,
                         const Codes& codes, double* out, Team& team);

}  // namespace properboost
