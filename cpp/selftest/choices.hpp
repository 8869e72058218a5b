// Losses and weak learners of the cases, by their names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"

namespace properboost::selftest {

// One of the engine's losses; or "tabulated", by a table, or "called", the same with a function.
std::unique_ptr<Loss> loss_of(const std::string& name);

// The names that `loss_of` accepts.
std::vector<std::string> all_losses();

// The fields of all weak learners and their options, of which each uses its own.
struct LearnerChoice {
  TableFields table = {};
  TreeFields tree = {};
  RuleFields rule = {};
  LearnerOptions options = {};

  // Sets the common options of trees and rules.
  template <class T>
  void set_grown(T GrownFields::* field, T value) {
    tree.*field = value;
    rule.*field = value;
  }
};

// The choice of the cases that set nothing else.
LearnerChoice usual_choice();

std::unique_ptr<WeakLearner> learner_of(const std::string& name,
                                        const LearnerChoice& choice = usual_choice());

}  // namespace properboost::selftest
