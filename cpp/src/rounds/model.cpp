#include "properboost/rounds/model.hpp"

#include <algorithm>
#include <variant>

#include "properboost/learners/learner.hpp"

namespace properboost {

bool grows_trees(const Model& model) {
  return std::holds_alternative<const GrownLearner*>(model.weak_learner->kind());
}

bool any_grows_trees(const std::vector<Model>& models) {
  return std::any_of(models.begin(), models.end(), grows_trees);
}

bool has_lines(const Model& model) {
  const LearnerKind kind = model.weak_learner->kind();
  const auto* const grown = std::get_if<const GrownLearner*>(&kind);
  return grown != nullptr && (*grown)->limits.fields.linear_leaves;
}

}  // namespace properboost
