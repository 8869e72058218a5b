#include "properboost/boosting/vote_planner.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "properboost/core/random.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/trees/tree_grower.hpp"
#include "properboost/trees/vote_cuts.hpp"

namespace properboost {
namespace {

// What the rows that vote weigh, by the codes of one feature at a time: [slot][code].
class VoteRows {
 public:
  // All arguments must outlive it.
  VoteRows(const Codes& codes, const Bins& bins, const Slots& slots)
      : codes_(codes), bins_(bins), slots_(slots) {
    for (const Chunk& chunk : cut_into_chunks(codes.segments)) {
      const auto& learnt = slots.segments;
      if (std::binary_search(learnt.begin(), learnt.end(), chunk.segment)) chunks_.push_back(chunk);
    }
  }

  void weigh(const RowWeights& rows, Team& team) {
    units_.set(rows, chunks_, codes_.rows, 1, team);
  }
  double unit() const noexcept { return units_.unit_of_weight(); }

  SlotSums add_up(std::size_t f) const {
    const auto width = static_cast<std::size_t>(bins_[f].width());
    SlotSums sums(slots_.n * width, 0);
    for (std::size_t k = 0; k < slots_.segments.size(); ++k) {
      const std::size_t s = slots_.segments[k];
      add_by_code(
          codes_.feature(f), codes_.segments[s], codes_.segments[s + 1], bins_[f].width(),
          [&](std::size_t i) { return units_[i]; }, sums.data() + slots_.of_segment[k] * width);
    }
    return sums;
  }

 private:
  const Codes& codes_;
  const Bins& bins_;
  const Slots& slots_;
  std::vector<Chunk> chunks_;
  RowUnits<false> units_;
};

class VotePlanner final : public Planner {
 public:
  explicit VotePlanner(const Workplace& at)
      : Planner(at),
        electorate_(*at.settings.electorate),
        vote_(*electorate_.vote),
        slots_(Slots::of_votes(model(0).roles, electorate_)),
        rows_(at.codes, at.bins, slots_) {
    if (!model(0).weak_learner->is_grown()) return;
    grower_.emplace(at.codes, *at.packed, at.bins, slots_);
    nodes_.resize(at.codes.rows);
    limits_ = grown_learner().limits;
    limits_.child_weight /= at.weights.scale;
    if (!limits_.directions.empty()) {
      throw std::invalid_argument("directions must be none of weak classifiers that vote");
    }
  }

  std::size_t tables_per_estimator() const override { return 1; }
  Orders orders(std::size_t) override { return {nullptr, 0, true, false}; }

  std::vector<Plan> plan(std::size_t, const std::vector<bool>& active,
                         const std::function<void()>& progress, Team& team) override {
    std::vector<Plan> plans(1);
    if (!active[0]) return plans;
    RowWeights rows{at_.pack.margins->weight(), nullptr, at_.weights.data()};
    if (grower_) {
      plan_tree(plans[0], rows, progress, team);
    } else {
      plan_feature(plans[0], rows, team);
    }
    judge(plans[0], rows, team);
    return plans;
  }

 private:
  const GrownLearner& grown_learner() const {
    return static_cast<const GrownLearner&>(*model(0).weak_learner);
  }

  // Sets the table, [group][code], by what the codes' cells weigh, [cell][slot].
  void set_table(Plan& plan, std::size_t width, const std::vector<double>& weights,
                 const CellOfCode& cell_of) const {
    plan.width = width;
    plan.table.assign(vote_.groups * width, 0.0);
    std::vector<double> values(vote_.groups);
    for (std::size_t b = 0; b < width; ++b) {
      vote_.values(weights.data() + cell_of[b] * slots_.n, values.data());
      for (std::size_t g = 0; g < vote_.groups; ++g) plan.table[g * width + b] = values[g];
    }
  }

  static CellOfCode one_per_code() {
    CellOfCode cell_of;
    std::iota(cell_of.begin(), cell_of.end(), std::uint8_t{0});
    return cell_of;
  }

  // A feature's codes dealt into cells: one per code, or two sides.
  struct Deal {
    double cost;
    CellOfCode cell_of;
  };

  Deal deal(std::size_t f, const SlotSums& sums, const CountingVote& vote) const {
    const auto width = static_cast<std::size_t>(at_.bins[f].width());
    if (static_cast<const FeatureLearner&>(*model(0).weak_learner).cuts_in_two()) {
      Split split = find_split(at_.bins[f], VoteCuts(vote, sums.data(), width));
      // Where no split is better than none, that goes for codes training had no rows of, too.
      const auto& side = split.side;
      if (std::count(side.begin(), side.end(), Split::kRight) == 0) split.side.fill(Split::kLeft);
      return {split.cost, split.side};
    }
    double cost = 0.0;
    for (std::size_t b = 0; b < width; ++b) {
      SlotSums cell(slots_.n, 0);
      for (std::size_t k = 0; k < slots_.n; ++k) cell[k] = sums[k * width + b];
      cost += vote.cost(cell);
    }
    return {cost, one_per_code()};
  }

  void plan_feature(Plan& plan, const RowWeights& rows, Team& team) {
    rows_.weigh(rows, team);
    const CountingVote vote{vote_, rows_.unit()};
    std::vector<double> costs(at_.bins.size());
    team.for_each(costs.size(), static_cast<double>(costs.size() * at_.codes.rows),
                  [&](std::size_t f) { costs[f] = deal(f, rows_.add_up(f), vote).cost; });
    const std::size_t best = first_best(costs.data(), costs.size());
    const SlotSums sums = rows_.add_up(best);
    const CellOfCode cell_of = deal(best, sums, vote).cell_of;
    const auto width = static_cast<std::size_t>(at_.bins[best].width());
    SlotSums cells((1 + *std::max_element(cell_of.begin(), cell_of.end())) * slots_.n, 0);
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t k = 0; k < slots_.n; ++k) {
        cells[cell_of[b] * slots_.n + k] += sums[k * width + b];
      }
    }
    plan.feature = static_cast<std::int32_t>(best);
    plan.codes = at_.codes.feature(best);
    set_table(plan, width, vote.weights(cells), cell_of);
  }

  void plan_tree(Plan& plan, RowWeights rows, const std::function<void()>& progress, Team& team) {
    const GrownLearner& learner = grown_learner();
    rows.share = learner.subsample;
    VoteTree grown =
        grower_->grow(rows, vote_, limits_, draw_bits(learner.seed, 0, round(0)), progress, team);
    grower_->find_nodes(grown.tree, nodes_.data(), team);
    plan.feature = Rounds::kTree;
    plan.codes = nodes_.data();
    set_table(plan, grown.tree.size(), grown.weights, one_per_code());
    plan.tree = std::move(grown.tree);
    plan.may_move_later = learner.subsample < 1.0 || limits_.max_features < 1.0;
    count_rows(plan);
  }

  // The training rows at each node, of every group and of all others: [group][node].  Where groups
  // are labels, of which every row is asked about each, all of these are the rows.
  void count_rows(Plan& plan) const {
    const std::size_t nodes = plan.tree.size();
    const double* const weight = at_.weights.data();
    std::vector<double> of_group(vote_.groups * nodes, 0.0);
    const std::vector<Role>& roles = model(0).roles;
    for (std::size_t s = 0; s < roles.size(); ++s) {
      if (!learns(roles[s])) continue;
      double* const own = of_group.data() + electorate_.group(s) * nodes;
      for (std::size_t i = at_.codes.segments[s]; i < at_.codes.segments[s + 1]; ++i) {
        own[nodes_[i]] += at_.weights.scale * (weight == nullptr ? 1.0 : weight[i]);
      }
    }
    plan.cells.assign(of_group.size(), Cell{});
    for (std::size_t node = nodes; node-- > 0;) {  // children come after their parents
      double total = 0.0;
      for (std::size_t g = 0; g < vote_.groups; ++g) {
        double& own = of_group[g * nodes + node];
        if (!plan.tree.is_leaf(node)) {
          const auto left = static_cast<std::size_t>(plan.tree.left[node]);
          own += of_group[g * nodes + left] + of_group[g * nodes + left + 1];
        }
        total += own;
      }
      for (std::size_t g = 0; g < vote_.groups; ++g) {
        const double own = of_group[g * nodes + node];
        plan.cells[g * nodes + node] = {own, total - own, 0.0};
      }
    }
    plan.tree.cell.assign(plan.cells.begin(),
                          plan.cells.begin() + static_cast<std::ptrdiff_t>(nodes));
  }

  // How much weight the table is right about, and wrong; the error is the score.
  void judge(Plan& plan, const RowWeights& rows, Team& team) const {
    Margins& margins = *at_.pack.margins;
    const std::vector<Role>& roles = model(0).roles;
    const std::vector<Chunk> chunks = cut_into_chunks(at_.codes.segments);
    struct Sums {
      double right = 0.0, wrong = 0.0, total = 0.0;
      bool all_right = true;
    };
    std::vector<Sums> parts(chunks.size());
    team.for_each(chunks.size(), 2.0 * static_cast<double>(at_.codes.rows), [&](std::size_t c) {
      const Chunk& chunk = chunks[c];
      if (!learns(roles[chunk.segment])) return;
      const double side = side_of(roles[chunk.segment]);
      const double* const own = plan.table.data() + electorate_.group(chunk.segment) * plan.width;
      for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
        const double h = side * own[plan.codes[i]];
        const double w = rows.weight_of(i);
        parts[c].total += w;
        (h > 0.0 ? parts[c].right : parts[c].wrong) += h == 0.0 ? 0.0 : w;
        parts[c].all_right = parts[c].all_right && h > 0.0;
      }
    });
    Sums sums;
    for (const Sums& part : parts) {
      sums.right += part.right;
      sums.wrong += part.wrong;
      sums.total += part.total;
      sums.all_right = sums.all_right && part.all_right;
    }
    require_finite(sums.total, "total weight", round(0));
    plan.largest = at_.pack.regularizers[0].largest;
    if (!(sums.right > 0.0)) return;  // every row abstains
    plan.moves = true;
    plan.score = sums.wrong / (sums.right + sums.wrong);
    plan.ends = sums.all_right;
    if (sums.wrong == 0.0) {  // counts as half a row
      const double all = std::max(2.0, margins.training_weight(0) * at_.weights.scale);
      sums.wrong = sums.right * 0.5 / (all - 0.5);
    }
    plan.agreement = {sums.right, sums.wrong, static_cast<double>(vote_.ways())};
    if (at_.settings.weighting.mistrust > 0.0) {
      margins.note_shares(sums.total / margins.training_weight(0), team);
      plan.slope = Looks(margins, 0, plan.codes, plan.table, team).look(0.0);
      plan.moves = plan.slope > 0.0;
    }
  }

  const Electorate& electorate_;
  const Vote& vote_;
  const Slots slots_;
  VoteRows rows_;
  // Where trees are grown.
  TreeLimits limits_;
  std::optional<TreeGrower> grower_;
  Aligned<std::uint8_t> nodes_;
};

}  // namespace

std::unique_ptr<Planner> make_vote_planner(const Workplace& at) {
  return std::make_unique<VotePlanner>(at);
}

}  // namespace properboost
