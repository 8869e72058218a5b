// Growing trees: the best split of all leaves first, or of one leaf only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/tree.hpp"

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

// What each row counts for: weight times sample weight, finite and at least 0, in segment order.
// Null stands for ones; curvature may be null where the criterion needs none.
struct RowWeights {
  const float* weight = nullptr;
  const float* curvature = nullptr;
  const double* sample_weight = nullptr;
  double share = 1.0;  // of the rows, drawn by the tree's number, that count at all
};

// Grows trees from the rows of segments that are positive or negative.  The split that saves most
// cost comes first, and of equal ones the earlier node's.  Sums are of integers, so that a child's
// are its parent's without its sibling's, to the last digit, and no order matters.
class TreeGrower {
 public:
  // All arguments must outlive it.
  TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins,
             const std::vector<Role>& roles);
  ~TreeGrower();

  // `key` is what the tree's random choices are drawn by.  `progress` is called on the calling
  // thread before each split, and may throw.
  Tree grow(const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
            const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
            Team& team);

  // Of the tree grown last: the node of every row that has a role, as a byte.
  static constexpr std::size_t kMostNodes = 255;
  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const;
  // And how much its rows weigh, of each class and at each node; no weights are ones.
  std::vector<Cell> weigh(const Tree& tree, const double* sample_weight, Team& team) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
