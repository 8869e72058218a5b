// Repeated rounds: the moves of an earlier fit, which this one goes on from.
#pragma once

#include <vector>

#include "properboost/ensemble/ensemble.hpp"
#include "properboost/rounds/cohort.hpp"
#include "properboost/rounds/fit_context.hpp"

namespace properboost {

class Team;

// Throws std::invalid_argument if the rounds of an earlier fit, by model, cannot be repeated.
void check_repeated(const std::vector<Rounds>& rounds, const FitContext& fit);

// Moves the margins of a cohort that has begun as an earlier fit did: once as each step was
// proposed, and once as it was corrected.
void repeat_rounds(const std::vector<Rounds>& rounds, const FitContext& fit, Cohort& cohort,
                   Team& team);

}  // namespace properboost
