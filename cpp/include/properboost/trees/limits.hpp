// Limits on the growth of a tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/learners/fields.hpp"
#include "properboost/trees/interaction_limits.hpp"

namespace properboost {

// How many of the features a split is chosen from, if it is such a share of them: at least one.
inline std::size_t count_drawn(double share, std::size_t features) {
  const auto drawn = std::llround(share * static_cast<double>(features));
  return std::max<std::size_t>(1, static_cast<std::size_t>(drawn));
}

// Whether a split's saving is worth it, compared with the node's cost, if it must save such a
// share.
inline bool is_enough(double saving, double unsplit, double least_share) {
  return saving >= least_share * std::abs(unsplit);
}

struct TreeLimits {
  static constexpr std::size_t kUnlimited = std::size_t{1} << 31;
  // The multiple of the saving by chance that splits are charged, where it is allowed for, so that
  // features of many codes are not favoured.  Twice is the right charge on other rows: they lose on
  // average as much as the training rows gain by chance (Akaike 1974).
  static constexpr double kChance = 2.0;
  static constexpr std::size_t kMostLeaves = 128;  // of a learner's tree: a node's number is a byte

  // A tree whose splits are chosen from all features.
  TreeLimits(std::size_t most_leaves, std::size_t most_splits, double min_child_weight)
      : leaves(most_leaves), depth(most_splits) {
    fields.min_child_weight = min_child_weight;
    fields.max_features = 1.0;
  }
  explicit TreeLimits(TreeFields its_fields)
      : fields(std::move(its_fields)),
        leaves(fields.max_leaf_nodes > 0 ? fields.max_leaf_nodes : kMostLeaves),
        depth(fields.max_depth > 0 ? fields.max_depth : kUnlimited) {
    if (by_level()) leaves = std::size_t{1} << std::min<std::size_t>(depth, 31);
  }
  explicit TreeLimits(const RuleFields& its_rule) : rule(its_rule), depth(rule->max_conditions) {
    static_cast<GrownFields&>(fields) = its_rule;
  }

  // Those of the learner.  A rule's are in `rule`, but for those that it has in common with trees.
  TreeFields fields = {};
  // A rule is a tree that splits only its left-most leaf, by the cost of two cells: this leaf, and
  // all others.
  std::optional<RuleFields> rule = {};
  std::size_t leaves = kUnlimited;  // at most
  std::size_t depth = kUnlimited;   // splits from the root to a leaf, at most
  // For each feature: whether the positive class's share must rise (1) or fall (-1) along its bins;
  // the learner's.
  std::vector<std::int8_t> directions = {};
  InteractionLimits interactions = {};  // the learner's
  // The weight of a row of weight one, in the unit of the rows' weights.
  double row_weight = 1.0;
  bool allows_for_chance = false;
  // The least share of a node's cost that a split of it must save.
  double min_relative_decrease = 0.0;

  // Whether each level is one split, of all those of its nodes that gain by it.
  bool by_level() const { return fields.grow_policy == "symmetric"; }
};

}  // namespace properboost
