#include "properboost/boosting/planner.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "properboost/boosting/vote_planner.hpp"
#include "properboost/core/random.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/trees/split.hpp"
#include "properboost/trees/tree_grower.hpp"

namespace properboost {
namespace {

// Look-up tables: among the features that are up for selection, the one of least cost.
class FeaturePlanner final : public Planner {
 public:
  explicit FeaturePlanner(const Workplace& at)
      : Planner(at),
        in_turn_(at.settings.selection->in_turn()),
        histogram_(at.bins, at.pack.margins->lanes(), at.settings.response->needs_curvature()) {
    if (in_turn_) return;  // cyclic selection sums its cells as it moves
    builder_.emplace(
        HistogramRows{at.codes, at.bins, at.weights.data(), at.pack.blocks, at.pack.crowding},
        at.pack.margins->lanes(), at.settings.response->needs_curvature());
  }

  std::size_t tables_per_estimator() const override {
    return at_.settings.selection->tables_per_estimator(at_.bins.size());
  }

  Orders orders(std::size_t t) override {
    return {in_turn_ ? &histogram_ : nullptr, t % at_.bins.size(), at_.settings.keep_rounds, false};
  }

  std::vector<Plan> plan(std::size_t t, const std::vector<bool>& active,
                         const std::function<void()>& /*progress*/, Team& team) override {
    const Margins& margins = *at_.pack.margins;
    if (!in_turn_) {
      builder_->fill(margins.weight(), margins.curvature(), histogram_, team);
    }
    const Candidates candidates = at_.settings.selection->candidates(t, at_.bins.size());
    const std::size_t lanes = at_.pack.models.size();
    std::vector<double> costs(lanes * candidates.size());
    const double nanoseconds = 4.0 * static_cast<double>(lanes) *
                               static_cast<double>(at_.bins.total_width() * candidates.size()) /
                               static_cast<double>(at_.bins.size());
    team.for_each(candidates.size(), nanoseconds, [&](std::size_t c) {
      std::array<Cell, kMaxCodes> buffer;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        costs[k * candidates.size() + c] = learner(k).cost(
            feature(candidates.first + c, k, buffer),
            learner(k).criterion_or(*at_.settings.response), at_.pack.regularizers[k]);
      }
    });
    std::vector<Plan> plans(lanes);
    const auto plan_lane = [&](std::size_t k) {
      if (!active[k]) return;
      const double* own = costs.data() + k * candidates.size();
      const std::size_t best = first_best(own, candidates.size());
      plans[k] = plan_table(k, candidates.first + best, own[best], team);
    };
    if (at_.settings.response->looks_at_rows()) {
      for (std::size_t k = 0; k < lanes; ++k) plan_lane(k);
    } else {
      team.for_each(lanes, 8'000.0 * static_cast<double>(lanes), plan_lane);
    }
    return plans;
  }

 private:
  const FeatureLearner& learner(std::size_t lane) const {
    return static_cast<const FeatureLearner&>(*model(lane).weak_learner);
  }

  FeatureCells feature(std::size_t f, std::size_t lane, std::array<Cell, kMaxCodes>& buffer) const {
    return histogram_.feature(f, lane, at_.pack.occupied.data() + lane * at_.bins.total_width(),
                              buffer);
  }

  Plan plan_table(std::size_t lane, std::size_t f, double cost, Team& team) const {
    std::array<Cell, kMaxCodes> buffer;
    const FeatureCells feature = this->feature(f, lane, buffer);
    Plan plan;
    plan.feature = static_cast<std::int32_t>(f);
    plan.codes = at_.codes.feature(f);
    const Response& response = *at_.settings.response;
    const Regularizers& r = at_.pack.regularizers[lane];
    const Partition partition =
        learner(lane).partition(feature, learner(lane).criterion_or(response), r);
    if (learner(lane).has_criterion()) {  // rounds hold the response's score all the same
      cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    }
    set_table(plan, lane, feature.cells, feature.width(), cost, partition, team);
    return plan;
  }

  bool in_turn_;
  Histogram histogram_;
  std::optional<HistogramBuilder> builder_;
};

// Trees, one model at a time.
class TreePlanner final : public Planner {
 public:
  explicit TreePlanner(const Workplace& at)
      : Planner(at),
        learner_(static_cast<const GrownLearner&>(*model(0).weak_learner)),
        limits_(learner_.limits),
        grower_(at.codes, *at.packed, at.bins, Slots::of_classes(model(0).roles)),
        nodes_(at.codes.rows) {
    limits_.child_weight /= at.weights.scale;
    if (!limits_.directions.empty() && limits_.directions.size() != at.bins.size()) {
      throw std::invalid_argument("directions must have an entry a feature");
    }
  }

  std::size_t tables_per_estimator() const override { return 1; }
  Orders orders(std::size_t) override { return {nullptr, 0, at_.settings.keep_rounds, false}; }

  std::vector<Plan> plan(std::size_t, const std::vector<bool>& active,
                         const std::function<void()>& progress, Team& team) override {
    std::vector<Plan> plans(1);
    if (!active[0]) return plans;
    Plan& plan = plans[0];
    Margins& margins = *at_.pack.margins;
    const Response& response = *at_.settings.response;
    const Criterion& criterion = learner_.criterion_or(response);
    const Regularizers& r = at_.pack.regularizers[0];
    const RowWeights rows{margins.weight(), margins.curvature(), at_.weights.data(),
                          learner_.subsample};
    const std::uint64_t key = draw_bits(learner_.seed, 0, round(0));
    plan.tree = grower_.grow(rows, criterion, r, limits_, key, progress, team);
    grower_.find_nodes(plan.tree, nodes_.data(), team);
    plan.feature = Rounds::kTree;
    plan.codes = nodes_.data();

    const Partition partition = learner_.partition(plan.tree);
    const double cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    std::vector<Cell> by_node = plan.tree.cell;
    for (std::size_t node = 0; node < by_node.size(); ++node) {
      if (!plan.tree.is_leaf(node)) by_node[node] = Cell{};  // its rows are further down
    }
    set_table(plan, 0, by_node.data(), by_node.size(), cost, partition, team);
    plan.tree.cell = grower_.weigh(plan.tree, at_.weights.data(), team);
    for (Cell& cell : plan.tree.cell) {
      cell.positive *= at_.weights.scale;
      cell.negative *= at_.weights.scale;
    }
    for (double& saving : plan.tree.saving) saving *= at_.weights.scale;
    average_inner_nodes(plan, partition);
    if (!limits_.directions.empty()) constrain(plan, partition);
    if (learner_.subsample < 1.0 || !limits_.directions.empty()) look_again(plan, team);
    plan.may_move_later = learner_.subsample < 1.0 || limits_.max_features < 1.0;
    return plans;
  }

 private:
  // A row that stays at an inner node gets the mean of the leaves below, by training weight, unless
  // it belongs to their cells.
  static void average_inner_nodes(Plan& plan, const Partition& partition) {
    const Tree& tree = plan.tree;
    for (std::size_t node = tree.size(); node-- > 0;) {  // children come after their parents
      if (partition.occupied[partition.cell_of[node]] != 0) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      const double total = tree.cell[node].weight();
      const double share = total > 0.0 ? tree.cell[left].weight() / total : 0.5;
      plan.table[node] = share * plan.table[left] + (1.0 - share) * plan.table[left + 1];
    }
  }

  // Keeps the leaves on either side of a split whose feature has a direction apart, by the middle
  // of the two sides' means.
  void constrain(Plan& plan, const Partition& partition) const {
    const Tree& tree = plan.tree;
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> bounds(tree.size(), {-kFar, kFar});
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const auto [low, high] = bounds[node];
      plan.table[node] = std::clamp(plan.table[node], low, high);
      if (tree.is_leaf(node)) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      bounds[left] = bounds[left + 1] = bounds[node];
      const auto direction = limits_.directions[static_cast<std::size_t>(tree.feature[node])];
      if (direction == 0) continue;
      const double middle = std::clamp(0.5 * (plan.table[left] + plan.table[left + 1]), low, high);
      bounds[direction > 0 ? left : left + 1].second = middle;
      bounds[direction > 0 ? left + 1 : left].first = middle;
    }
    average_inner_nodes(plan, partition);
  }

  // The slope along a table that the tree's own sums do not tell.
  void look_again(Plan& plan, Team& team) const {
    plan.slope = Looks(*at_.pack.margins, 0, plan.codes, plan.table, team).look(0.0);
    plan.moves = plan.slope > 0.0;
  }

  const GrownLearner& learner_;
  TreeLimits limits_;
  TreeGrower grower_;
  Aligned<std::uint8_t> nodes_;
};

}  // namespace

SampleWeights::SampleWeights(const double* weight, std::size_t n) {
  if (weight == nullptr) return;
  const double total = std::accumulate(weight, weight + n, 0.0);
  scale = std::exp2(std::round(std::log2(total / static_cast<double>(n))));
  scaled.resize(n);
  for (std::size_t i = 0; i < n; ++i) scaled[i] = weight[i] / scale;
}

void Planner::set_table(Plan& plan, std::size_t lane, const Cell* by_code, std::size_t width,
                        double cost, const Partition& partition, Team& team) const {
  const Response& response = *at_.settings.response;
  Margins& margins = *at_.pack.margins;
  Regularizers r = at_.pack.regularizers[lane];
  plan.largest = r.largest;
  plan.table.assign(width, 0.0);
  plan.width = width;
  double total_weight = 0.0;
  for (std::size_t b = 0; b < width; ++b) total_weight += by_code[b].weight();
  require_finite(total_weight, "total weight", round(lane));
  if (total_weight <= 0.0) return;  // every row is beyond the loss's reach
  require_finite(cost, "score", round(lane));
  // What the search saw: class weights normalised to sum 1, or a reduction of the risk.
  plan.score = response.score(cost) /
               (response.is_score_a_sum_of_weights() ? total_weight : 1.0 / at_.weights.scale);

  const double rows_weight = margins.training_weight(lane);
  const double prior = model(lane).prior > 0.0
                           ? model(lane).prior
                           : 1.0 / (rows_weight * at_.weights.scale *
                                    static_cast<double>(partition.occupied_cells()));
  r.prior = std::max(prior * total_weight, std::numeric_limits<double>::min());
  r.pseudo_rows = prior * rows_weight;
  std::vector<double> values(partition.cells.size(), 0.0);
  Margins::ByCell rows(margins, lane, plan.codes, partition.shares, values.size(), team);
  response.values(partition.cells.data(), values.size(), r, rows, values.data());

  double slope = 0.0;
  for (std::size_t b = 0; b < width; ++b) {
    plan.table[b] = values[partition.cell_of[b]];
    require_finite(plan.table[b], "table", round(lane));
    slope += plan.table[b] * by_code[b].gradient();
  }
  plan.slope = slope / rows_weight;
  plan.moves = slope > 0.0;  // else the best table does not lower the risk any further
}

std::unique_ptr<Planner> make_planner(const Workplace& at) {
  if (at.settings.electorate != nullptr) return make_vote_planner(at);
  const Model& first = at.models[at.pack.models.front()];
  if (first.weak_learner->is_grown()) return std::make_unique<TreePlanner>(at);
  return std::make_unique<FeaturePlanner>(at);
}

}  // namespace properboost
