// The best splits of leaves, found leaf by leaf and feature by feature.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "properboost/trees/best_cut.hpp"
#include "properboost/trees/growing/drawn_features.hpp"
#include "properboost/trees/growing/growth.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

template <class Cells>
class LeafSplits {
 public:
  using Choice = typename Growth<Cells>::Choice;
  using Leaf = typename Growth<Cells>::Leaf;
  using Total = typename Cells::Total;

  // The rest of a rule at a leaf where it holds.
  struct Rule {
    Total others;   // the rows for which it does not hold
    int rises = 0;  // where it holds the value must not be less (1) or more (-1)
  };
  struct SplitSearch {
    const Leaf& leaf;
    const Rule* rule = nullptr;
  };

  // Features are drawn by the key.
  LeafSplits(const Growth<Cells>& growth, std::uint64_t key)
      : growth_(growth), cells_(growth.cells()), bins_(growth.bins()), key_(key) {}

  // For each leaf, if it may be split and that lowers the cost.
  std::vector<std::optional<Choice>> find(const std::vector<SplitSearch>& searches) const {
    std::vector<std::optional<Choice>> choices(searches.size());
    std::vector<std::size_t> leaves;  // of the requested ones
    double nanoseconds = 0.0;
    for (std::size_t i = 0; i < searches.size(); ++i) {
      const Leaf& leaf = searches[i].leaf;
      if (!growth_.may_grow(leaf.depth, growth_.leaves())) continue;
      if (!cells_.may_be_split(growth_.total(leaf.node))) continue;
      leaves.push_back(i);
      nanoseconds += growth_.nanoseconds_of_search(leaf);
    }
    const std::size_t features = bins_.size();
    const double share = growth_.limits().fields.max_features;
    std::vector<std::optional<Split>> splits(leaves.size() * features);
    std::vector<std::vector<std::uint8_t>> allowed;
    for (const std::size_t i : leaves) {
      const std::size_t node = searches[i].leaf.node;
      draw_features(share, key_, node, allowed.emplace_back(growth_.joinable({node})));
    }
    growth_.team().for_each(splits.size(), nanoseconds, [&](std::size_t task) {
      if (allowed[task / features][task % features] != 0) {
        find_split(searches[leaves[task / features]], task % features, splits[task]);
      }
    });
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      const auto& [leaf, rule] = searches[leaves[k]];
      double unsplit = cells_.cost(growth_.total(leaf.node));
      if (rule != nullptr) unsplit += cells_.cost(rule->others);
      const std::optional<Split>* const leaf_splits = &splits[k * features];
      const auto best = growth_.choose(unsplit, leaf_splits, chances_at(leaf.node, leaf_splits));
      const std::optional<Split>& split = splits[k * features + best.feature];
      if (split && best.saving > 0.0) {
        choices[leaves[k]] = Choice{best.feature, *split, best.saving};
      }
    }
    return choices;
  }

 private:
  // The saving by chance of one cut of each feature.
  std::vector<ChanceSaving> chances_at(std::size_t node, const std::optional<Split>* splits) const {
    if (!growth_.limits().allows_for_chance) return {};
    std::vector<ChanceSaving> chances(bins_.size(), growth_.chance_at(node));
    for (std::size_t f = 0; f < bins_.size(); ++f) {
      const std::optional<Split>& split = splits[f];
      if (!split || !growth_.counts_categories(f)) continue;
      chances[f] = growth_.chance_at(node, static_cast<double>(split->codes));
    }
    return chances;
  }

  // Splits are written where they stay: they are large.
  void find_split(const SplitSearch& search, std::size_t f, std::optional<Split>& best) const {
    const auto& [leaf, rule] = search;
    typename Growth<Cells>::Sums memory;
    const typename Cells::Feature feature(cells_, bins_[f],
                                          growth_.sums().feature(leaf.node, leaf.sums, f, memory));
    const int direction = growth_.direction_of(f);
    const auto find_best = [&](const Total& beside_left, const Total& beside_right, int rises) {
      return growth_.find_split(feature.cuts(beside_left, beside_right, rises), f);
    };
    if (rule == nullptr) {
      best = find_best({}, {}, direction);
      return;
    }
    // Rows that a condition excludes join those for which the rule did not hold before.  Because
    // costs are concave, the best cut of categories ordered by their share of a class is the best
    // of all sets here, too.  A condition must agree with its own feature's direction and with
    // those of the conditions before it.
    std::optional<Split> above;
    if (direction * rule->rises <= 0) {
      best = find_best({}, rule->others, direction != 0 ? direction : -rule->rises);
    }
    if (direction * rule->rises >= 0) {
      above = find_best(rule->others, {}, direction != 0 ? direction : rule->rises);
    }
    if (!above) return;
    if (best && !(above->cost < best->cost - kTie * std::abs(best->cost))) return;
    above->swap_branches();
    best = above;
  }

  const Growth<Cells>& growth_;
  const Cells& cells_;
  const Bins& bins_;
  const std::uint64_t key_;
};

}  // namespace properboost
