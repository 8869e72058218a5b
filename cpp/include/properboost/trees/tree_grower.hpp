// Growing trees: the best split of all leaves first, or of one leaf only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/row_units.hpp"
#include "properboost/trees/slots.hpp"
#include "properboost/trees/tree.hpp"
#include "properboost/votes/vote.hpp"

namespace properboost {

// A tree, and what weighs how much at each of its nodes: [node][slot].
struct VoteTree {
  Tree tree;
  std::vector<double> weights;
};

// Grows trees from the rows of segments that are learnt from, whose weights are added up by class
// or by the slots of a vote.  The split that saves most cost comes first, and of equal ones the
// earlier node's.  Sums are of whole numbers, so that a child's are its parent's without its
// sibling's, to the last digit, and no order matters.
class TreeGrower {
 public:
  // Codes and bins must outlive it.
  TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins, Slots slots);
  ~TreeGrower();

  // `key` is what the tree's random choices are drawn by.  `progress` is called on the calling
  // thread before each split, and may throw.
  Tree grow(const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
            const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
            Team& team);
  // By a vote's cost.  Every row of positive weight counts, however light it is.
  VoteTree grow(const RowWeights& rows, const Vote& vote, const TreeLimits& limits,
                std::uint64_t key, const std::function<void()>& progress, Team& team);

  // Of the tree grown last: the node of every row that has a role, as a byte.
  static constexpr std::size_t kMostNodes = 255;
  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const;
  // And how much its rows weigh, of two classes and at each node; no weights are ones.
  std::vector<Cell> weigh(const Tree& tree, const double* sample_weight, Team& team) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
