#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/learners/shrinkage.hpp"
#include "properboost/planning/effective_rows.hpp"
#include "properboost/planning/feature_race.hpp"
#include "properboost/planning/feature_search.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

using learners::shrunk;
using Buffer = FeatureSearch::Buffer;

// The sums that a batch selects features by: its histogram, and the rows that its weights are
// worth.
//
// A plan makes them when it needs them.  Where there are peers, a row pass may make them ahead, in
// units that are a guess; then they travel with the sums of the pass, and if the guess was right,
// the plan has nothing to wait for.
class SelectionSums final : public SumsAhead {
 public:
  // `builder` is null where the pass itself fills the histogram, `effective` where those rows are
  // not needed.  All arguments must outlive it.
  SelectionSums(const RoundContext& context, FeatureSearch& search, HistogramBuilder* builder,
                EffectiveRowCount* effective)
      : at_(context), search_(search), builder_(builder), effective_(effective) {}

  // Makes those under the weights of the last pass, unless they are there.
  void make(Team& team) {
    if (take_guess()) return;
    AllReduce all_reduce = team.all_reduce();
    if (builder_ != nullptr) {
      search_.fill(*builder_, team);
      search_.histogram().add_to(all_reduce);
    }
    if (effective_ != nullptr) effective_->sum(all_reduce, team);
    all_reduce.run();
  }

  void sum(const CellUnits& units, double most_weight, bool fits, AllReduce& all_reduce,
           Team& team) override {
    const bool fills = fits && builder_ != nullptr;
    Guess& guess = guess_.emplace(Guess{units, fills ? 0.0 : 1.0});
    if (fills) search_.fill(*builder_, {units}, team);  // of the only lane
    search_.histogram().add_to(all_reduce);
    if (effective_ != nullptr) effective_->sum_ahead(most_weight, fills, all_reduce, team);
    all_reduce.most(guess.unfit);
  }

 private:
  // The units that sums were made in ahead, and whether any process's sums do not fit them.
  struct Guess {
    CellUnits units;
    double unfit;
  };

  // Takes the sums that were made ahead, if their units are those of the weights.
  bool take_guess() {
    const std::optional<Guess> guess = std::exchange(guess_, std::nullopt);
    const BatchMargins& margins = *at_.batch.margins;
    if (!guess || guess->unfit > 0.0 || !guess->units.same(margins.cell_units()[0])) return false;
    search_.histogram().set_units(margins.cell_units());
    return effective_ == nullptr || effective_->are_in_units_of(margins.most_weight(0));
  }

  const RoundContext& at_;
  FeatureSearch& search_;
  HistogramBuilder* const builder_;
  EffectiveRowCount* const effective_;
  std::optional<Guess> guess_;
};

// Look-up tables: of the features up for selection, the one with the least cost is taken, or the
// one that is least likely to cost so little by chance.
class FeaturePlanner final : public Planner {
 public:
  FeaturePlanner(const RoundContext& context, const std::vector<const FeatureLearner*>& learners)
      : Planner(context),
        in_turn_(at_.algorithm.selection().in_turn()),
        allows_for_chance_(at_.algorithm.selection().allows_for_chance() &&
                           at_.algorithm.response().sees_every_difference()),
        search_(at_, learners, find_all_directions(learners)),
        chosen_(learners.size()) {
    bool counts_rows = allows_for_chance_;
    for (const FeatureLearner* const learner : learners) {
      counts_rows |= learner->counts_rows() && at_.algorithm.response().sees_every_difference();
    }
    if (counts_rows) effective_.emplace(at_.rows, at_.weights, at_.batch);
    if (!in_turn_) {  // cyclic selection sums its cells as it moves
      builder_.emplace(search_.make_builder(at_.batch.blocks, at_.rows.bins.all_features()));
    }
    sums_ = std::make_unique<SelectionSums>(at_, search_, builder_ ? &*builder_ : nullptr,
                                            effective_ ? &*effective_ : nullptr);
    if (!in_turn_ && effective_ && at_.algorithm.least_screen() > 0 && allows_for_chance_ &&
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
      const bool is_lone = at_.batch.margins->lanes() == 1;
      if (at_.peers != nullptr && !race_ && is_lone) request.ahead = sums_.get();
      return request;
    }
    const std::size_t features = at_.rows.bins.size();
    request.cells.emplace(
        CellsOfFeature{search_.histogram(), t % features, next_.of(at_.rows.codes, t % features)});
    at_.rows.codes.read_ahead((t + 1) % features);  // codes may lie in a file
    request.keeps_weights = effective_.has_value();
    return request;
  }

  std::vector<RoundUpdate> plan(std::size_t t, const std::vector<bool>& active,
                                const std::function<void()>& /*progress*/, Team& team) override {
    std::vector<RoundUpdate> updates(at_.batch.models.size());
    if (race_ && active[0]) {
      updates[0] = plan_winner(*race_, team);
      if (updates[0].moves) return updates;
    }
    sums_->make(team);
    const Candidates candidates = at_.algorithm.selection().candidates(t, at_.rows.bins.size());
    std::vector<Comparison> comparisons = compare(candidates, active, team);
    const auto plan_lane = [&](std::size_t k) {
      Comparison& lane = comparisons[k];
      if (!active[k]) return;
      updates[k] = lane.by_chance ? plan_least_likely(lane, k, candidates.first, team)
                                  : plan_cheapest(lane, k, candidates.first, team);
    };
    if (at_.algorithm.response().reads_rows()) {
      for (std::size_t k = 0; k < updates.size(); ++k) plan_lane(k);
    } else {
      team.for_each(updates.size(), 8'000.0 * static_cast<double>(updates.size()), plan_lane);
    }
    share_codes(updates);
    return updates;
  }

 private:
  // A lane chooses among its candidates by their contrasts, where it is known how much chance does,
  // or else by their costs.
  struct Comparison {
    EffectiveRows rows;
    bool by_chance = false;
    std::vector<double> costs = {};
    std::vector<Contrast> contrasts = {};
  };

  std::vector<Comparison> compare(const Candidates& candidates, const std::vector<bool>& active,
                                  Team& team) const {
    const std::vector<EffectiveRows> rows =
        effective_ ? effective_->count() : std::vector<EffectiveRows>(at_.batch.models.size());
    std::vector<Comparison> lanes;
    for (const EffectiveRows& of_lane : rows) {
      Comparison& lane = lanes.emplace_back(Comparison{of_lane});
      lane.by_chance = allows_for_chance_ && of_lane.known();
      if (lane.by_chance) {
        lane.contrasts.resize(candidates.size());
      } else {
        lane.costs.resize(candidates.size());
      }
    }
    const double nanoseconds =
        4.0 * static_cast<double>(lanes.size()) *
        static_cast<double>(at_.rows.bins.total_width() * candidates.size()) /
        static_cast<double>(at_.rows.bins.size());
    team.for_each(candidates.size(), nanoseconds, [&](std::size_t c) {
      Buffer buffer;
      for (std::size_t k = 0; k < lanes.size(); ++k) {
        if (!active[k]) continue;
        Comparison& lane = lanes[k];
        const std::size_t f = candidates.first + c;
        const FeatureCells cells = search_.cells(f, k, buffer);
        if (lane.by_chance) {
          lane.contrasts[c] = search_.contrast_of(cells, f, k, lane.rows);
        } else {
          lane.costs[c] = search_.cost_of(cells, k, lane.rows);
        }
      }
    });
    return lanes;
  }

  // Lanes that move along the same feature have the same codes, by which a pass joins them.
  static void share_codes(std::vector<RoundUpdate>& updates) {
    for (RoundUpdate& update : updates) {
      const auto first = std::find_if(updates.begin(), updates.end(), [&](const RoundUpdate& u) {
        return u.codes != nullptr && u.feature == update.feature;
      });
      if (update.codes != nullptr) update.codes = first->codes;
    }
  }

  // Plans along the feature that wins the race; nothing moves if there is none.
  RoundUpdate plan_winner(FeatureRace& race, Team& team) {
    const std::optional<FeatureRace::Winner> winner = race.run(team);
    return winner ? plan_chosen(0, winner->feature, winner->rows, team) : RoundUpdate();
  }

  // Another candidate may move where the least likely one does not: its categories may be pooled
  // once they are shrunk, or it may only move the wrong way.  If none moves, the first stands.
  RoundUpdate plan_least_likely(Comparison& lane, std::size_t k, std::size_t first, Team& team) {
    std::optional<RoundUpdate> fallback;
    for (;;) {
      const std::size_t best =
          least_likely(lane.contrasts.data(), lane.contrasts.size(), lane.rows);
      RoundUpdate update = plan_chosen(k, first + best, lane.rows, team);
      if (update.moves) return update;
      if (!fallback) fallback = std::move(update);
      if (!(lane.contrasts[best].chi_square > 0.0)) return std::move(*fallback);
      lane.contrasts[best] = {};  // it is not tried again
    }
  }

  // A feature that may only move the wrong way must not keep others from moving.  If none moves,
  // the cheapest stands.
  RoundUpdate plan_cheapest(Comparison& lane, std::size_t k, std::size_t first, Team& team) {
    std::vector<double>& costs = lane.costs;
    Buffer buffer, other;
    RoundUpdate first_tried;
    const std::size_t most = search_.has_directions(k) ? costs.size() : 1;
    for (std::size_t tried = 0; tried < most; ++tried) {
      const std::size_t best = first_best(costs.data(), costs.size());
      if (tried > 0 && costs[best] == kNone) break;
      const FeatureCells cells = search_.cells(first + best, k, buffer);
      const FeatureCells seen = cells_for_learner(cells, k, lane.rows, other);
      RoundUpdate update = plan_table(k, first + best, costs[best], cells, seen, lane.rows, team);
      if (update.moves) return update;
      if (tried == 0) first_tried = std::move(update);
      costs[best] = kNone;
    }
    return first_tried;
  }

  std::vector<std::vector<Directions>> find_all_directions(
      const std::vector<const FeatureLearner*>& learners) const {
    std::vector<std::vector<Directions>> directions;
    for (const FeatureLearner* const learner : learners)
      directions.push_back(find_directions(*learner));
    return directions;
  }

  // The update of a lane along a feature that was chosen for its contrast.
  RoundUpdate plan_chosen(std::size_t lane, std::size_t f, const EffectiveRows& rows, Team& team) {
    Buffer buffer, other;
    const FeatureCells cells = search_.cells(f, lane, buffer);
    const FeatureCells seen = cells_for_learner(cells, lane, rows, other);
    return plan_table(lane, f, search_.cost_of(seen, lane, rows), cells, seen, rows, team);
  }

  // The cells of a feature for a lane's weak learner: shrunk, if it allows for chance.
  FeatureCells cells_for_learner(const FeatureCells& cells, std::size_t lane,
                                 const EffectiveRows& rows, Buffer& buffer) const {
    const bool shrinks = allows_for_chance_ && search_.learner(lane).shrinks(cells);
    return shrinks ? shrunk(cells, rows, buffer) : cells;
  }

  // The weak learner uses `seen`, which may be shrunk from the feature's cells.
  RoundUpdate plan_table(std::size_t lane, std::size_t f, double cost, const FeatureCells& feature,
                         const FeatureCells& seen, const EffectiveRows& rows, Team& team) {
    RoundUpdate update;
    update.feature = static_cast<std::int32_t>(f);
    update.codes = chosen_[lane].of(at_.rows.codes, f);
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

  const bool in_turn_;
  const bool allows_for_chance_;
  FeatureSearch search_;
  std::optional<HistogramBuilder> builder_;
  std::optional<EffectiveRowCount> effective_;
  std::unique_ptr<SelectionSums> sums_;
  std::optional<FeatureRace> race_;
  std::vector<WholeFeature> chosen_;  // by each lane
  WholeFeature next_;                 // in turn
};

}  // namespace

std::unique_ptr<Planner> make_feature_planner(const RoundContext& context,
                                              const std::vector<const FeatureLearner*>& learners) {
  return std::make_unique<FeaturePlanner>(context, learners);
}

}  // namespace properboost
