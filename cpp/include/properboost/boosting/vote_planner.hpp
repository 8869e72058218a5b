// The planner of weak classifiers that vote: one feature's bins, a stump or a tree.
#pragma once

#include <memory>

#include "properboost/boosting/planner.hpp"

namespace properboost {

std::unique_ptr<Planner> make_vote_planner(const Workplace& at);

}  // namespace properboost
