// A model: what differs between models that are trained together.
#pragma once

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

inline bool same_but_for_gain(const Model& a, const Model& b) {
  return a.loss == b.loss && a.weak_learner == b.weak_learner &&
         a.learning_rate == b.learning_rate && a.prior == b.prior && a.roles == b.roles;
}

}  // namespace properboost
