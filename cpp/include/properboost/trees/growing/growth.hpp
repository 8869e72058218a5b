// A tree that grows, whatever decides which leaf is split next: its nodes and their sums, and how
// its leaves are split.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/best_cut.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/growing/leaf_sums.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/split.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

template <class Cells>
struct GrownTree {
  Tree tree;
  std::vector<typename Cells::Total> totals;  // of each node
};

// `Cells` gives the costs of its nodes' cells: by two classes, by the slots of a vote, or by the
// classes of a joint model.
template <class Cells>
class Growth {
 public:
  using Total = typename Cells::Total;
  using NodeSums = LeafSums<typename Cells::Adder>;
  using Sums = typename NodeSums::Sums;

  // The best way to split a node.
  struct Choice {
    std::size_t feature;
    Split split;
    double saving;
  };
  struct Leaf {
    std::size_t node = 0, depth = 0;
    Sums sums{};  // empty if they are made when they are needed
  };

  // All arguments must outlive it.
  Growth(const Cells& cells, LeafRows& rows, NodeSums& sums, const Codes& codes, const Bins& bins,
         const TreeLimits& limits, Team& team)
      : cells_(cells),
        rows_(rows),
        sums_(sums),
        codes_(codes),
        bins_(bins),
        limits_(limits),
        team_(team) {}

  // Adds the root.
  Leaf begin() {
    Leaf root;
    if (sums_.at_once(0)) root.sums = sums_.add_up(0);
    AllReduce all_reduce = team_.all_reduce();
    if (limits_.allows_for_chance) {
      squares_.push_back(cells_.squares(rows_, 0, team_));
      all_reduce.sum(squares_[0].data(), squares_[0].size());
    }
    sums_.all_reduce({&root.sums}, all_reduce);
    add_node(root);
    paths_.emplace_back();
    return root;
  }
  GrownTree<Cells> end() { return {std::move(tree_), std::move(totals_)}; }

  const Cells& cells() const noexcept { return cells_; }
  const NodeSums& sums() const noexcept { return sums_; }
  const Bins& bins() const noexcept { return bins_; }
  const TreeLimits& limits() const noexcept { return limits_; }
  Team& team() const noexcept { return team_; }
  std::size_t leaves() const noexcept { return leaves_; }
  const Total& total(std::size_t node) const { return totals_[node]; }

  int direction_of(std::size_t f) const {
    return limits_.directions.empty() ? 0 : limits_.directions[f];
  }

  // Marks the features that may join the paths of all these nodes.
  std::vector<std::uint8_t> joinable(const std::vector<std::size_t>& nodes) const {
    std::vector<std::uint8_t> allowed(bins_.size(), 1);
    if (!limits_.interactions.any()) return allowed;
    for (const std::size_t node : nodes) limits_.interactions.restrict(paths_[node], allowed);
    return allowed;
  }

  // Whether a leaf at this depth may be split once the tree has `leaves` leaves.
  bool may_grow(std::size_t depth, std::size_t leaves) const {
    return depth < limits_.depth && leaves < limits_.leaves;
  }

  // Keeps the sums of a leaf that waits for its turn, if there is room for them.
  void keep(Leaf& leaf) {
    if (!sums_.may_stay(leaf.node, waiting_bytes_)) give_back(leaf);
    waiting_bytes_ += bytes(leaf);
  }
  // The leaf waits no longer.
  void keep_no_more(const Leaf& leaf) { waiting_bytes_ -= bytes(leaf); }
  void give_back(Leaf& leaf) { sums_.give_back(std::move(leaf.sums)); }

  // An estimate of the search for a leaf's best split.
  double nanoseconds_of_search(const Leaf& leaf) const {
    return 2.0 * static_cast<double>(sums_.size()) + 300.0 * static_cast<double>(bins_.size()) +
           (leaf.sums.empty() ? static_cast<double>(sums_.adds(leaf.node)) : 0.0);
  }

  // Whether a feature's saving by chance depends on its number of categories.
  bool counts_categories(std::size_t f) const {
    return !bins_[f].ordered() && !cells_.is_quadratic();
  }

  // The saving by chance of one cut of a node, if it is by so many categories; none: by order.
  ChanceSaving chance_at(std::size_t node, double categories = 0.0) const {
    ChanceSaving one_cut =
        cells_.saving_by_chance(totals_[node], squares_[node], limits_.row_weight * categories);
    one_cut.mean = limits_.row_weight * std::max(0.0, one_cut.mean);
    return one_cut;
  }

  // The best of the features' splits, and its saving; 0 if none saves anything.
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
             is_enough(saving, unsplit, limits_.min_relative_decrease);
    };
    std::size_t best;
    if (limits_.allows_for_chance) {  // the costs of splits that save are charged for chance
      std::vector<double> charged(costs.size(), kNever);
      for (std::size_t f = 0; f < costs.size(); ++f) {
        const std::optional<Split>& split = splits[f];
        if (!split || !saves(f)) continue;
        const double freedom = freedom_of_best_cut(split->codes, bins_[f].ordered(),
                                                   by_chance[f].freedom, by_chance[f].nodes);
        charged[f] = costs[f] + TreeLimits::kChance * by_chance[f].mean * freedom;
      }
      best = first_best(charged.data(), charged.size());
    } else {
      best = first_best(costs.data(), costs.size());
    }
    return {best, saves(best) ? unsplit - costs[best] : 0.0};
  }

  // Codes are counted for the saving by chance of a cut.
  template <class Cuts>
  Split find_split(const Cuts& cuts, std::size_t f) const {
    Split split = properboost::find_split(bins_[f], cuts);
    if (limits_.allows_for_chance) split.codes = count_codes(bins_[f], cuts);
    return split;
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
    rows_.split(parent.node, split_by_.of(codes_, feature), split.branch, team_);
    if (limits_.interactions.any()) {
      paths_.resize(left + 2, join(paths_[parent.node], feature));
    }
    ++leaves_;
    Division division;
    for (std::size_t i = 0; i < 2; ++i) {
      division.children[i].node = left + i;
      division.children[i].depth = parent.depth + 1;
    }
    division.small = find_smaller(parent, choice, division.children);
    division.grows = may_grow(parent.depth + 1, leaves_);
    Leaf& child = division.children[division.small];
    if (division.grows && sums_.at_once(child.node)) {
      child.sums = sums_.add_up(child.node);
    } else if (team_.has_peers()) {
      sums_.feature(child.node, {}, 0, division.first);
    }
    if (limits_.allows_for_chance && division.grows && !cells_.spreads_squares()) {
      division.squares = cells_.squares(rows_, child.node, team_);
    }
    division.parent = std::move(parent);
    return division;
  }

  // Adds the children of leaves that were split, whose sums peers share at once.
  void finish(std::vector<Division>& all) {
    if (all.empty()) return;
    AllReduce all_reduce = team_.all_reduce();
    std::vector<Sums*> shared;
    for (Division& division : all) {
      if (limits_.allows_for_chance)
        all_reduce.sum(division.squares.data(), division.squares.size());
      shared.push_back(division.grows ? &division.children[division.small].sums : &division.first);
    }
    sums_.all_reduce(shared, all_reduce);
    for (Division& division : all) {
      if (division.grows) {
        add_up(division.children, division.small, std::move(division.parent.sums));
        for (const Leaf& child : division.children) add_node(child);
      } else {
        add_ends(division);
      }
      if (limits_.allows_for_chance) add_squares(division);
    }
  }

  // Makes the left child of the root the right one; both are leaves.
  void exchange_children() {
    std::swap(tree_.goes_left[0], tree_.goes_right[0]);
    std::swap(totals_[1], totals_[2]);
    if (limits_.allows_for_chance) std::swap(squares_[1], squares_[2]);
    rows_.exchange(1, 2);
  }

 private:
  // A path's features and another one, in ascending order.
  static std::vector<std::uint32_t> join(std::vector<std::uint32_t> path, std::size_t feature) {
    const auto f = static_cast<std::uint32_t>(feature);
    const auto place = std::lower_bound(path.begin(), path.end(), f);
    if (place == path.end() || *place != f) path.insert(place, f);
    return path;
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

  // The child that has fewer rows.  With peers it is the one of less weight, which all of them
  // have.
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
    const double left_weight = cells_.weight(cells_.total(left.data(), width));
    return 2.0 * left_weight <= cells_.weight(totals_[parent.node]) ? 0 : 1;
  }

  // The larger child's sums are the parent's minus the smaller child's.
  void add_up(std::array<Leaf, 2>& children, std::size_t small, Sums&& parent) {
    Sums& least = children[small].sums;
    Sums& most = children[1 - small].sums;
    if (!least.empty() && !parent.empty()) {
      most = std::move(parent);
      sums_.subtract(least, most);
    } else {
      sums_.give_back(std::move(parent));
      if (sums_.at_once(children[1 - small].node)) most = sums_.add_up(children[1 - small].node);
    }
  }

  // Children that are not split in turn have totals only.
  void add_ends(Division& division) {
    if (team_.has_peers()) {
      const Sums& all = division.parent.sums;
      Sums others(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(division.first.size()));
      for (std::size_t i = 0; i < others.size(); ++i) others[i] -= division.first[i];
      division.children[division.small].sums = std::move(division.first);
      division.children[1 - division.small].sums = std::move(others);
    }
    sums_.give_back(std::move(division.parent.sums));
    for (Leaf& child : division.children) {
      add_node(child);
      child.sums.clear();
    }
  }

  // Those of children that are not split in turn are not needed, and are zeros, or empty.
  void add_squares(const Division& division) {
    if (cells_.spreads_squares()) {
      for (const Leaf& child : division.children) {
        squares_.push_back(cells_.spread(squares_[0], totals_[0], totals_[child.node]));
      }
      return;
    }
    typename Cells::Squares others{};
    if (division.grows) others = squares_[division.parent.node];
    for (std::size_t j = 0; j < others.size(); ++j) others[j] -= division.squares[j];
    squares_.push_back(division.small == 0 ? division.squares : others);
    squares_.push_back(division.small == 0 ? others : division.squares);
  }

  const Cells& cells_;
  LeafRows& rows_;
  NodeSums& sums_;
  const Codes& codes_;
  const Bins& bins_;
  const TreeLimits& limits_;
  Team& team_;
  Tree tree_;
  std::vector<Total> totals_;
  std::vector<typename Cells::Squares> squares_;  // of each node, where chance is allowed for
  // The features on the way to each node, where interactions are limited; otherwise the root's.
  std::vector<std::vector<std::uint32_t>> paths_;
  WholeFeature split_by_;
  std::size_t leaves_ = 1;
  std::size_t waiting_bytes_ = 0;  // bytes that waiting leaves hold
};

}  // namespace properboost
