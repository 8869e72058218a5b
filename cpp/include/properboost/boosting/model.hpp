// A model: what differs between models that are trained together.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "properboost/data/roles.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"

namespace properboost {

struct Model {
  const Loss* loss;
  const WeakLearner* weak_learner;
  double gain;
  double learning_rate;
  double prior;  // e as a share of the total weight; 0 for 1/(rows' weight x occupied cells)
  std::vector<Role> roles;  // of each segment
};

// Trees sort the rows in an order of their own.
inline bool grows_trees(const Model& model) {
  return std::holds_alternative<const GrownLearner*>(model.weak_learner->kind());
}

inline bool any_grows_trees(const std::vector<Model>& models) {
  return std::any_of(models.begin(), models.end(), grows_trees);
}

// Whether its trees' leaves have lines.
inline bool has_lines(const Model& model) {
  const LearnerKind kind = model.weak_learner->kind();
  const auto* const grown = std::get_if<const GrownLearner*>(&kind);
  return grown != nullptr && (*grown)->lines.any;
}

}  // namespace properboost
