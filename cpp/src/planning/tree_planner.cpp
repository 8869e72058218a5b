#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/random.hpp"
#include "properboost/data/soft_labels.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/margins/sample_weights.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/cells/weighted_screen.hpp"
#include "properboost/trees/growing/leaf_lines.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/limits.hpp"

namespace properboost {
namespace {

// The screens that trees are grown from, one a round.
class TreeScreens {
 public:
  // A screen has `about` rows of these segments; 0 for no screens.  The rows must outlive it.
  TreeScreens(const TrainingRows& rows, std::vector<std::size_t> segments, std::size_t about)
      : rows_(rows), segments_(std::move(segments)), about_(about) {}

  // A screen by the weights of the models that share the tree.  None if it would not leave out
  // most rows.
  std::optional<WeightedScreen> screen(const std::vector<RowWeights>& models, bool needs_curvature,
                                       Team& team) {
    if (about_ == 0) return std::nullopt;
    if (!all_) all_ = count(team);
    if (2 * static_cast<std::int64_t>(about_) >= *all_) return std::nullopt;
    std::vector<WeightedScreen::Model> parts;
    for (const RowWeights& model : models) {
      parts.push_back({model.weight, needs_curvature ? model.curvature : nullptr, model.units});
    }
    return WeightedScreen(std::move(parts), rows_.sample_weight, rows_.numbers,
                          static_cast<double>(about_));
  }

 private:
  // The rows of all processes.
  std::int64_t count(Team& team) const {
    const std::vector<std::size_t>& bounds = rows_.codes.segments;
    std::int64_t rows = 0;
    for (const std::size_t s : segments_) {
      rows += static_cast<std::int64_t>(bounds[s + 1] - bounds[s]);
    }
    team.all_reduce().sum(&rows, 1).run();
    return rows;
  }

  const TrainingRows& rows_;
  const std::vector<std::size_t> segments_;
  const std::size_t about_;
  std::optional<std::int64_t> all_;  // rows; not counted at first
};

// A tree of one model.
class TreePlanner final : public Planner {
 public:
  TreePlanner(const RoundContext& context, const GrownLearner& learner)
      : Planner(context),
        learner_(learner),
        limits_(learner.limits),
        slots_(at_.rows.labels.any() ? Slots::of_soft_labels(at_.model(0).roles)
                                     : Slots::of_classes(at_.model(0).roles)),
        screens_(at_.rows, slots_.segments, about(at_.algorithm, learner)) {
    limits_.row_weight = at_.weights.scaled(limits_.row_weight);
    limits_.fields.min_child_weight = at_.weights.scaled(limits_.fields.min_child_weight);
    limits_.fields.linear_l2 = at_.weights.scaled(limits_.fields.linear_l2);
    if (find_directions(learner).size() != limits_.directions.size()) {
      throw std::invalid_argument("directions must have an entry per feature");
    }
    for (const std::vector<std::uint32_t>& set : limits_.interactions.sets) {
      if (!set.empty() && set.back() >= at_.rows.bins.size()) {
        throw std::invalid_argument("interaction_sets must have features of the table");
      }
    }
    if (limits_.fields.linear_leaves && !limits_.directions.empty()) {
      throw std::invalid_argument("directions must be none for trees whose leaves have lines");
    }
  }

  std::size_t tables_per_estimator() const override { return 1; }
  PassRequest request(std::size_t) override { return {{}, at_.keep_rounds}; }

  std::vector<RoundUpdate> plan(std::size_t, const std::vector<bool>& active,
                                const std::function<void()>& progress, Team& team) override {
    std::vector<RoundUpdate> updates(1);
    if (!active[0]) return updates;
    const TreeGrowers::Loan grower = at_.growers->borrow();
    if (at_.batch.margins->against() != nullptr) find_squares(team);
    RowWeights weights = row_weights();
    const std::optional<WeightedScreen> screen =
        screens_.screen({weights}, criterion().needs_curvature(), team);
    weights.screen = screen ? &*screen : nullptr;
    Tree tree = grower->grow(slots_, weights, criterion(), at_.batch.regularizers[0], limits_,
                             key(), progress, team);
    nodes_.resize(at_.rows.codes.rows);
    grower->find_nodes(tree, nodes_.data(), team);
    const std::optional<LeafLines> lines = find_lines(tree, *grower, team);
    updates[0] = adopt(std::move(tree), nodes_.data(), *grower, lines, screen.has_value(), team);
    return updates;
  }

  // The lines in the leaves of the tree that the grower grew last, if it has some.
  std::optional<LeafLines> find_lines(const Tree& tree, TreeGrower& grower, Team& team) const {
    if (!limits_.fields.linear_leaves) return std::nullopt;
    return grower.lines(tree, limits_, at_.rows.sample_weight, at_.rows.totals.all, team);
  }

  const Criterion& criterion() const { return learner_.criterion_or(at_.algorithm.response()); }
  const TreeLimits& limits() const noexcept { return limits_; }
  std::uint64_t key() const { return draw_bits(learner_.seed, 0, at_.round(0)); }
  RowWeights row_weights() const {
    const BatchMargins& margins = *at_.batch.margins;
    return {margins.weight(),
            margins.curvature(),
            at_.rows.sample_weight,
            margins.cell_units()[0],
            limits_.fields.subsample,
            at_.rows.numbers,
            nullptr,
            margins.against(),
            margins.shares(),
            squares_.empty() ? nullptr : squares_.data(),
            squares_.empty() ? nullptr : squares_of_others_.data()};
  }

  // The rows of a screen, or 0: those that are drawn are few already.
  static std::size_t about(const Algorithm& algorithm, const GrownLearner& learner) {
    return learner.limits.fields.subsample < 1.0 ? 0 : algorithm.least_screen();
  }

  // The update by a tree with the model's cells, which the grower grew last.  Where it was grown
  // from a screen, there may be rows with codes that it has no branch for.
  RoundUpdate adopt(Tree tree, const std::uint8_t* nodes, const TreeGrower& grower,
                    const std::optional<LeafLines>& lines, bool by_screen, Team& team) {
    RoundUpdate update;
    update.tree = std::move(tree);
    update.feature = Rounds::kTree;
    update.codes = nodes;
    const Response& response = at_.algorithm.response();
    const Regularizers& r = at_.batch.regularizers[0];
    if (!by_screen) {  // a split's rows are at nodes below
      for (std::size_t node = 0; node < update.tree.size(); ++node) {
        if (!update.tree.is_leaf(node)) update.tree.cell[node] = Cell{};
      }
    }
    const Partition partition = learner_.partition(update.tree);
    std::vector<Cell> by_node = update.tree.cell;
    for (std::size_t node = 0; node < by_node.size(); ++node) {
      if (partition.occupied[partition.cell_of[node]] == 0) by_node[node] = Cell{};
    }
    const double cost = response.cost(partition.cells.data(), partition.cells.size(), r);
    set_table(update, 0, by_node.data(), by_node.size(), cost, partition,
              learner_.order(update.tree, at_.rows.bins), team);
    update.tree.cell = grower.weigh(update.tree, slots_, at_.rows.sample_weight,
                                    at_.batch.margins->shares(), at_.rows.totals.all, team);
    average_inner_nodes(update, partition);
    if (!limits_.directions.empty() && !limits_.rule) constrain(update, partition);
    if (lines) add_lines(update, *lines);
    const bool by_sample = by_screen || limits_.fields.subsample < 1.0;
    if (by_sample || !limits_.directions.empty()) compute_slope(update, team);
    update.may_move_later = by_screen || learner_.draws(at_.rows.bins.size());
    return update;
  }

 private:
  // A row that stays at an inner node gets the mean of the leaves below, by training weight, unless
  // it belongs to their cells.
  static void average_inner_nodes(RoundUpdate& update, const Partition& partition) {
    const Tree& tree = update.tree;
    for (std::size_t node = tree.size(); node-- > 0;) {  // children come after their parents
      if (partition.occupied[partition.cell_of[node]] != 0) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      Cell below = tree.cell[left];
      below += tree.cell[left + 1];
      const double total = below.weight();
      const double share = total > 0.0 ? tree.cell[left].weight() / total : 0.5;
      update.table[node] = share * update.table[left] + (1.0 - share) * update.table[left + 1];
    }
  }

  // In the order of the table, which is faster than node by node.
  void find_squares(Team& team) {
    const BatchMargins& margins = *at_.batch.margins;
    const std::size_t rows = at_.rows.codes.rows;
    squares_.resize(rows);
    squares_of_others_.resize(rows);
    constexpr std::size_t kRows = 8192;
    team.for_each((rows + kRows - 1) / kRows, 2.0 * static_cast<double>(rows), [&](std::size_t c) {
      const std::size_t first = c * kRows, n = std::min(kRows, rows - first);
      const auto find = [&](const float* weights, Aligned<float>& squares, auto share_of) {
        vectorized([=, from = weights + first, out = squares.data() + first] {
          float* const __restrict to = out;  // copies, which nothing written could change
          const float* const weight = from;
          const auto share = share_of;
          const std::size_t all = n;
          for (std::size_t i = 0; i < all; ++i) {
            to[i] = static_cast<float>(
                square_by_share(static_cast<double>(weight[i]), weight[i], share(i)));
          }
        });
      };
      const float* const shares = margins.shares() + first;
      find(margins.weight(), squares_, [shares](std::size_t i) { return shares[i]; });
      find(margins.against(), squares_of_others_,
           [shares](std::size_t i) { return 1.0F - shares[i]; });
    });
  }

  void add_lines(RoundUpdate& update, const LeafLines& lines) {
    FittedLines fitted = lines.fit(update.tree, slots_, row_weights(), at_.algorithm.response(),
                                   at_.batch.regularizers[0], update.table);
    require_finite(fitted.slope, "slope", at_.round(0));
    update.lines = std::move(fitted.lines);
    update.largest_line = fitted.largest;
    update.slope += fitted.slope / at_.batch.margins->training_weight(0);
    update.moves = update.slope > 0.0;
    const std::size_t rows = at_.rows.codes.rows;
    line_of_row_.resize(std::max<std::size_t>(rows, 1));  // they are there, even for no rows
    lines.evaluate(update.lines, update.codes, rows, line_of_row_.data());
    update.line_of_row = line_of_row_.data();
  }

  // Keeps the leaves in the two branches of a split whose feature has a direction apart, by the
  // middle of the branches' means.
  void constrain(RoundUpdate& update, const Partition& partition) const {
    const Tree& tree = update.tree;
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> bounds(tree.size(), {-kFar, kFar});
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const auto [low, high] = bounds[node];
      update.table[node] = std::clamp(update.table[node], low, high);
      if (tree.is_leaf(node)) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      bounds[left] = bounds[left + 1] = bounds[node];
      const auto direction = limits_.directions[static_cast<std::size_t>(tree.feature[node])];
      if (direction == 0) continue;
      const double middle =
          std::clamp(0.5 * (update.table[left] + update.table[left + 1]), low, high);
      bounds[direction > 0 ? left : left + 1].second = middle;
      bounds[direction > 0 ? left + 1 : left].first = middle;
    }
    average_inner_nodes(update, partition);
  }

  // The slope along a look-up table, which the tree's own sums do not give.
  void compute_slope(RoundUpdate& update, Team& team) const {
    const Move direction{0, update.codes, update.table, 0.0, update.width, update.line_of_row};
    update.slope = at_.batch.margins->directional_slope(direction, team);
    update.moves = update.slope > 0.0;
  }

  const GrownLearner& learner_;
  TreeLimits limits_;
  const Slots slots_;
  TreeScreens screens_;
  Aligned<std::uint8_t> nodes_;
  Aligned<float> line_of_row_;                  // of the last tree
  Aligned<float> squares_, squares_of_others_;  // of weights, with soft labels
};

// One tree of all classes of a joint model.
class JointTreePlanner final : public Planner {
 public:
  JointTreePlanner(const std::vector<const RoundContext*>& classes, const GrownLearner& learner)
      : Planner(*classes.front()),
        slots_(slots_of(classes)),
        screens_(at_.rows, slots_.segments, TreePlanner::about(at_.algorithm, learner)),
        nodes_(at_.rows.codes.rows) {
    for (const RoundContext* const context : classes) {
      classes_.push_back(std::make_unique<TreePlanner>(*context, learner));
    }
    if (!classes_.front()->limits().directions.empty()) {
      throw std::invalid_argument("directions must be none for trees that classes share");
    }
  }

  std::size_t tables_per_estimator() const override { return 1; }
  PassRequest request(std::size_t) override { return {{}, at_.keep_rounds}; }

  std::vector<RoundUpdate> plan(std::size_t, const std::vector<bool>& active,
                                const std::function<void()>& progress, Team& team) override {
    if (!active.front()) return std::vector<RoundUpdate>(classes_.size());
    const TreePlanner& first = *classes_.front();
    std::vector<RowWeights> weights;
    for (const auto& planner : classes_) weights.push_back(planner->row_weights());
    const std::optional<WeightedScreen> screen =
        screens_.screen(weights, first.criterion().needs_curvature(), team);
    for (RowWeights& of_class : weights) of_class.screen = screen ? &*screen : nullptr;
    const TreeGrowers::Loan grower = at_.growers->borrow();
    JointTree grown = grower->grow(slots_, weights, first.criterion(), at_.batch.regularizers[0],
                                   first.limits(), first.key(), progress, team);
    grower->find_nodes(grown.tree, nodes_.data(), team);
    const std::optional<LeafLines> lines = first.find_lines(grown.tree, *grower, team);
    std::vector<RoundUpdate> updates;
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      Tree tree = grown.tree;
      tree.cell = std::move(grown.cells[k]);
      updates.push_back(classes_[k]->adopt(std::move(tree), nodes_.data(), *grower, lines,
                                           screen.has_value(), team));
    }
    return updates;
  }

 private:
  static Slots slots_of(const std::vector<const RoundContext*>& classes) {
    std::vector<const std::vector<Role>*> roles;
    for (const RoundContext* const context : classes) roles.push_back(&context->model(0).roles);
    return Slots::of_joint_classes(roles);
  }

  std::vector<std::unique_ptr<TreePlanner>> classes_;
  const Slots slots_;
  TreeScreens screens_;
  Aligned<std::uint8_t> nodes_;
};

}  // namespace

std::unique_ptr<Planner> make_joint_tree_planner(const std::vector<const RoundContext*>& classes,
                                                 const GrownLearner& learner) {
  return std::make_unique<JointTreePlanner>(classes, learner);
}

std::unique_ptr<Planner> make_tree_planner(const RoundContext& context,
                                           const GrownLearner& learner) {
  return std::make_unique<TreePlanner>(context, learner);
}

}  // namespace properboost
