#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "properboost/boosting/effective_rows.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/boosting/row_screen.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/learners/shrinkage.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

using learners::shrunk;

// Look-up tables: of the features up for selection, the one with the least cost is taken, or the
// one that is least likely to cost so little by chance.
class FeaturePlanner final : public Planner {
 public:
  FeaturePlanner(const RoundContext& context, std::vector<const FeatureLearner*> learners)
      : Planner(context),
        learners_(std::move(learners)),
        in_turn_(at_.algorithm.selection().in_turn()),
        allows_for_chance_(at_.algorithm.selection().allows_for_chance() &&
                           at_.algorithm.response().sees_every_difference()),
        histogram_(at_.rows.bins, at_.batch.margins->lanes(),
                   at_.algorithm.response().needs_curvature()) {
    bool counts_rows = allows_for_chance_;
    for (const FeatureLearner* const learner : learners_) {
      directions_.push_back(find_directions(*learner));
      counts_rows |= learner->counts_rows() && at_.algorithm.response().sees_every_difference();
    }
    if (counts_rows) effective_.emplace(at_.rows, at_.weights, at_.batch);
    if (in_turn_) return;  // cyclic selection sums its cells as it moves
    builder_.emplace(make_builder(at_.batch.blocks, at_.rows.bins.all_features()));
    if (at_.algorithm.screening() > 0 && allows_for_chance_ && at_.batch.margins->lanes() == 1) {
      screening_.emplace(at_.rows, at_.batch);
    }
  }

  std::size_t tables_per_estimator() const override {
    return at_.algorithm.selection().tables_per_estimator(at_.rows.bins.size());
  }

  PassRequest request(std::size_t t) override {
    if (!in_turn_) return {{}, at_.keep_rounds};
    PassRequest request{CellsOfFeature{histogram_, t % at_.rows.bins.size()}, at_.keep_rounds};
    request.keeps_weights = effective_.has_value();
    return request;
  }

  std::vector<RoundUpdate> plan(std::size_t t, const std::vector<bool>& active,
                                const std::function<void()>& /*progress*/, Team& team) override {
    const BatchMargins& margins = *at_.batch.margins;
    if (screening_ && effective_ && active[0]) {
      std::vector<RoundUpdate> updates(1);
      updates[0] = plan_by_race(*screening_, *effective_, team);
      if (updates[0].moves) return updates;
    }
    Share share = team.share();
    if (builder_) {
      builder_->fill(margins.weight(), margins.curvature(), margins.cell_units(), histogram_, team);
      histogram_.add_to(share);
    }
    const Candidates candidates = at_.algorithm.selection().candidates(t, at_.rows.bins.size());
    const std::size_t lanes = at_.batch.models.size();
    if (effective_) effective_->sum(share, team);
    share.go();
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
      std::array<Cell, kMaxCodes> buffer;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        const std::size_t i = k * candidates.size() + c;
        const FeatureCells cells = feature(candidates.first + c, k, buffer);
        if (compares_chance(k)) {
          contrasts[i] = contrast_of(cells, k, rows[k]);
        } else {
          costs[i] = cost_of(cells, k, rows[k]);
        }
      }
    });
    std::vector<RoundUpdate> updates(lanes);
    const auto plan_lane = [&](std::size_t k) {
      if (!active[k]) return;
      double* const own = &costs[k * candidates.size()];
      std::array<Cell, kMaxCodes> buffer, other;
      const auto see = [&](const FeatureCells& cells) {
        return allows_for_chance_ ? shrunk(cells, rows[k], other) : cells;
      };
      if (compares_chance(k)) {
        const std::size_t best =
            least_likely(&contrasts[k * candidates.size()], candidates.size(), rows[k]);
        updates[k] = plan_chosen(k, candidates.first + best, rows[k], team);
        if (updates[k].moves) return;  // else another feature may
        for (std::size_t c = 0; c < candidates.size(); ++c) {
          own[c] = cost_of(see(feature(candidates.first + c, k, buffer)), k, rows[k]);
        }
      }
      // A feature that may only move the wrong way must not keep others from moving.
      const std::size_t most = directions_[k].empty() ? 1 : candidates.size();
      for (std::size_t tried = 0; tried < most; ++tried) {
        const std::size_t best = first_best(own, candidates.size());
        if (tried > 0 && own[best] == kNone) return;
        const FeatureCells cells = feature(candidates.first + best, k, buffer);
        const FeatureCells seen = see(cells);
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
  const FeatureLearner& learner(std::size_t lane) const { return *learners_[lane]; }
  const Criterion& criterion(std::size_t lane) const {
    return learner(lane).criterion_or(at_.algorithm.response());
  }

  FeatureCells feature(std::size_t f, std::size_t lane, std::array<Cell, kMaxCodes>& buffer) const {
    FeatureCells cells = histogram_.feature(
        f, lane, at_.batch.occupied.data() + lane * at_.rows.bins.total_width(), buffer);
    if (!directions_[lane].empty()) cells.directions = directions_[lane][f];
    return cells;
  }

  double cost_of(const FeatureCells& feature, std::size_t lane, const EffectiveRows& rows) const {
    const Regularizers& r = at_.batch.regularizers[lane];
    if (!feature.are_in_order()) return learner(lane).cost(feature, criterion(lane), r, rows);
    const Partition partition = partition_of(feature, lane, CellOrder(feature), rows);
    return criterion(lane).cost(partition.cells.data(), partition.cells.size(), r);
  }

  Contrast contrast_of(const FeatureCells& feature, std::size_t lane,
                       const EffectiveRows& rows) const {
    const Regularizers& r = at_.batch.regularizers[lane];
    const Contrast free = learner(lane).contrast(feature, criterion(lane), r, rows);
    if (!feature.are_in_order() || !(free.chi_square > 0.0)) return free;
    Partition partition = learner(lane).partition(feature, criterion(lane), r, {});
    partition.gather(feature);
    CellOrder(feature).pool_by_share(partition, criterion(lane).needs_curvature());
    return {chi_square(partition.cells.data(), partition.cells.size(), rows),
            learner(lane).freedom(feature)};
  }

  // The cells of the learner, in order.
  Partition partition_of(const FeatureCells& feature, std::size_t lane, const CellOrder& order,
                         const EffectiveRows& rows) const {
    Partition partition =
        learner(lane).partition(feature, criterion(lane), at_.batch.regularizers[lane], rows);
    order.pool_by_share(partition, criterion(lane).needs_curvature());
    return partition;
  }

  // What a lane adds along a feature that was chosen for its contrast.
  RoundUpdate plan_chosen(std::size_t lane, std::size_t f, const EffectiveRows& rows,
                          Team& team) const {
    std::array<Cell, kMaxCodes> buffer, other;
    const FeatureCells cells = feature(f, lane, buffer);
    const FeatureCells seen = shrunk(cells, rows, other);
    return plan_table(lane, f, cost_of(seen, lane, rows), cells, seen, rows, team);
  }

  HistogramBuilder make_builder(const std::vector<AccumulationBlock>& blocks,
                                std::vector<std::size_t> features) const {
    return {at_.rows,
            blocks,
            std::move(features),
            at_.batch.crowding,
            at_.batch.margins->lanes(),
            at_.algorithm.response().needs_curvature(),
            at_.memory};
  }

  // What a lone lane adds along the feature that wins a race: the fewer features are left, the more
  // rows they are compared by.  Nothing moves if there are too few rows for one.
  RoundUpdate plan_by_race(RowScreen& screening, EffectiveRowCount& effective, Team& team) {
    constexpr std::size_t kMoreRows = 4, kFewerFeatures = 4, kFewest = 4;
    std::vector<std::size_t> left = at_.rows.bins.all_features();
    std::size_t size = at_.algorithm.screening();
    std::optional<Screen> screen = screening.screen(at_.round(0), size, team);
    if (!screen) return {};
    while (screen && left.size() > kFewest) {
      const std::vector<Contrast> contrasts = compare(*screen, left, effective, team).contrasts;
      left = leading(contrasts, left, std::max(kFewest, left.size() / kFewerFeatures));
      size *= kMoreRows;
      screen = screening.screen(at_.round(0), size, team);
    }
    const auto [contrasts, rows] = compare(Screen{at_.batch.blocks}, left, effective, team);
    if (!rows.known()) return {};
    const std::size_t best = least_likely(contrasts.data(), left.size(), rows);
    return plan_chosen(0, left[best], rows, team);
  }

  // How some features tell the classes of a screen's rows apart.
  struct Compared {
    std::vector<Contrast> contrasts;
    EffectiveRows rows;
  };
  Compared compare(const Screen& screen, const std::vector<std::size_t>& features,
                   EffectiveRowCount& effective, Team& team) {
    const BatchMargins& margins = *at_.batch.margins;
    make_builder(screen.blocks, features)
        .fill(margins.weight(), margins.curvature(), margins.cell_units(), histogram_, team);
    Share share = team.share();
    for (const std::size_t f : features) histogram_.add_to(share, f);
    effective.sum(screen.blocks, share, team);
    share.go();
    Compared found{std::vector<Contrast>(features.size()), effective.count().front()};
    if (!found.rows.known()) return found;
    const double nanoseconds = 4.0 * static_cast<double>(at_.rows.bins.total_width()) *
                               static_cast<double>(features.size()) /
                               static_cast<double>(at_.rows.bins.size());
    team.for_each(features.size(), nanoseconds, [&](std::size_t i) {
      std::array<Cell, kMaxCodes> buffer;
      const FeatureCells cells = feature(features[i], 0, buffer);
      scale(buffer, cells.width(), screen);
      found.contrasts[i] = contrast_of(cells, 0, found.rows);
    });
    return found;
  }

  // At most so many features, the best first in the order of all, and none that is clearly worse.
  static std::vector<std::size_t> leading(const std::vector<Contrast>& contrasts,
                                          const std::vector<std::size_t>& features,
                                          std::size_t most) {
    constexpr double kClearly = 4.0;  // standard deviations of either
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < features.size(); ++i) {
      order.emplace_back(-contrasts[i].deviate(), features[i]);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> left;
    for (const auto& [deviate, f] : order) {
      if (left.size() < most && deviate <= order.front().first + kClearly) left.push_back(f);
    }
    std::sort(left.begin(), left.end());
    return left;
  }

  // Curvatures are not kept by class; they matter for where a feature is cut, in all cells alike.
  static void scale(std::array<Cell, kMaxCodes>& cells, std::size_t n, const Screen& screen) {
    for (std::size_t b = 0; b < n; ++b) {
      Cell& cell = cells[b];
      const double before = cell.positive + cell.negative;
      cell.positive *= screen.positive;
      cell.negative *= screen.negative;
      if (before > 0.0) cell.curvature *= (cell.positive + cell.negative) / before;
    }
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
    Partition partition = partition_of(seen, lane, order, rows);
    if (learner(lane).has_criterion()) {  // rounds hold the response's cost all the same
      cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    }
    set_table(update, lane, feature.cells, feature.width(), cost, std::move(partition), order,
              team);
    return update;
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();

  const std::vector<const FeatureLearner*> learners_;  // of the lanes
  std::vector<std::vector<Directions>> directions_;    // the same; empty where there are none
  const bool in_turn_;
  const bool allows_for_chance_;
  Histogram histogram_;
  std::optional<HistogramBuilder> builder_;
  std::optional<EffectiveRowCount> effective_;
  std::optional<RowScreen> screening_;
};

}  // namespace

std::unique_ptr<Planner> make_feature_planner(const RoundContext& context,
                                              std::vector<const FeatureLearner*> learners) {
  return std::make_unique<FeaturePlanner>(context, std::move(learners));
}

}  // namespace properboost
