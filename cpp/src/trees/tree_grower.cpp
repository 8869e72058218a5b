#include "properboost/trees/tree_grower.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/random.hpp"
#include "properboost/trees/best_cut.hpp"
#include "properboost/trees/class_cells.hpp"
#include "properboost/trees/drawn_features.hpp"
#include "properboost/trees/joint_cells.hpp"
#include "properboost/trees/leaf_rows.hpp"
#include "properboost/trees/leaf_sums.hpp"
#include "properboost/trees/level_cuts.hpp"
#include "properboost/trees/tree_walk.hpp"
#include "properboost/trees/vote_cells.hpp"

namespace properboost {
namespace {

constexpr std::uint64_t kRowStream = 0;  // of random draws; those of features come after it
static_assert(kRowStream < kFeatureStream);

template <class Cells>
struct Grown {
  Tree tree;
  std::vector<typename Cells::Total> totals;  // of each node
};

// Grows one tree.  `Cells` gives the costs of its nodes' cells: by two classes or by the slots of a
// vote.
template <class Cells>
class Growth {
 public:
  using Total = typename Cells::Total;

  Growth(const Cells& cells, LeafRows& rows, LeafSums<typename Cells::Adder>& sums,
         const Codes& codes, const Bins& bins, const TreeLimits& limits, std::uint64_t key,
         Team& team)
      : cells_(cells),
        rows_(rows),
        sums_(sums),
        codes_(codes),
        bins_(bins),
        limits_(limits),
        key_(key),
        team_(team) {}

  Grown<Cells> grow(const std::function<void()>& progress) {
    Leaf root;
    if (sums_.at_once(0)) root.sums = sums_.add_up(0);
    Share share = team_.share();
    if (limits_.chance > 0.0) {
      squares_.push_back(cells_.squares(rows_, 0, team_));
      share.sum(squares_[0].data(), squares_[0].size());
    }
    sums_.share({&root.sums}, share);
    add_node(root);
    if (limits_.by_level) {
      grow_levels(std::move(root), progress);
    } else if (limits_.only_left) {
      grow_rule(std::move(root), progress);
    } else {
      grow_tree(std::move(root), progress);
    }
    return {std::move(tree_), std::move(totals_)};
  }

 private:
  using Sums = typename LeafSums<typename Cells::Adder>::Sums;

  // The best way to split a node.
  struct Choice {
    std::size_t feature;
    Split split;
    double saving;
  };
  struct Leaf {
    std::size_t node = 0, depth = 0;
    Sums sums;  // empty if they are made when they are needed
    std::optional<Choice> choice;
    std::optional<Total> others;  // for a rule: the rows for which it does not hold
    int rises = 0;                // where it holds the value must not be less (1) or more (-1)
  };
  // A leaf that is split when its turn comes.
  struct Waiting {
    Leaf leaf;
    Choice choice;
  };
  static bool comes_later(const Waiting& a, const Waiting& b) {
    if (a.choice.saving != b.choice.saving) return a.choice.saving < b.choice.saving;
    return a.leaf.node > b.leaf.node;
  }

  void grow_tree(Leaf root, const std::function<void()>& progress) {
    consider(&root, nullptr);
    while (leaves_ < limits_.leaves && !waiting_.empty()) {
      progress();
      std::pop_heap(waiting_.begin(), waiting_.end(), comes_later);
      Waiting next = std::move(waiting_.back());
      waiting_.pop_back();
      kept_ -= bytes(next.leaf);
      std::array<Leaf, 2> children = divide_one(std::move(next.leaf), next.choice);
      consider(&children[0], &children[1]);
      for (Leaf& child : children) sums_.give_back(std::move(child.sums));  // unless it waits
    }
  }

  // A node that a level's split does not divide has a turn again at the next level.
  void grow_levels(Leaf root, const std::function<void()>& progress) {
    std::vector<Leaf> level;
    const auto add = [&](Leaf leaf) {
      if (may_be_split_by_level(totals_[leaf.node])) {
        if (!sums_.are_kept(leaf.node, kept_)) sums_.give_back(std::move(leaf.sums));
        kept_ += bytes(leaf);
        level.push_back(std::move(leaf));
      } else {
        sums_.give_back(std::move(leaf.sums));
      }
    };
    add(std::move(root));
    for (std::size_t depth = 0; depth < limits_.depth && !level.empty(); ++depth) {
      progress();
      std::optional<LevelChoice> found = find_level(level, depth);
      if (!found) break;
      std::vector<Leaf> nodes = std::move(level);
      level.clear();
      // With peers all nodes are divided together; otherwise one by one, which takes less memory.
      std::vector<Division> together;
      std::vector<bool> is_divided;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        kept_ -= bytes(nodes[k]);
        found->choice.saving = found->savings[k];
        is_divided.push_back(found->savings[k] > 0.0);
        if (is_divided.back()) {
          progress();
          together.push_back(begin_division(std::move(nodes[k]), found->choice));
        }
        if (team_.has_peers() && k + 1 < nodes.size()) continue;
        finish(together);
        auto next = together.begin();
        for (std::size_t j = k + 1 - is_divided.size(); j <= k; ++j) {
          if (is_divided[j + is_divided.size() - (k + 1)]) {
            for (Leaf& child : (next++)->children) add(std::move(child));
          } else {
            ++nodes[j].depth;
            add(std::move(nodes[j]));
          }
        }
        together.clear();
        is_divided.clear();
      }
    }
  }

  bool may_be_split_by_level(const Total& total) const {
    constexpr double kRounded = 1.0 + 1e-9;
    return cells_.may_be_split(total) &&
           !(kRounded * cells_.weight_of_branch(total) < 2.0 * limits_.child_weight);
  }

  // The best split of a level, if one lowers the cost, and what it saves at each node.
  struct LevelChoice {
    Choice choice;
    std::vector<double> savings;
  };
  std::optional<LevelChoice> find_level(const std::vector<Leaf>& level, std::size_t depth) const {
    const std::size_t features = bins_.size();
    double unsplit = 0.0, nanoseconds = 0.0;
    std::vector<ChanceSaving> one_cut;
    for (const Leaf& leaf : level) {
      unsplit += cells_.cost(totals_[leaf.node]);
      nanoseconds += nanoseconds_of_search(leaf);
      if (limits_.chance > 0.0) one_cut.push_back(chance_at(leaf.node));
    }
    std::vector<std::uint8_t> allowed(features);
    draw_features(limits_, key_, depth, features, allowed.data());
    std::vector<std::optional<Split>> splits(features);
    std::vector<ChanceSaving> by_chance(features, ChanceSaving{0.0, 1.0});
    team_.for_each(features, nanoseconds, [&](std::size_t f) {
      if (allowed[f] == 0) return;
      visit_level(level, f, [&](const LevelCuts<Cells>& cuts) {
        splits[f] = find_split(cuts, f);
        if (limits_.chance > 0.0) by_chance[f] = add_chances(one_cut, cuts.find_reaches());
      });
    });
    const Best best = choose(unsplit, splits.data(), by_chance);
    const std::optional<Split>& split = splits[best.feature];
    if (!split || !(best.saving > 0.0)) return std::nullopt;
    LevelChoice found{{best.feature, *split, best.saving}, {}};
    visit_level(level, best.feature, [&found](const LevelCuts<Cells>& cuts) {
      found.savings = cuts.find_savings(found.choice.split.cut);
    });
    return found;
  }

  // Calls visitor(the cuts of a feature at all nodes of a level).
  template <class Visitor>
  void visit_level(const std::vector<Leaf>& level, std::size_t f, const Visitor& visitor) const {
    std::vector<Sums> memory(level.size());
    std::vector<const typename Cells::Unit*> nodes;
    for (std::size_t k = 0; k < level.size(); ++k) {
      nodes.push_back(sums_.feature(level[k].node, level[k].sums, f, memory[k]));
    }
    visitor(LevelCuts<Cells>(cells_, bins_[f], direction_of(f), nodes, sums_.size_of(f)));
  }

  // What a cut of several nodes saves by chance, each of which it divides with such a probability.
  static ChanceSaving add_chances(const std::vector<ChanceSaving>& nodes,
                                  const std::vector<double>& reaches) {
    double sum = 0.0, squares = 0.0, freedom = 0.0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const double mean = reaches[k] * nodes[k].mean;
      sum += mean;
      squares += mean * mean;
      freedom += mean * nodes[k].freedom;
    }
    if (!(squares > 0.0)) return {0.0, 1.0};
    return {sum, std::max(1.0, freedom / sum), std::max(1.0, sum * sum / squares)};
  }

  // The rows of the left-most leaf are those for which all literals hold.  A literal and its
  // opposite make the same two cells of the root.  The second literal decides which of them the
  // rule begins with; without one, it is the literal that holds for less weight.
  void grow_rule(Leaf root, const std::function<void()>& progress) {
    progress();
    find_splits({&root});
    if (!root.choice) return;
    const Choice first = *std::move(root.choice);
    std::array<Leaf, 2> ends = divide_one(std::move(root), first);
    for (std::size_t i = 0; i < 2; ++i) {
      ends[i].others = totals_[ends[1 - i].node];
      ends[i].rises = sign_of_literal(first, i == 0 ? Split::kLeft : Split::kRight);
    }
    progress();
    find_splits({&ends[0], &ends[1]});
    const auto comes_first = [&](const Leaf& a, const Leaf& b) {
      if (!a.choice && !b.choice) return cells_.weight(*a.others) > cells_.weight(*b.others);
      return a.choice && (!b.choice || a.choice->saving > b.choice->saving);
    };
    if (comes_first(ends[1], ends[0])) {
      std::swap(ends[0], ends[1]);
      exchange_children();
      std::swap(ends[0].node, ends[1].node);
    }
    Leaf end = std::move(ends[0]);
    Total others = totals_[ends[1].node];
    while (end.choice) {
      progress();
      const Choice choice = *std::move(end.choice);
      const int rises = end.rises != 0 ? end.rises : sign_of_literal(choice, Split::kLeft);
      std::array<Leaf, 2> children = divide_one(std::move(end), choice);
      Cells::add(others, totals_[children[1].node]);
      end = std::move(children[0]);
      end.others = others;
      end.rises = rises;
      find_splits({&end});
    }
  }

  int direction_of(std::size_t f) const {
    return limits_.directions.empty() ? 0 : limits_.directions[f];
  }

  // Whether the value where a literal of this branch holds must not be less (1) or more (-1) than
  // elsewhere.  One that only tells missing values from others may be either.
  int sign_of_literal(const Choice& choice, std::uint8_t branch) const {
    const int direction = direction_of(choice.feature);
    if (direction == 0) return 0;
    const auto last = static_cast<std::size_t>(bins_[choice.feature].bins()) - 1;
    const int holds_above = choice.split.branch[last] == branch ? 1 : 0;
    const int holds_below = choice.split.branch[0] == branch ? 1 : 0;
    return direction * (holds_above - holds_below);
  }

  static std::size_t bytes(const Leaf& leaf) {
    return leaf.sums.size() * sizeof(typename Cells::Unit);
  }

  // Adds a leaf with its own number.
  void add_node(const Leaf& leaf) {
    Sums memory;
    tree_.add_leaf();
    totals_.push_back(cells_.total(sums_.feature(leaf.node, leaf.sums, 0, memory),
                                   static_cast<std::size_t>(bins_[0].width())));
  }

  // Finds the best splits of one leaf or two, and queues those that lower the cost.
  void consider(Leaf* first, Leaf* second) {
    find_splits({first, second});
    for (Leaf* leaf : {first, second}) {
      if (leaf == nullptr || !leaf->choice) continue;
      if (!sums_.are_kept(leaf->node, kept_)) sums_.give_back(std::move(leaf->sums));
      kept_ += bytes(*leaf);
      Choice choice = *std::move(leaf->choice);
      waiting_.push_back({std::move(*leaf), std::move(choice)});
      std::push_heap(waiting_.begin(), waiting_.end(), comes_later);
    }
  }

  // Whether a leaf at this depth may be split once the tree has so many leaves.
  bool may_grow(std::size_t depth, std::size_t leaves) const {
    return depth < limits_.depth && leaves < limits_.leaves;
  }

  // Finds the best split of each leaf, if there is one that lowers the cost.
  void find_splits(std::initializer_list<Leaf*> asked) {
    std::vector<Leaf*> leaves;
    double nanoseconds = 0.0;
    for (Leaf* leaf : asked) {
      if (leaf == nullptr || !may_grow(leaf->depth, leaves_)) continue;
      if (!cells_.may_be_split(totals_[leaf->node])) continue;
      leaves.push_back(leaf);
      nanoseconds += nanoseconds_of_search(*leaf);
    }
    const std::size_t features = bins_.size();
    std::vector<std::optional<Split>> splits(leaves.size() * features);
    std::vector<std::uint8_t> allowed(splits.size());
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      draw_features(limits_, key_, leaves[k]->node, features, &allowed[k * features]);
    }
    team_.for_each(splits.size(), nanoseconds, [&](std::size_t task) {
      if (allowed[task] != 0) {
        find_split(*leaves[task / features], task % features, splits[task]);
      }
    });
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      Leaf& leaf = *leaves[k];
      double unsplit = cells_.cost(totals_[leaf.node]);
      if (leaf.others) unsplit += cells_.cost(*leaf.others);
      std::vector<ChanceSaving> by_chance;
      if (limits_.chance > 0.0) by_chance.assign(features, chance_at(leaf.node));
      const Best best = choose(unsplit, &splits[k * features], by_chance);
      const std::optional<Split>& split = splits[k * features + best.feature];
      if (split && best.saving > 0.0) leaf.choice = Choice{best.feature, *split, best.saving};
    }
  }

  double nanoseconds_of_search(const Leaf& leaf) const {
    return 2.0 * static_cast<double>(sums_.size()) + 300.0 * static_cast<double>(bins_.size()) +
           (leaf.sums.empty() ? static_cast<double>(sums_.adds(leaf.node)) : 0.0);
  }

  ChanceSaving chance_at(std::size_t node) const {
    ChanceSaving one_cut = cells_.saving_by_chance(totals_[node], squares_[node]);
    one_cut.mean = std::max(0.0, one_cut.mean);
    return one_cut;
  }

  // The best of the features' splits, and what it saves; 0 if none saves anything.
  struct Best {
    std::size_t feature;
    double saving;
  };
  Best choose(double unsplit, const std::optional<Split>* splits,
              const std::vector<ChanceSaving>& by_chance) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> costs(bins_.size(), kNever);
    for (std::size_t f = 0; f < costs.size(); ++f) {
      if (const std::optional<Split>& split = splits[f]) costs[f] = split->cost;
    }
    const auto saves = [&](std::size_t f) {  // more than rounding
      const double saving = unsplit - costs[f];
      return costs[f] < kNever && saving > kTie * std::abs(costs[f]) &&
             limits_.is_enough(saving, unsplit);
    };
    std::size_t best;
    if (limits_.chance > 0.0) {  // the costs of splits that save are charged for chance
      std::vector<double> charged(costs.size(), kNever);
      for (std::size_t f = 0; f < costs.size(); ++f) {
        const std::optional<Split>& split = splits[f];
        if (!split || !saves(f)) continue;
        const double freedom = freedom_of_best_cut(split->codes, bins_[f].ordered(),
                                                   by_chance[f].freedom, by_chance[f].nodes);
        charged[f] = costs[f] + limits_.chance * by_chance[f].mean * freedom;
      }
      best = first_best(charged.data(), charged.size());
    } else {
      best = first_best(costs.data(), costs.size());
    }
    return {best, saves(best) ? unsplit - costs[best] : 0.0};
  }

  // Codes are counted for what a cut saves by chance.
  template <class Cuts>
  Split find_split(const Cuts& cuts, std::size_t f) const {
    Split split = properboost::find_split(bins_[f], cuts);
    if (limits_.chance > 0.0) split.codes = count_codes(bins_[f], cuts);
    return split;
  }

  // Splits are written where they stay: they are large.
  void find_split(const Leaf& leaf, std::size_t f, std::optional<Split>& found) const {
    Sums memory;
    const typename Cells::Feature feature(cells_, bins_[f],
                                          sums_.feature(leaf.node, leaf.sums, f, memory));
    const int direction = direction_of(f);
    const auto find_best = [&](const Total& beside_left, const Total& beside_right, int rises) {
      return find_split(feature.cuts(beside_left, beside_right, rises), f);
    };
    if (!leaf.others) {
      found = find_best({}, {}, direction);
      return;
    }
    // Rows that a literal excludes join those for which the rule did not hold before.  Because
    // costs are concave, the best cut of categories ordered by their share of a class is the best
    // of all sets here, too.  A literal must agree with its own feature's direction and with those
    // of the literals before it.
    std::optional<Split> above;
    if (direction * leaf.rises <= 0) {
      found = find_best({}, *leaf.others, direction != 0 ? direction : -leaf.rises);
    }
    if (direction * leaf.rises >= 0) {
      above = find_best(*leaf.others, {}, direction != 0 ? direction : leaf.rises);
    }
    if (!above) return;
    if (found && !(above->cost < found->cost - kTie * std::abs(found->cost))) return;
    above->swap_branches();
    found = above;
  }

  // A leaf that becomes two.
  struct Division {
    Leaf parent;
    std::array<Leaf, 2> children{};
    std::size_t small = 0;  // the child whose rows are summed
    bool grows = false;     // whether children get their sums, as they may be split in turn
    Sums first;             // with peers, otherwise: those of its first feature, for its total
    typename Cells::Squares squares{};
  };

  std::array<Leaf, 2> divide_one(Leaf parent, const Choice& choice) {
    std::vector<Division> one;
    one.push_back(begin_division(std::move(parent), choice));
    finish(one);
    return std::move(one[0].children);
  }

  // Splits a leaf, and sums the rows of one child.
  Division begin_division(Leaf parent, const Choice& choice) {
    const auto& [feature, split, saving] = choice;
    const std::size_t left = rows_.nodes();
    tree_.feature[parent.node] = static_cast<std::int32_t>(feature);
    tree_.left[parent.node] = static_cast<std::int64_t>(left);
    tree_.saving[parent.node] = saving;
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins_[feature].width()); ++b) {
      const std::uint8_t branch = split.branch[b];
      if (branch == Split::kLeft) tree_.goes_left[parent.node].insert(b);
      if (branch == Split::kRight) tree_.goes_right[parent.node].insert(b);
    }
    rows_.split(parent.node, codes_.feature(feature), split.branch, team_);
    ++leaves_;
    Division own;
    for (std::size_t i = 0; i < 2; ++i) {
      own.children[i].node = left + i;
      own.children[i].depth = parent.depth + 1;
    }
    own.small = find_smaller(parent, choice, own.children);
    own.grows = may_grow(parent.depth + 1, leaves_);
    Leaf& child = own.children[own.small];
    if (own.grows && sums_.at_once(child.node)) {
      child.sums = sums_.add_up(child.node);
    } else if (team_.has_peers()) {
      sums_.feature(child.node, {}, 0, own.first);
    }
    if (limits_.chance > 0.0) own.squares = cells_.squares(rows_, child.node, team_);
    own.parent = std::move(parent);
    return own;
  }

  // Adds the children of leaves that were split, whose sums peers share at once.
  void finish(std::vector<Division>& all) {
    if (all.empty()) return;
    Share share = team_.share();
    std::vector<Sums*> shared;
    for (Division& own : all) {
      if (limits_.chance > 0.0) share.sum(own.squares.data(), own.squares.size());
      shared.push_back(own.grows ? &own.children[own.small].sums : &own.first);
    }
    sums_.share(shared, share);
    for (Division& own : all) {
      if (own.grows) {
        add_up(own.children, own.small, std::move(own.parent.sums));
        for (const Leaf& child : own.children) add_node(child);
      } else {
        add_ends(own);
      }
      if (limits_.chance > 0.0) add_squares(own);
    }
  }

  // The child that has fewer rows.  With peers it is the one that has less weight, as all know.
  std::size_t find_smaller(const Leaf& parent, const Choice& choice,
                           const std::array<Leaf, 2>& children) const {
    const auto rows = [&](std::size_t i) { return rows_.place(children[i].node).size(); };
    if (!team_.has_peers()) return rows(0) <= rows(1) ? 0 : 1;
    const std::size_t f = choice.feature, width = sums_.size_of(f) / sums_.per_code();
    Sums memory;
    const typename Cells::Unit* const all = sums_.feature(parent.node, parent.sums, f, memory);
    Sums left(all, all + sums_.size_of(f));
    for (std::size_t j = 0; j < left.size(); ++j) {
      if (choice.split.branch[cells_.code_at(j, width)] != Split::kLeft)
        left[j] = typename Cells::Unit{};
    }
    const double own = cells_.weight(cells_.total(left.data(), width));
    return 2.0 * own <= cells_.weight(totals_[parent.node]) ? 0 : 1;
  }

  // The larger child's sums are the parent's minus the smaller child's.
  void add_up(std::array<Leaf, 2>& children, std::size_t small, Sums&& parent) {
    Sums& least = children[small].sums;
    Sums& most = children[1 - small].sums;
    if (!least.empty() && !parent.empty()) {
      most = std::move(parent);
      for (std::size_t i = 0; i < most.size(); ++i) most[i] -= least[i];
    } else {
      sums_.give_back(std::move(parent));
      if (sums_.at_once(children[1 - small].node)) most = sums_.add_up(children[1 - small].node);
    }
  }

  // Children that are not split in turn have totals only.
  void add_ends(Division& own) {
    if (team_.has_peers()) {
      const Sums& all = own.parent.sums;
      Sums others(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own.first.size()));
      for (std::size_t i = 0; i < others.size(); ++i) others[i] -= own.first[i];
      own.children[own.small].sums = std::move(own.first);
      own.children[1 - own.small].sums = std::move(others);
    }
    sums_.give_back(std::move(own.parent.sums));
    for (Leaf& child : own.children) {
      add_node(child);
      child.sums.clear();
    }
  }

  void add_squares(const Division& own) {
    typename Cells::Squares others = squares_[own.parent.node];
    for (std::size_t j = 0; j < others.size(); ++j) others[j] -= own.squares[j];
    squares_.push_back(own.small == 0 ? own.squares : others);
    squares_.push_back(own.small == 0 ? others : own.squares);
  }

  // Makes the left child of the root the right one; both are leaves.
  void exchange_children() {
    std::swap(tree_.goes_left[0], tree_.goes_right[0]);
    std::swap(totals_[1], totals_[2]);
    if (limits_.chance > 0.0) std::swap(squares_[1], squares_[2]);
    rows_.exchange(1, 2);
  }

  const Cells& cells_;
  LeafRows& rows_;
  LeafSums<typename Cells::Adder>& sums_;
  const Codes& codes_;
  const Bins& bins_;
  const TreeLimits& limits_;
  std::uint64_t key_;
  Team& team_;
  Tree tree_;
  std::vector<Total> totals_;
  std::vector<typename Cells::Squares> squares_;  // of each node, where chance is allowed for
  std::size_t leaves_ = 1;
  std::vector<Waiting> waiting_;  // a heap
  std::size_t kept_ = 0;          // bytes that waiting leaves hold
};

}  // namespace

class TreeGrower::State {
 public:
  State(const Codes& codes, const PackedCodes& packed, const Bins& bins)
      : codes_(codes), packed_(packed), bins_(bins), rows_(codes) {}

  Tree grow(const Slots& slots, const RowWeights& rows, const Criterion& criterion,
            const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
            const std::function<void()>& progress, Team& team) {
    const auto grow_by = [&](auto& units) {
      take(slots, units, rows, 0, key, team);
      auto grown =
          grow_cells(ClassCells(criterion, r, limits, units, rows, slots),
                     ClassAdder(packed_, bins_, slots, units), limits, key, progress, team);
      grown.tree.cell = std::move(grown.totals);
      return std::move(grown.tree);
    };
    return criterion.needs_curvature() ? grow_by(with_curvature_) : grow_by(weights_);
  }

  VoteTree grow(const Slots& slots, const RowWeights& rows, const Vote& vote,
                const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
                Team& team) {
    take(slots, weights_, rows, 1, key, team);
    const VoteCells cells(vote, limits, weights_);
    auto grown =
        grow_cells(cells, ClassAdder(packed_, bins_, slots, weights_), limits, key, progress, team);
    VoteTree tree{std::move(grown.tree), {}};
    for (const SlotSums& total : grown.totals) {
      const std::vector<double> own = cells.vote().weights(total);
      tree.weights.insert(tree.weights.end(), own.begin(), own.end());
    }
    return tree;
  }

  JointTree grow(const Slots& slots, const std::vector<RowWeights>& classes,
                 const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
                 std::uint64_t key, const std::function<void()>& progress, Team& team) {
    rows_.set_segments(slots.segments);
    std::vector<std::size_t> class_of(codes_.segments.size(), 0);
    for (std::size_t s = 0; s < slots.segments.size(); ++s) {
      class_of[slots.segments[s]] = slots.of_segment[s];
    }
    joint_.set(classes, criterion.needs_curvature(), class_of, rows_.blocks(), packed_, key, team);
    take(classes.front(), key, [](std::size_t) { return true; }, team);
    auto grown = grow_cells(JointCells(criterion, r, limits, joint_, classes, slots),
                            JointAdder(packed_, bins_, joint_), limits, key, progress, team);
    JointTree tree{std::move(grown.tree), {}};
    tree.cells = sum_classes(tree.tree, slots, classes, criterion.needs_curvature(), team);
    return tree;
  }

  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
    constexpr std::uint8_t kUnknown = kMostNodes;
    const std::size_t grown = rows_.grown();
    if (grown < codes_.rows) std::fill_n(nodes, codes_.rows, kUnknown);
    team.for_each(rows_.nodes(), static_cast<double>(grown), [&](std::size_t node) {
      const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
      const std::uint32_t* const row = rows_.rows(node);
      for (std::size_t i = bounds.front(); i < bounds.back(); ++i) {
        nodes[row[i]] = static_cast<std::uint8_t>(node);
      }
    });
    if (grown == codes_.rows) return;
    const TreeWalk walk(tree);
    constexpr std::size_t kRows = 1024;
    const double nanoseconds = 10.0 * static_cast<double>(codes_.rows);
    team.for_each((codes_.rows + kRows - 1) / kRows, nanoseconds, [&](std::size_t c) {
      std::array<std::uint32_t, kRows> others;
      std::size_t n = 0;
      for (std::size_t i = c * kRows; i < std::min((c + 1) * kRows, codes_.rows); ++i) {
        others[n] = static_cast<std::uint32_t>(i);
        n += nodes[i] == kUnknown ? 1 : 0;
      }
      walk.find_nodes(packed_, others.data(), n, nodes);
    });
  }

  LeafLines lines(const Tree& tree, const LineLimits& limits, Team& team) const {
    return {tree, rows_, packed_, bins_, limits, team};
  }

  std::vector<Cell> weigh(const Tree& tree, const Slots& slots, RowSampleWeights sample_weight,
                          double total, Team& team) const {
    const FixedPoint units(total);
    using Sums = std::array<std::int64_t, 2>;  // of the negative class, and of the positive
    std::vector<Sums> sums(tree.size(), Sums{});
    team.for_each(rows_.nodes(), static_cast<double>(rows_.grown()), [&](std::size_t node) {
      const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
      const std::uint32_t* const row = rows_.rows(node);
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::int64_t& sum = sums[node][slots.of_segment[s] == Slots::kPositive ? 1 : 0];
        if (sample_weight.all_ones()) {
          sum += static_cast<std::int64_t>(bounds[s + 1] - bounds[s]);
          continue;
        }
        for (std::size_t i = bounds[s]; i < bounds[s + 1]; ++i) {
          sum += units.round(sample_weight[row[i]]);
        }
      }
    });
    team.share().sum(sums.front().data(), 2 * sums.size()).go();
    const double unit = sample_weight.all_ones() ? 1.0 : units.unit;
    std::vector<Cell> weight;
    for (const Sums& own : sums) {
      weight.push_back(
          {unit * static_cast<double>(own[1]), unit * static_cast<double>(own[0]), 0.0});
    }
    add_up_from_leaves(tree, weight);
    return weight;
  }

 private:
  template <bool kCurvature>
  void take(const Slots& slots, RowUnits<kCurvature>& units, const RowWeights& rows,
            std::int64_t least, std::uint64_t key, Team& team) {
    rows_.set_segments(slots.segments);
    units.set(rows, rows_.blocks(), codes_.rows, least, team);
    take(rows, key, [&](std::size_t i) { return units.counts(i); }, team);
  }

  // Takes a share of the rows that count, drawn by the key.
  template <class Counts>
  void take(const RowWeights& rows, std::uint64_t key, const Counts& counts, Team& team) {
    const std::uint64_t stream = stream_key(key, kRowStream);
    const std::uint64_t undrawn = first_not_below(rows.share * 0x1p64);
    const auto mark = [&](std::size_t begin, std::size_t n, std::uint8_t* marks) {
      for (std::size_t i = 0; i < n; ++i) marks[i] = counts(begin + i) ? 1 : 0;
      if (rows.share >= 1.0) return;
      vectorized([=, number = rows.numbers] {
        for (std::size_t i = 0; i < n; ++i) {
          marks[i] &= draw_bits(stream, number[begin + i]) < undrawn;
        }
      });
    };
    rows_.take(mark, team);
  }

  // The sums of each class at each node, from the weights themselves: what is rounded for the
  // search is too coarse for the values of leaves whose rows are light.
  std::vector<std::vector<Cell>> sum_classes(const Tree& tree, const Slots& slots,
                                             const std::vector<RowWeights>& classes,
                                             bool needs_curvature, Team& team) const {
    using Sums = std::array<std::int64_t, 3>;  // weights of both classes, curvature
    std::vector<Sums> sums(classes.size() * tree.size(), Sums{});
    const double nanoseconds =
        2.0 * static_cast<double>(rows_.grown()) * static_cast<double>(classes.size());
    team.for_each(sums.size(), nanoseconds, [&](std::size_t task) {
      const std::size_t k = task / tree.size(), node = task % tree.size();
      const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
      const std::uint32_t* const row = rows_.rows(node);
      const CellUnits& units = classes[k].units;
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::int64_t& sum = sums[task][slots.of_segment[s] == k ? 0 : 1];
        for (std::size_t i = bounds[s]; i < bounds[s + 1]; ++i) {
          sum += units.weight.round(classes[k].weight_of(row[i]));
          if (needs_curvature) {
            sums[task][2] += units.curvature.round(classes[k].curvature_of(row[i]));
          }
        }
      }
    });
    team.share().sum(sums.front().data(), 3 * sums.size()).go();
    std::vector<std::vector<Cell>> cells(classes.size());
    for (std::size_t task = 0; task < sums.size(); ++task) {
      const CellUnits& units = classes[task / tree.size()].units;
      cells[task / tree.size()].push_back({units.weight.value(sums[task][0]),
                                           units.weight.value(sums[task][1]),
                                           units.curvature.value(sums[task][2])});
    }
    for (std::vector<Cell>& own : cells) add_up_from_leaves(tree, own);
    return cells;
  }

  static void add_up_from_leaves(const Tree& tree, std::vector<Cell>& cells) {
    for (std::size_t node = tree.size(); node-- > 0;) {  // children come after their parents
      if (tree.is_leaf(node)) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      cells[node] = cells[left];
      cells[node] += cells[left + 1];
    }
  }

  // The least whole number that is, as a double, not below a bound.
  static std::uint64_t first_not_below(double bound) {
    std::uint64_t low = 0, high = ~std::uint64_t{0};
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (static_cast<double>(middle) < bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return high;
  }

  template <class Cells>
  Grown<Cells> grow_cells(const Cells& cells, const typename Cells::Adder& adder,
                          const TreeLimits& limits, std::uint64_t key,
                          const std::function<void()>& progress, Team& team) {
    LeafSums<typename Cells::Adder> sums(codes_, packed_, bins_, rows_, adder, team);
    return Growth<Cells>(cells, rows_, sums, codes_, bins_, limits, key, team).grow(progress);
  }

  const Codes& codes_;
  const PackedCodes& packed_;
  const Bins& bins_;
  // Kept from tree to tree, for their memory.
  LeafRows rows_;
  RowUnits<false> weights_;  // or these
  RowUnits<true> with_curvature_;
  JointUnits joint_;
};

TreeGrower::TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins)
    : state_(std::make_unique<State>(codes, packed, bins)) {}
TreeGrower::~TreeGrower() = default;

std::size_t TreeGrower::bytes(std::size_t rows, std::size_t training,
                              bool needs_curvature) noexcept {
  const std::size_t units = needs_curvature ? sizeof(Units<true>) : sizeof(Units<false>);
  return rows * units + training * 2 * sizeof(std::uint32_t);  // and two buffers of row numbers
}

std::size_t TreeGrower::joint_bytes(const Bins& bins, std::size_t rows, std::size_t training,
                                    std::size_t classes, std::size_t leaves) noexcept {
  const std::size_t stride = JointUnits::stride_for(classes);
  return rows * (stride * sizeof(std::int32_t) + sizeof(std::uint64_t)) +
         training * 2 * sizeof(std::uint32_t) +
         LeafSums<JointAdder>::bytes_of(stride * bins.total_width(),
                                        training * bins.size() * stride, leaves);
}

Tree TreeGrower::grow(const Slots& slots, const RowWeights& rows, const Criterion& criterion,
                      const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
                      const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, rows, criterion, r, limits, key, progress, team);
}
VoteTree TreeGrower::grow(const Slots& slots, const RowWeights& rows, const Vote& vote,
                          const TreeLimits& limits, std::uint64_t key,
                          const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, rows, vote, limits, key, progress, team);
}
JointTree TreeGrower::grow(const Slots& slots, const std::vector<RowWeights>& classes,
                           const Criterion& criterion, const Regularizers& r,
                           const TreeLimits& limits, std::uint64_t key,
                           const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, classes, criterion, r, limits, key, progress, team);
}
void TreeGrower::find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
  state_->find_nodes(tree, nodes, team);
}
LeafLines TreeGrower::lines(const Tree& tree, const LineLimits& limits, Team& team) const {
  return state_->lines(tree, limits, team);
}
std::vector<Cell> TreeGrower::weigh(const Tree& tree, const Slots& slots,
                                    RowSampleWeights sample_weight, double total,
                                    Team& team) const {
  return state_->weigh(tree, slots, sample_weight, total, team);
}

TreeGrowers::Loan TreeGrowers::borrow() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty()) {
    idle_.reserve(made_ + 1);  // so that taking it back cannot fail
    auto made = std::make_unique<TreeGrower>(codes_, packed_, bins_);
    ++made_;
    return Loan(made.release(), Return(this));
  }
  Loan loan(idle_.back().release(), Return(this));
  idle_.pop_back();
  return loan;
}

void TreeGrowers::take_back(TreeGrower* grower) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.emplace_back(grower);
}

}  // namespace properboost
