// A model: the settings that differ between models trained together.
#pragma once

#include <vector>

#include "properboost/data/roles.hpp"

namespace properboost {

class Loss;
class WeakLearner;

struct Model {
  const Loss* loss;
  const WeakLearner* weak_learner;
  double gain;
  double learning_rate;
  double prior;  // e as a share of the total weight; 0 for 1/(rows' weight x occupied cells)
  std::vector<Role> roles;  // of each segment
};

// Trees sort the rows in an order of their own.
bool grows_trees(const Model& model);
bool any_grows_trees(const std::vector<Model>& models);

// Whether its trees' leaves have lines.
bool has_lines(const Model& model);

}  // namespace properboost
