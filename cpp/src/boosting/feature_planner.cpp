#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/boosting/effective_rows.hpp"
#include "properboost/boosting/feature_race.hpp"
#include "properboost/boosting/feature_search.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/boosting/selection.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/learners/shrinkage.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

using learners::shrunk;
using Buffer = FeatureSearch::Buffer;

// Look-up tables: of the features up for selection, the one with the least cost is taken, or the
// one that is least likely to cost so little by chance.
class FeaturePlanner final : public Planner, private SumsAhead {
 public:
  FeaturePlanner(const RoundContext& context, const std::vector<const FeatureLearner*>& learners)
      : Planner(context),
        in_turn_(at_.algorithm.selection().in_turn()),
        allows_for_chance_(at_.algorithm.selection().allows_for_chance() &&
                           at_.algorithm.response().sees_every_difference()),
        search_(at_, learners, find_all_directions(learners)) {
    bool counts_rows = allows_for_chance_;
    for (const FeatureLearner* const learner : learners) {
      counts_rows |= learner->counts_rows() && at_.algorithm.response().sees_every_difference();
    }
    if (counts_rows) effective_.emplace(at_.rows, at_.weights, at_.batch);
    if (in_turn_) return;  // cyclic selection sums its cells as it moves
    builder_.emplace(search_.make_builder(at_.batch.blocks, at_.rows.bins.all_features()));
    if (effective_ && at_.algorithm.screening() > 0 && allows_for_chance_ &&
        at_.batch.margins->lanes() == 1) {
      race_.emplace(at_, search_, *effective_);
    }
  }

  std::size_t tables_per_estimator() const override {
    return at_.algorithm.selection().tables_per_estimator(at_.rows.bins.size());
  }

  PassRequest request(std::size_t t) override {
    PassRequest request;
    request.risk = at_.keep_rounds;
    if (!in_turn_) {
      if (at_.peers != nullptr && !race_ && at_.batch.margins->lanes() == 1) request.ahead = this;
      return request;
    }
    const std::size_t features = at_.rows.bins.size();
    request.cells.emplace(CellsOfFeature{search_.histogram(), t % features});
    at_.rows.codes.read_ahead((t + 1) % features);  // codes may lie in a file
    request.keeps_weights = effective_.has_value();
    return request;
  }

  std::vector<RoundUpdate> plan(std::size_t t, const std::vector<bool>& active,
                                const std::function<void()>& /*progress*/, Team& team) override {
    if (race_ && active[0]) {
      if (const auto winner = race_->run(team)) {
        std::vector<RoundUpdate> updates;
        updates.push_back(plan_chosen(0, winner->feature, winner->rows, team));
        if (updates[0].moves) return updates;
      }
    }
    if (!take_sums_ahead()) sum_all(team);
    const Candidates candidates = at_.algorithm.selection().candidates(t, at_.rows.bins.size());
    const std::size_t lanes = at_.batch.models.size();
    const std::vector<EffectiveRows> rows =
        effective_ ? effective_->count() : std::vector<EffectiveRows>(lanes);
    std::vector<double> costs(lanes * candidates.size());
    std::vector<Contrast> contrasts(allows_for_chance_ ? costs.size() : 0);
    const auto compares_chance = [&](std::size_t k) {
      return allows_for_chance_ && rows[k].known();
    };
    const double nanoseconds =
        4.0 * static_cast<double>(lanes) *
        static_cast<double>(at_.rows.bins.total_width() * candidates.size()) /
        static_cast<double>(at_.rows.bins.size());
    team.for_each(candidates.size(), nanoseconds, [&](std::size_t c) {
      Buffer buffer;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        const std::size_t i = k * candidates.size() + c;
        const FeatureCells cells = search_.cells(candidates.first + c, k, buffer);
        if (compares_chance(k)) {
          contrasts[i] = search_.contrast_of(cells, k, rows[k]);
        } else {
          costs[i] = search_.cost_of(cells, k, rows[k]);
        }
      }
    });
    std::vector<RoundUpdate> updates(lanes);
    // Another feature may move where the least likely one does not: its categories say nothing once
    // they are shrunk, or it may only move the wrong way.
    const auto plan_by_chance = [&](std::size_t k) {
      Contrast* const own = &contrasts[k * candidates.size()];
      for (bool first = true;; first = false) {
        const std::size_t best = least_likely(own, candidates.size(), rows[k]);
        RoundUpdate update = plan_chosen(k, candidates.first + best, rows[k], team);
        const bool may_others = !update.moves && own[best].chi_square > 0.0;
        if (update.moves || first) updates[k] = std::move(update);
        if (!may_others) return;
        own[best] = {};  // it is not tried again
      }
    };
    const auto plan_lane = [&](std::size_t k) {
      if (!active[k]) return;
      if (compares_chance(k)) {
        plan_by_chance(k);
        return;
      }
      double* const own = &costs[k * candidates.size()];
      Buffer buffer, other;
      // A feature that may only move the wrong way must not keep others from moving.
      const std::size_t most = search_.has_directions(k) ? candidates.size() : 1;
      for (std::size_t tried = 0; tried < most; ++tried) {
        const std::size_t best = first_best(own, candidates.size());
        if (tried > 0 && own[best] == kNone) return;
        const FeatureCells cells = search_.cells(candidates.first + best, k, buffer);
        const FeatureCells seen = see(cells, k, rows[k], other);
        RoundUpdate update =
            plan_table(k, candidates.first + best, own[best], cells, seen, rows[k], team);
        own[best] = kNone;
        if (update.moves || tried == 0) updates[k] = std::move(update);
        if (updates[k].moves) return;
      }
    };
    if (at_.algorithm.response().looks_at_rows()) {
      for (std::size_t k = 0; k < lanes; ++k) plan_lane(k);
    } else {
      team.for_each(lanes, 8'000.0 * static_cast<double>(lanes), plan_lane);
    }
    return updates;
  }

 private:
  // Sums what selection goes by.
  void sum_all(Team& team) {
    Share share = team.share();
    if (builder_) {
      search_.fill(*builder_, team);
      search_.histogram().add_to(share);
    }
    if (effective_) effective_->sum(share, team);
    share.go();
  }

  void sum(const CellUnits& units, double most_weight, bool fits, Share& share,
           Team& team) override {
    const bool fills = fits && builder_.has_value();
    Ahead& ahead = ahead_.emplace(Ahead{units, fills ? 0.0 : 1.0});
    if (fills) search_.fill(*builder_, {units}, team);  // of the only lane
    search_.histogram().add_to(share);
    if (effective_) effective_->sum_ahead(most_weight, fills, share, team);
    share.most(ahead.unfit);
  }

  // Takes the sums that were made ahead, if they are in the units that the weights turned out to
  // have; else they must be made again.
  bool take_sums_ahead() {
    const std::optional<Ahead> ahead = std::exchange(ahead_, std::nullopt);
    const BatchMargins& margins = *at_.batch.margins;
    if (!ahead || ahead->unfit > 0.0 || !ahead->units.same(margins.cell_units()[0])) return false;
    search_.histogram().set_units(margins.cell_units());
    return !effective_ || effective_->are_in_units_of(margins.most_weight(0));
  }

  std::vector<std::vector<Directions>> find_all_directions(
      const std::vector<const FeatureLearner*>& learners) const {
    std::vector<std::vector<Directions>> found;
    for (const FeatureLearner* const learner : learners) found.push_back(find_directions(*learner));
    return found;
  }

  // What a lane adds along a feature that was chosen for its contrast.
  RoundUpdate plan_chosen(std::size_t lane, std::size_t f, const EffectiveRows& rows,
                          Team& team) const {
    Buffer buffer, other;
    const FeatureCells cells = search_.cells(f, lane, buffer);
    const FeatureCells seen = see(cells, lane, rows, other);
    return plan_table(lane, f, search_.cost_of(seen, lane, rows), cells, seen, rows, team);
  }

  // What a lane's weak learner sees of a feature's cells.
  FeatureCells see(const FeatureCells& cells, std::size_t lane, const EffectiveRows& rows,
                   Buffer& buffer) const {
    const bool shrinks = allows_for_chance_ && search_.learner(lane).shrinks(cells);
    return shrinks ? shrunk(cells, rows, buffer) : cells;
  }

  // The weak learner sees `seen` of what is in the feature's cells.
  RoundUpdate plan_table(std::size_t lane, std::size_t f, double cost, const FeatureCells& feature,
                         const FeatureCells& seen, const EffectiveRows& rows, Team& team) const {
    RoundUpdate update;
    update.feature = static_cast<std::int32_t>(f);
    update.codes = at_.rows.codes.feature(f);
    const Response& response = at_.algorithm.response();
    const Regularizers& r = at_.batch.regularizers[lane];
    const CellOrder order(seen);
    Partition partition = search_.partition_of(seen, lane, order, rows);
    if (search_.learner(lane).has_criterion()) {  // rounds hold the response's cost all the same
      cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    }
    set_table(update, lane, feature.cells, feature.width(), cost, std::move(partition), order,
              team);
    return update;
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();

  // The units that sums were made in before it was known, and whether any process's do not fit.
  struct Ahead {
    CellUnits units;
    double unfit;
  };

  const bool in_turn_;
  const bool allows_for_chance_;
  FeatureSearch search_;
  std::optional<HistogramBuilder> builder_;
  std::optional<EffectiveRowCount> effective_;
  std::optional<FeatureRace> race_;
  std::optional<Ahead> ahead_;
};

}  // namespace

std::unique_ptr<Planner> make_feature_planner(const RoundContext& context,
                                              const std::vector<const FeatureLearner*>& learners) {
  return std::make_unique<FeaturePlanner>(context, learners);
}

}  // namespace properboost
