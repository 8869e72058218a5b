// How far a tree may grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

struct TreeLimits {
  static constexpr std::size_t kUnlimited = std::size_t{1} << 31;

  std::size_t leaves = kUnlimited;  // at most
  std::size_t depth = kUnlimited;   // splits from the root to a leaf, at most
  // Weight (or curvature, where the criterion needs it) of a child, at least.
  double child_weight = 0.0;
  double max_features = 1.0;  // share of the features, drawn anew, that a node's split is among
  // Of each feature: whether the positive class's share must rise (1) or fall (-1) along its bins.
  std::vector<std::int8_t> directions = {};
  // Whether to grow a rule: a tree that splits nothing but its left-most leaf, and that one by the
  // cost of two cells, this leaf and all others.
  bool only_left = false;
};

}  // namespace properboost
