#include "properboost/boosting/algorithm.hpp"

#include <vector>

#include "properboost/boosting/model.hpp"
#include "properboost/boosting/model_batch.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/responses/sign.hpp"

namespace properboost {
namespace {

// The weak learners of a batch by their kind, which is the same for all.
class ByKind final : public LearnerVisitor {
 public:
  explicit ByKind(const RoundContext& context) {
    for (const std::size_t m : context.batch.models) context.models[m].weak_learner->accept(*this);
  }
  void visit(const FeatureLearner& learner) override { of_features.push_back(&learner); }
  void visit(const GrownLearner& learner) override { grown.push_back(&learner); }

  std::vector<const FeatureLearner*> of_features;
  std::vector<const GrownLearner*> grown;
};

}  // namespace

std::unique_ptr<RowWeighting> AdditiveBoosting::make_weighting(std::size_t /*rows*/) const {
  return std::make_unique<RowWeighting>();
}

// Trees are grown one model at a time, because each sorts its rows in its own order.
std::size_t AdditiveBoosting::most_lanes(const Model& model) const {
  return model.weak_learner->is_grown() ? 1 : kMostLanes;
}

std::unique_ptr<Planner> AdditiveBoosting::make_planner(const RoundContext& context) const {
  const ByKind learners(context);
  if (!learners.grown.empty()) return make_tree_planner(context, *learners.grown.front());
  return make_feature_planner(context, learners.of_features);
}

VoteBoosting::VoteBoosting(std::shared_ptr<const Step> step, std::shared_ptr<const Vote> vote,
                           VoteTargets targets, double rho, const VoteWeighting& weighting)
    : Algorithm({std::make_shared<selections::Greedy>(),
                 std::make_shared<BoundResponse<responses::Sign>>(), std::move(step)},
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
  const ByKind learners(context);
  if (!learners.grown.empty()) return make_vote_planner(context, *this, *learners.grown.front());
  return make_vote_planner(context, *this, *learners.of_features.front());
}

}  // namespace properboost
