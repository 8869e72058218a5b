#include "properboost/rounds/algorithm.hpp"

#include <variant>
#include <vector>

#include "properboost/learners/learner.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/sign.hpp"
#include "properboost/rounds/model.hpp"
#include "properboost/rounds/model_batch.hpp"

namespace properboost {

std::unique_ptr<RowWeighting> AdditiveBoosting::make_weighting(std::size_t /*rows*/) const {
  return std::make_unique<RowWeighting>();
}

// Trees are grown one model at a time, because each sorts its rows in its own order; and each model
// has features of its own left in a race.
std::size_t AdditiveBoosting::most_lanes(const Model& model) const {
  return grows_trees(model) || least_screen() > 0 ? 1 : coupling_.lanes;
}

std::vector<std::unique_ptr<Planner>> Algorithm::make_planners(
    const std::vector<const RoundContext*>& batches) const {
  std::vector<std::unique_ptr<Planner>> planners;
  for (const RoundContext* const batch : batches) planners.push_back(make_planner(*batch));
  return planners;
}

std::vector<std::unique_ptr<Planner>> AdditiveBoosting::make_planners(
    const std::vector<const RoundContext*>& batches) const {
  const LearnerKind kind = batches.front()->model(0).weak_learner->kind();
  const auto* const grown = std::get_if<const GrownLearner*>(&kind);
  if (grown == nullptr || !coupling_.shares_trees()) return Algorithm::make_planners(batches);
  std::vector<std::unique_ptr<Planner>> one;
  one.push_back(make_joint_tree_planner(batches, **grown));
  return one;
}

std::unique_ptr<Planner> AdditiveBoosting::make_planner(const RoundContext& context) const {
  const LearnerKind kind = context.model(0).weak_learner->kind();
  if (const auto* const grown = std::get_if<const GrownLearner*>(&kind)) {
    return make_tree_planner(context, **grown);
  }
  std::vector<const FeatureLearner*> learners;
  for (std::size_t k = 0; k < context.batch.models.size(); ++k) {
    learners.push_back(std::get<const FeatureLearner*>(context.model(k).weak_learner->kind()));
  }
  return make_feature_planner(context, learners);
}

VoteBoosting::VoteBoosting(std::shared_ptr<const Step> step, std::shared_ptr<const Vote> vote,
                           VoteTargets targets, double rho, const VoteWeighting& weighting)
    : Algorithm({make_selection("greedy"), std::make_shared<BoundResponse<responses::Sign>>(),
                 std::move(step)},
                0.0),
      vote_(std::move(vote)),
      targets_(std::move(targets)),
      rho_(rho),
      weighting_(weighting) {}

std::unique_ptr<RowWeighting> VoteBoosting::make_weighting(std::size_t rows) const {
  return std::make_unique<VoteRowWeighting>(weighting_, rows);
}

std::size_t VoteBoosting::most_lanes(const Model& /*model*/) const { return 1; }

std::unique_ptr<Planner> VoteBoosting::make_planner(const RoundContext& context) const {
  return std::visit(
      [&](const auto* learner) { return make_vote_planner(context, *this, *learner); },
      context.model(0).weak_learner->kind());
}

}  // namespace properboost
