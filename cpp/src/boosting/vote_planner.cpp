#include "properboost/boosting/vote_planner.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "properboost/learners/learner.hpp"
#include "properboost/trees/split.hpp"
#include "properboost/trees/vote_tree.hpp"

namespace properboost {
namespace {

class VotePlanner final : public Planner {
 public:
  explicit VotePlanner(const Workplace& at)
      : Planner(at),
        electorate_(*at.settings.electorate),
        vote_(*electorate_.vote),
        voters_(at.codes, at.bins, model(0).roles, electorate_),
        nodes_(at.codes.rows) {}

  std::size_t tables_per_estimator() const override { return 1; }
  Orders orders(std::size_t) override { return {nullptr, 0, true, false}; }

  std::vector<Plan> plan(std::size_t, const std::vector<bool>& active,
                         const std::function<void()>& progress, Team& team) override {
    std::vector<Plan> plans(1);
    if (!active[0]) return plans;
    Plan& plan = plans[0];
    Margins& margins = *at_.pack.margins;
    voters_.weigh(margins.weight(), at_.weights.data(), team);
    const WeakLearner& learner = *model(0).weak_learner;
    if (learner.is_grown()) {
      const TreeLimits& limits = static_cast<const GrownLearner&>(learner).limits;
      plan_tree(plan, grow(voters_, limits.leaves, limits.depth, progress, team), team);
    } else if (static_cast<const FeatureLearner&>(learner).cuts_in_two()) {
      plan_stump(plan, grow(voters_, 2, 1, progress, team));
    } else {
      plan_histogram(plan, team);
    }
    judge(plan, team);
    return plans;
  }

 private:
  // Sets the table, [group][code], from the sums of each code's cell.
  template <class SumsOf>
  void set_table(Plan& plan, std::size_t width, const SumsOf& sums_of) const {
    plan.width = width;
    plan.table.assign(vote_.groups * width, 0.0);
    std::vector<double> values(vote_.groups);
    for (std::size_t b = 0; b < width; ++b) {
      vote_.values(sums_of(b), values.data());
      for (std::size_t g = 0; g < vote_.groups; ++g) plan.table[g * width + b] = values[g];
    }
  }

  void set_feature(Plan& plan, std::size_t f) const {
    plan.feature = static_cast<std::int32_t>(f);
    plan.codes = at_.codes.feature(f);
  }

  void plan_histogram(Plan& plan, Team& team) const {
    const std::size_t slots = vote_.slots();
    std::vector<double> costs(at_.bins.size(), 0.0);
    team.for_each(costs.size(), 2.0 * static_cast<double>(costs.size() * voters_.rows().size()),
                  [&](std::size_t f) {
                    const std::vector<double> sums = add_up(voters_, voters_.rows(), f);
                    for (std::size_t i = 0; i < sums.size(); i += slots) {
                      costs[f] += vote_.cost(sums.data() + i);
                    }
                  });
    const std::size_t best = first_best(costs.data(), costs.size());
    set_feature(plan, best);
    const std::vector<double> sums = add_up(voters_, voters_.rows(), best);
    set_table(plan, sums.size() / slots,
              [&](std::size_t code) { return sums.data() + code * slots; });
  }

  // A tree of one split, as a table over its feature's codes: what training had no rows of gets
  // nothing.
  void plan_stump(Plan& plan, const VoteTree& grown) const {
    const std::size_t slots = vote_.slots();
    const std::vector<double> none(slots, 0.0);
    const bool splits = grown.tree.size() > 1;
    const std::size_t f = splits ? static_cast<std::size_t>(grown.tree.feature[0]) : 0;
    set_feature(plan, f);
    set_table(plan, static_cast<std::size_t>(at_.bins[f].width()), [&](std::size_t code) {
      if (!splits) return grown.sums.data();
      const auto b = static_cast<std::uint8_t>(code);
      return grown.tree.goes_left[0].has(b)    ? grown.sums.data() + slots
             : grown.tree.goes_right[0].has(b) ? grown.sums.data() + 2 * slots
                                               : none.data();
    });
  }

  void plan_tree(Plan& plan, VoteTree&& grown, Team& team) {
    const std::size_t slots = vote_.slots();
    plan.feature = Rounds::kTree;
    plan.codes = nodes_.data();
    set_table(plan, grown.tree.size(),
              [&](std::size_t node) { return grown.sums.data() + node * slots; });
    plan.tree = std::move(grown.tree);
    find_nodes(plan.tree, at_.codes.data, at_.codes.rows, nodes_.data(), team);
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
  void judge(Plan& plan, Team& team) const {
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
        const double w = voters_.weight(i);
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
      const double rows = std::max(2.0, margins.training_weight(0) * at_.weights.scale);
      sums.wrong = sums.right * 0.5 / (rows - 0.5);
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
  Voters voters_;
  Aligned<std::uint8_t> nodes_;
};

}  // namespace

std::unique_ptr<Planner> make_vote_planner(const Workplace& at) {
  return std::make_unique<VotePlanner>(at);
}

}  // namespace properboost
