#include "properboost/core/parallel.hpp"
#include "properboost/planning/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "properboost/core/random.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/margins/sample_weights.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/cells/vote_cuts.hpp"
#include "properboost/trees/growing/drawn_features.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/slots.hpp"
#include "properboost/votes/vote_targets.hpp"

namespace properboost {
namespace {

// The weights of rows under voting classifiers, by the codes of one feature at a time:
// [slot][code].
class VoteRows {
 public:
  // All arguments must outlive it.
  VoteRows(const Codes& codes, const Bins& bins, const Slots& slots)
      : codes_(codes), bins_(bins), slots_(slots) {
    for (const RowBlock& block : cut_into_row_blocks(codes.segments)) {
      const auto& learnt = slots.segments;
      if (std::binary_search(learnt.begin(), learnt.end(), block.segment)) blocks_.push_back(block);
    }
  }

  void weigh(const RowWeights& rows, Team& team) {
    units_.begin(rows, codes_.rows, 1, false);
    units_.set(rows, blocks_, team);
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
  std::vector<RowBlock> blocks_;
  RowUnits<false> units_;
};

// Notices when a weak classifier and its negative take turns.
//
// After a round its classifier h errs with rho / (1 + rho), so that -h errs with 1 / (1 + rho).  If
// that is the least error there is, -h comes next, and then h has that error.  If h is the best
// again, and its vote as large as that of -h, weights are what they were two rounds before, and h
// and -h alternate for ever.  Only classifiers with two answers have a negative.
class TurnWatch {
 public:
  TurnWatch(bool watches, std::size_t rows) : right_(watches ? rows : 0, 0) {}

  // Notes a row on which the round's classifier is right, or wrong; returns whether that is
  // otherwise than in the round before.
  bool note(std::size_t row, bool right) {
    if (right_.empty()) return false;
    const bool turned = right != (right_[row] != 0);
    right_[row] = right ? 1 : 0;
    return turned;
  }

  // After a round's rows, all of which may have turned: whether it would undo the round before,
  // which was the negative of the one before that.
  bool takes_turns(bool all_turned, double error) {
    constexpr double kSame = 1e-5;
    const bool undoes = all_turned && turned_ && std::abs(error - error_) <= kSame * error;
    turned_ = all_turned && rounds_ > 0;
    error_ = error;
    ++rounds_;
    return undoes;
  }

 private:
  std::vector<std::uint8_t> right_;  // of each row, in the last round; empty if not watched
  bool turned_ = false;              // whether that was the negative of the one before
  double error_ = 0.0;
  std::size_t rounds_ = 0;
};

// The part that all kinds of weak classifiers have in common.
class VotePlanner : public Planner {
 public:
  VotePlanner(const RoundContext& context, const VoteBoosting& algorithm, bool draws)
      : Planner(context),
        algorithm_(algorithm),
        vote_(algorithm.vote()),
        targets_(algorithm.targets()),
        slots_(Slots::of_votes(at_.model(0).roles, vote_, targets_)),
        draws_(draws),
        turns_(algorithm.rho() > 1.0 && vote_.ways() == 2 && !draws, at_.rows.codes.rows) {
    if (!at_.model(0).weak_learner->directions.empty()) {
      throw std::invalid_argument("directions must be none for weak classifiers that vote");
    }
  }

  std::size_t tables_per_estimator() const final { return 1; }
  PassRequest request(std::size_t) final { return {{}, true}; }

  std::vector<RoundUpdate> plan(std::size_t, const std::vector<bool>& active,
                                const std::function<void()>& progress, Team& team) final {
    std::vector<RoundUpdate> updates(1);
    if (!active[0]) return updates;
    const BatchMargins& margins = *at_.batch.margins;
    const RowWeights rows{margins.weight(), nullptr, at_.rows.sample_weight,
                          margins.cell_units()[0]};
    find_cells(updates[0], rows, progress, team);
    find_agreement(updates[0], rows, team);
    updates[0].may_move_later = draws_;
    return updates;
  }

 protected:
  // Sets the update's codes and its look-up table over them.
  virtual void find_cells(RoundUpdate& update, const RowWeights& rows,
                          const std::function<void()>& progress, Team& team) = 0;

  // Sets the look-up table, [target][code], from the weights of the codes' cells, [cell][slot].
  void set_table(RoundUpdate& update, std::size_t width, const std::vector<double>& weights,
                 const CellOfCode& cell_of) const {
    update.width = width;
    update.table.assign(vote_.targets * width, 0.0);
    std::vector<double> values(vote_.targets);
    for (std::size_t b = 0; b < width; ++b) {
      vote_.values(weights.data() + cell_of[b] * slots_.n, values.data());
      for (std::size_t k = 0; k < vote_.targets; ++k) update.table[k * width + b] = values[k];
    }
  }

  static CellOfCode one_per_code() {
    CellOfCode cell_of;
    std::iota(cell_of.begin(), cell_of.end(), std::uint8_t{0});
    return cell_of;
  }

  const VoteBoosting& algorithm_;
  const Vote& vote_;
  const VoteTargets& targets_;
  const Slots slots_;

 private:
  // How much weight the table is right about, and wrong; the error is the cost.
  void find_agreement(RoundUpdate& update, const RowWeights& rows, Team& team) {
    BatchMargins& margins = *at_.batch.margins;
    const std::vector<Role>& roles = at_.model(0).roles;
    const std::vector<RowBlock> blocks = cut_into_row_blocks(at_.rows.codes.segments);
    struct Sums {
      double right = 0.0, wrong = 0.0, total = 0.0;
      bool all_right = true, all_turned = true;
    };
    std::vector<Sums> parts(blocks.size());
    team.for_each(blocks.size(), 2.0 * static_cast<double>(at_.rows.codes.rows),
                  [&](std::size_t c) {
                    const RowBlock& block = blocks[c];
                    if (!learns(roles[block.segment])) return;
                    const double sign = sign_of(roles[block.segment]);
                    const double* const target_table =
                        update.table.data() + targets_.of(block.segment) * update.width;
                    for (std::size_t i = block.begin; i < block.end; ++i) {
                      const double h = sign * target_table[update.codes[i]];
                      const double w = rows.weight_of(i);
                      parts[c].total += w;
                      (h > 0.0 ? parts[c].right : parts[c].wrong) += h == 0.0 ? 0.0 : w;
                      parts[c].all_right = parts[c].all_right && h > 0.0;
                      if (w > 0.0) parts[c].all_turned &= turns_.note(i, h > 0.0);
                    }
                  });
    Sums sums;
    for (const Sums& part : parts) {
      sums.right += part.right;
      sums.wrong += part.wrong;
      sums.total += part.total;
      sums.all_right = sums.all_right && part.all_right;
      sums.all_turned = sums.all_turned && part.all_turned;
    }
    require_finite(sums.total, "total weight", at_.round(0));
    update.largest = at_.batch.regularizers[0].largest;
    if (!(sums.right > 0.0)) return;  // every row abstains
    update.cost = sums.wrong / (sums.right + sums.wrong);
    update.takes_turns = turns_.takes_turns(sums.all_turned, update.cost);
    update.moves = !update.takes_turns;
    update.ends = sums.all_right;
    if (sums.wrong == 0.0) {  // counts as half a row
      const double all = std::max(2.0, at_.batch.row_counts[0]);
      sums.wrong = sums.right * 0.5 / (all - 0.5);
    }
    update.agreement = {sums.right, sums.wrong, static_cast<double>(vote_.ways()),
                        algorithm_.rho()};
    if (algorithm_.weighting().mistrust > 0.0) {
      margins.note_weights(sums.total / margins.training_weight(0), team);
      const Move direction{0, update.codes, update.table, 0.0, update.width};
      update.slope = margins.directional_slope(direction, team);
      update.moves = update.slope > 0.0;
    }
  }

  const bool draws_;  // whether a later round may find a classifier that this one did not
  TurnWatch turns_;
};

// A look-up table over one feature.
class VoteFeaturePlanner final : public VotePlanner {
 public:
  VoteFeaturePlanner(const RoundContext& context, const VoteBoosting& algorithm,
                     const FeatureLearner& learner)
      : VotePlanner(context, algorithm, learner.draws(context.rows.bins.size())),
        learner_(learner),
        rows_(at_.rows.codes, at_.rows.bins, slots_) {}

 private:
  void find_cells(RoundUpdate& update, const RowWeights& rows,
                  const std::function<void()>& /*progress*/, Team& team) override {
    rows_.weigh(rows, team);
    const CountingVote vote{vote_, rows_.unit()};
    const std::size_t features = at_.rows.bins.size();
    std::vector<std::uint8_t> allowed(features, 1);
    const std::uint64_t key = draw_bits(learner_.seed, 0, at_.round(0));
    draw_features(learner_.max_features, key, 0, allowed);
    std::vector<double> costs(features, std::numeric_limits<double>::infinity());
    team.for_each(features, static_cast<double>(features * at_.rows.codes.rows),
                  [&](std::size_t f) {
                    if (allowed[f] != 0) costs[f] = deal(f, rows_.add_up(f), vote).cost;
                  });
    const std::size_t best = first_best(costs.data(), costs.size());
    const SlotSums sums = rows_.add_up(best);
    const CellOfCode cell_of = deal(best, sums, vote).cell_of;
    const auto width = static_cast<std::size_t>(at_.rows.bins[best].width());
    SlotSums cells((1 + *std::max_element(cell_of.begin(), cell_of.end())) * slots_.n, 0);
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t k = 0; k < slots_.n; ++k) {
        cells[cell_of[b] * slots_.n + k] += sums[k * width + b];
      }
    }
    update.feature = static_cast<std::int32_t>(best);
    update.codes = at_.rows.codes.feature(best);
    set_table(update, width, vote.weights(cells), cell_of);
  }

  // A feature's codes dealt into cells: one per code, or two branches.
  struct Deal {
    double cost;
    CellOfCode cell_of;
  };

  Deal deal(std::size_t f, const SlotSums& sums, const CountingVote& vote) const {
    const auto width = static_cast<std::size_t>(at_.rows.bins[f].width());
    if (learner_.cuts_in_two()) {
      const Split split = find_split(at_.rows.bins[f], VoteCuts(vote, sums.data(), width));
      SlotSums all(slots_.n, 0);
      for (std::size_t k = 0; k < slots_.n; ++k) {
        const auto first = sums.begin() + static_cast<std::ptrdiff_t>(k * width);
        all[k] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(width), all[k]);
      }
      const double unsplit = vote.cost(all);
      const auto& branch = split.branch;
      const bool in_two = std::count(branch.begin(), branch.end(), Split::kRight) > 0;
      if (in_two && is_enough(unsplit - split.cost, unsplit, learner_.min_relative_decrease)) {
        return {split.cost, branch};
      }
      Deal whole{unsplit, {}};  // one cell for all codes, including those without training rows
      whole.cell_of.fill(Split::kLeft);
      return whole;
    }
    double cost = 0.0;
    for (std::size_t b = 0; b < width; ++b) {
      SlotSums cell(slots_.n, 0);
      for (std::size_t k = 0; k < slots_.n; ++k) cell[k] = sums[k * width + b];
      cost += vote.cost(cell);
    }
    return {cost, one_per_code()};
  }

  const FeatureLearner& learner_;
  VoteRows rows_;
};

// A tree.
class VoteTreePlanner final : public VotePlanner {
 public:
  VoteTreePlanner(const RoundContext& context, const VoteBoosting& algorithm,
                  const GrownLearner& learner)
      : VotePlanner(context, algorithm, learner.draws(context.rows.bins.size())),
        learner_(learner),
        limits_(learner.limits),
        nodes_(at_.rows.codes.rows) {
    limits_.fields.min_child_weight = at_.weights.scaled(limits_.fields.min_child_weight);
  }

 private:
  void find_cells(RoundUpdate& update, const RowWeights& all, const std::function<void()>& progress,
                  Team& team) override {
    RowWeights rows = all;
    rows.share = limits_.fields.subsample;
    rows.numbers = at_.rows.numbers;
    const TreeGrowers::Loan grower = at_.growers->borrow();
    const std::uint64_t key = draw_bits(learner_.seed, 0, at_.round(0));
    VoteTree grown = grower->grow(slots_, rows, vote_, limits_, key, progress, team);
    grower->find_nodes(grown.tree, nodes_.data(), team);
    update.feature = Rounds::kTree;
    update.codes = nodes_.data();
    set_table(update, grown.tree.size(), grown.weights, one_per_code());
    update.tree = std::move(grown.tree);
    count_rows(update);
  }

  // The training rows at each node, of every target and of all others: [target][node].  If targets
  // are labels, every row belongs to each target, so both kinds together are the rows.
  void count_rows(RoundUpdate& update) const {
    const std::size_t nodes = update.tree.size();
    std::vector<double> of_target(vote_.targets * nodes, 0.0);
    const std::vector<Role>& roles = at_.model(0).roles;
    for (std::size_t s = 0; s < roles.size(); ++s) {
      if (!learns(roles[s])) continue;
      double* const target_weights = of_target.data() + targets_.of(s) * nodes;
      for (std::size_t i = at_.rows.codes.segments[s]; i < at_.rows.codes.segments[s + 1]; ++i) {
        target_weights[nodes_[i]] += at_.rows.sample_weight[i];
      }
    }
    update.cells.assign(of_target.size(), Cell{});
    for (std::size_t node = nodes; node-- > 0;) {  // children come after their parents
      double total = 0.0;
      for (std::size_t k = 0; k < vote_.targets; ++k) {
        double& target_weight = of_target[k * nodes + node];
        if (!update.tree.is_leaf(node)) {
          const auto left = static_cast<std::size_t>(update.tree.left[node]);
          target_weight += of_target[k * nodes + left] + of_target[k * nodes + left + 1];
        }
        total += target_weight;
      }
      for (std::size_t k = 0; k < vote_.targets; ++k) {
        const double target_weight = of_target[k * nodes + node];
        update.cells[k * nodes + node] = {target_weight, total - target_weight, 0.0};
      }
    }
    update.tree.cell.assign(update.cells.begin(),
                            update.cells.begin() + static_cast<std::ptrdiff_t>(nodes));
  }

  const GrownLearner& learner_;
  TreeLimits limits_;
  Aligned<std::uint8_t> nodes_;
};

}  // namespace

std::unique_ptr<Planner> make_vote_planner(const RoundContext& context,
                                           const VoteBoosting& algorithm,
                                           const FeatureLearner& learner) {
  return std::make_unique<VoteFeaturePlanner>(context, algorithm, learner);
}

std::unique_ptr<Planner> make_vote_planner(const RoundContext& context,
                                           const VoteBoosting& algorithm,
                                           const GrownLearner& learner) {
  return std::make_unique<VoteTreePlanner>(context, algorithm, learner);
}

}  // namespace properboost
