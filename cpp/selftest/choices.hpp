// Losses and weak learners of the cases, by their names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"

namespace properboost::selftest {

// One of the engine's losses; or "table", a look-up table, or "called", the same with a function.
std::unique_ptr<Loss> loss_of(const std::string& name);

// The names that `loss_of` knows.
std::vector<std::string> all_losses();

// The options of the cases that say nothing else.
LearnerOptions usual_options();

std::unique_ptr<WeakLearner> learner_of(const std::string& name,
                                        const LearnerOptions& options = usual_options());

}  // namespace properboost::selftest
