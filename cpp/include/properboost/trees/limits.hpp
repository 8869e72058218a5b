// Limits on the growth of a tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

struct TreeLimits {
  static constexpr std::size_t kUnlimited = std::size_t{1} << 31;

  std::size_t leaves = kUnlimited;  // at most
  std::size_t depth = kUnlimited;   // splits from the root to a leaf, at most
  // The least weight (or curvature, if the criterion needs it) of a child.
  double child_weight = 0.0;
  double max_features = 1.0;  // share of the features drawn for each node's split
  // For each feature: whether the positive class's share must rise (1) or fall (-1) along its bins;
  // the learner's.
  std::vector<std::int8_t> directions = {};
  // Whether to grow a rule: a tree that splits only its left-most leaf, by the cost of two cells:
  // this leaf, and all others.
  bool only_left = false;
  // Whether each level is one split, of all those of its nodes that gain by it.
  bool by_level = false;
  // What a row of weight one weighs in the unit of the rows' weights.
  double row_weight = 1.0;
  // How often what splits save by chance is charged for, so that features of many codes are not
  // favoured.  Twice is what they are worth elsewhere: other rows lose on average what the training
  // rows gain by chance (Akaike 1974).
  double chance = 0.0;
  // The least share of a node's cost that a split of it must save.
  double least_decrease = 0.0;

  // Whether a split that saves so much of what the node costs is worth it.
  bool is_enough(double saving, double unsplit) const {
    return saving >= least_decrease * std::abs(unsplit);
  }

  // How many of the features each split is chosen from, drawn anew each time: at least one.
  std::size_t drawn_of(std::size_t features) const {
    const auto share = std::llround(max_features * static_cast<double>(features));
    return std::max<std::size_t>(1, static_cast<std::size_t>(share));
  }
};

// Whether leaves have lines, and how they are restrained.
struct LineLimits {
  static constexpr std::size_t kMostTerms = 4;  // features in a leaf's line

  bool any = false;
  // In the unit of the rows' weights: the penalty, and the least effective rows of a leaf that has
  // a line.
  double l2 = 0.0;
  double least_rows = 0.0;
};

}  // namespace properboost
