// Trees over codes: splits of features into two sets of codes, the best one first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/cells.hpp"
#include "properboost/codes.hpp"
#include "properboost/criterion.hpp"
#include "properboost/lanes.hpp"
#include "properboost/parallel.hpp"

namespace properboost {

// Some of a feature's codes.
struct CodeSet {
  std::array<std::uint64_t, kMaxCodes / 64> bits{};

  bool has(std::uint8_t code) const noexcept { return (bits[code / 64] >> (code % 64) & 1) != 0; }
  void insert(std::size_t code) noexcept { bits[code / 64] |= std::uint64_t{1} << (code % 64); }
};

// Nodes in one flat array, the root first; a split's children lie side by side.
struct Tree {
  static constexpr std::int32_t kLeaf = -1;

  std::vector<std::int32_t> feature;  // that a node splits; kLeaf if none
  std::vector<std::int64_t> left;     // its left child; the right one comes next
  // Where codes go.  A row that belongs to neither side, as training had none of its kind, stays.
  std::vector<CodeSet> goes_left, goes_right;
  std::vector<Cell> cell;      // training rows
  std::vector<double> saving;  // of cost, by the split

  std::size_t size() const noexcept { return feature.size(); }
};

struct TreeLimits {
  std::size_t leaves;   // at most
  std::size_t depth;    // splits from the root to a leaf, at most
  double child_weight;  // weight (or curvature, where the criterion needs it) of a child, at least
};

// What each row counts for, finite and at least 0, in segment order; no weight is 1, and curvature
// may be null where the criterion needs none.
struct RowWeights {
  const double* weight;
  const double* curvature;
};

// Grows a tree from the rows of segments that are positive or negative.  The split that saves most
// cost comes first, and of equal ones the earlier node's.  Sums are of integers, so that a child's
// are its parent's without its sibling's, to the last digit, and no order matters.  `progress` is
// called on the calling thread before each split, and may throw.
Tree grow_tree(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
               const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
               const TreeLimits& limits, const std::function<void()>& progress, Team& team);

// The node at which each row ends; codes[f * n + i] is row i's of feature f.
void find_nodes(const Tree& tree, const std::uint8_t* codes, std::size_t n, std::int64_t* nodes,
                Team& team);

}  // namespace properboost
