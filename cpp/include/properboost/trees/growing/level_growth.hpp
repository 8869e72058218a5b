// Growth by level: each level is one split, of all those of its nodes that gain by it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/trees/cells/level_cuts.hpp"
#include "properboost/trees/growing/drawn_features.hpp"
#include "properboost/trees/growing/growth.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

template <class Cells>
class LevelGrowth {
 public:
  using Choice = typename Growth<Cells>::Choice;
  using Leaf = typename Growth<Cells>::Leaf;

  // Features are drawn by the key.
  LevelGrowth(Growth<Cells>& growth, std::uint64_t key) : growth_(growth), key_(key) {}

  // A node that a level's split does not divide has a turn again at the next level.  `progress` is
  // called before each split, and may throw.
  void grow(Leaf root, const std::function<void()>& progress) {
    std::vector<Leaf> level;
    const auto add = [&](Leaf leaf) {
      if (may_be_split(growth_.total(leaf.node))) {
        growth_.keep(leaf);
        level.push_back(std::move(leaf));
      } else {
        growth_.give_back(leaf);
      }
    };
    add(std::move(root));
    for (std::size_t depth = 0; depth < growth_.limits().depth && !level.empty(); ++depth) {
      progress();
      std::optional<LevelChoice> level_choice = find_level(level, depth);
      if (!level_choice) break;
      std::vector<Leaf> nodes = std::move(level);
      level.clear();
      // With peers all nodes are divided together; otherwise one by one, which takes less memory.
      std::vector<Division> together;
      std::vector<bool> is_divided;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        growth_.keep_no_more(nodes[k]);
        level_choice->choice.saving = level_choice->savings[k];
        is_divided.push_back(level_choice->savings[k] > 0.0);
        if (is_divided.back()) {
          progress();
          together.push_back(growth_.begin_division(std::move(nodes[k]), level_choice->choice));
        }
        if (growth_.team().has_peers() && k + 1 < nodes.size()) continue;
        growth_.finish(together);
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
    for (Leaf& leaf : level) growth_.give_back(leaf);
  }

 private:
  using Total = typename Cells::Total;
  using Sums = typename Growth<Cells>::Sums;
  using Division = typename Growth<Cells>::Division;

  bool may_be_split(const Total& total) const {
    constexpr double kRounded = 1.0 + 1e-9;
    return growth_.cells().may_be_split(total) &&
           !(kRounded * growth_.cells().weight_of_branch(total) <
             2.0 * growth_.limits().fields.min_child_weight);
  }

  // The best split of a level, if one lowers the cost, and its saving at each node.
  struct LevelChoice {
    Choice choice;
    std::vector<double> savings;
  };
  std::optional<LevelChoice> find_level(const std::vector<Leaf>& level, std::size_t depth) const {
    const std::size_t features = growth_.bins().size();
    double unsplit = 0.0, nanoseconds = 0.0;
    for (const Leaf& leaf : level) {
      unsplit += growth_.cells().cost(growth_.total(leaf.node));
      nanoseconds += growth_.nanoseconds_of_search(leaf);
    }
    const bool charges = growth_.limits().allows_for_chance;
    const std::vector<ChanceSaving> by_order =
        charges ? chances_at(level, 0.0) : std::vector<ChanceSaving>{};
    std::vector<std::size_t> nodes;
    for (const Leaf& leaf : level) nodes.push_back(leaf.node);
    std::vector<std::uint8_t> allowed = growth_.joinable(nodes);
    draw_features(growth_.limits().fields.max_features, key_, depth, allowed);
    std::vector<std::optional<Split>> splits(features);
    std::vector<ChanceSaving> by_chance(features, ChanceSaving{0.0, 1.0});
    growth_.team().for_each(features, nanoseconds, [&](std::size_t f) {
      if (allowed[f] == 0) return;
      visit_level(level, f, [&](const LevelCuts<Cells>& cuts) {
        splits[f] = growth_.find_split(cuts, f);
        if (!charges) return;
        std::vector<ChanceSaving> by_category;
        if (growth_.counts_categories(f)) {
          // They have one order for all nodes, by their sums over all of them.
          by_category = chances_at(
              level, static_cast<double>(splits[f]->codes) / static_cast<double>(level.size()));
        }
        by_chance[f] =
            add_chances(by_category.empty() ? by_order : by_category, cuts.find_reaches());
      });
    });
    const auto best = growth_.choose(unsplit, splits.data(), by_chance);
    const std::optional<Split>& split = splits[best.feature];
    if (!split || !(best.saving > 0.0)) return std::nullopt;
    LevelChoice level_choice{{best.feature, *split, best.saving}, {}};
    visit_level(level, best.feature, [&level_choice](const LevelCuts<Cells>& cuts) {
      level_choice.savings = cuts.find_savings(level_choice.choice.split.cut);
    });
    return level_choice;
  }

  // Calls visitor(the cuts of a feature at all nodes of a level).
  template <class Visitor>
  void visit_level(const std::vector<Leaf>& level, std::size_t f, const Visitor& visitor) const {
    static thread_local std::vector<Sums> memory;  // of sums that no leaf keeps
    static thread_local std::vector<const typename Cells::Unit*> nodes;
    static thread_local typename LevelCuts<Cells>::Memory memory_of_cuts;
    memory.resize(std::max(memory.size(), level.size()));
    nodes.clear();
    for (std::size_t k = 0; k < level.size(); ++k) {
      nodes.push_back(growth_.sums().feature(level[k].node, level[k].sums, f, memory[k]));
    }
    visitor(LevelCuts<Cells>(growth_.cells(), growth_.bins()[f], growth_.direction_of(f), nodes,
                             growth_.sums().size_of(f), memory_of_cuts));
  }

  // The saving by chance of one cut of each node, if it is by so many categories.
  std::vector<ChanceSaving> chances_at(const std::vector<Leaf>& level, double categories) const {
    std::vector<ChanceSaving> chances;
    for (const Leaf& leaf : level) chances.push_back(growth_.chance_at(leaf.node, categories));
    return chances;
  }

  // The saving by chance of a cut of several nodes, each divided with the probability `reaches`.
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

  Growth<Cells>& growth_;
  const std::uint64_t key_;
};

}  // namespace properboost
