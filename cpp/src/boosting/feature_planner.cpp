#include <array>
#include <optional>
#include <utility>

#include "properboost/boosting/planner.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

// Look-up tables: of the features up for selection, the one with the least cost is taken.
class FeaturePlanner final : public Planner {
 public:
  FeaturePlanner(const RoundContext& context, std::vector<const FeatureLearner*> learners)
      : Planner(context),
        learners_(std::move(learners)),
        in_turn_(at_.algorithm.selection().in_turn()),
        histogram_(at_.rows.bins, at_.batch.margins->lanes(),
                   at_.algorithm.response().needs_curvature()) {
    if (in_turn_) return;  // cyclic selection sums its cells as it moves
    builder_.emplace(at_.rows, at_.batch.blocks, at_.batch.crowding, at_.batch.margins->lanes(),
                     at_.algorithm.response().needs_curvature(), at_.memory);
  }

  std::size_t tables_per_estimator() const override {
    return at_.algorithm.selection().tables_per_estimator(at_.rows.bins.size());
  }

  PassRequest request(std::size_t t) override {
    if (!in_turn_) return {{}, at_.keep_rounds};
    return {CellsOfFeature{histogram_, t % at_.rows.bins.size()}, at_.keep_rounds};
  }

  std::vector<RoundUpdate> plan(std::size_t t, const std::vector<bool>& active,
                                const std::function<void()>& /*progress*/, Team& team) override {
    const BatchMargins& margins = *at_.batch.margins;
    if (builder_) builder_->fill(margins.weight(), margins.curvature(), histogram_, team);
    const Candidates candidates = at_.algorithm.selection().candidates(t, at_.rows.bins.size());
    const std::size_t lanes = at_.batch.models.size();
    std::vector<double> costs(lanes * candidates.size());
    const double nanoseconds =
        4.0 * static_cast<double>(lanes) *
        static_cast<double>(at_.rows.bins.total_width() * candidates.size()) /
        static_cast<double>(at_.rows.bins.size());
    team.for_each(candidates.size(), nanoseconds, [&](std::size_t c) {
      std::array<Cell, kMaxCodes> buffer;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        costs[k * candidates.size() + c] = learner(k).cost(
            feature(candidates.first + c, k, buffer),
            learner(k).criterion_or(at_.algorithm.response()), at_.batch.regularizers[k]);
      }
    });
    std::vector<RoundUpdate> updates(lanes);
    const auto plan_lane = [&](std::size_t k) {
      if (!active[k]) return;
      const double* own = costs.data() + k * candidates.size();
      const std::size_t best = first_best(own, candidates.size());
      updates[k] = plan_table(k, candidates.first + best, own[best], team);
    };
    if (at_.algorithm.response().looks_at_rows()) {
      for (std::size_t k = 0; k < lanes; ++k) plan_lane(k);
    } else {
      team.for_each(lanes, 8'000.0 * static_cast<double>(lanes), plan_lane);
    }
    return updates;
  }

 private:
  const FeatureLearner& learner(std::size_t lane) const { return *learners_[lane]; }

  FeatureCells feature(std::size_t f, std::size_t lane, std::array<Cell, kMaxCodes>& buffer) const {
    return histogram_.feature(
        f, lane, at_.batch.occupied.data() + lane * at_.rows.bins.total_width(), buffer);
  }

  RoundUpdate plan_table(std::size_t lane, std::size_t f, double cost, Team& team) const {
    std::array<Cell, kMaxCodes> buffer;
    const FeatureCells feature = this->feature(f, lane, buffer);
    RoundUpdate update;
    update.feature = static_cast<std::int32_t>(f);
    update.codes = at_.rows.codes.feature(f);
    const Response& response = at_.algorithm.response();
    const Regularizers& r = at_.batch.regularizers[lane];
    const Partition partition =
        learner(lane).partition(feature, learner(lane).criterion_or(response), r);
    if (learner(lane).has_criterion()) {  // rounds hold the response's cost all the same
      cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    }
    set_table(update, lane, feature.cells, feature.width(), cost, partition, team);
    return update;
  }

  const std::vector<const FeatureLearner*> learners_;  // of the lanes
  const bool in_turn_;
  Histogram histogram_;
  std::optional<HistogramBuilder> builder_;
};

}  // namespace

std::unique_ptr<Planner> make_feature_planner(const RoundContext& context,
                                              std::vector<const FeatureLearner*> learners) {
  return std::make_unique<FeaturePlanner>(context, std::move(learners));
}

}  // namespace properboost
