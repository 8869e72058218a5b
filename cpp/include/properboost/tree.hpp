// Trees over codes: splits of features into two sets of codes, the best one first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/cells.hpp"
#include "properboost/codes.hpp"
#include "properboost/criterion.hpp"
#include "properboost/lanes.hpp"
#include "properboost/packed_codes.hpp"
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
  bool is_leaf(std::size_t node) const noexcept { return feature[node] == kLeaf; }

  // The node at which a row ends, of the tree whose root is at `root`; code_of(f) is the row's code
  // of feature f.
  template <class CodeOf>
  std::size_t find_node(const CodeOf& code_of, std::size_t root = 0) const noexcept {
    std::size_t node = root;
    while (!is_leaf(node)) {
      const std::uint8_t code = code_of(static_cast<std::size_t>(feature[node]));
      const std::size_t child = root + static_cast<std::size_t>(left[node]);
      if (goes_left[node].has(code)) {
        node = child;
      } else if (goes_right[node].has(code)) {
        node = child + 1;
      } else {
        break;
      }
    }
    return node;
  }
  void add_leaf(const Cell& its_cell);
  // Adds the nodes of another tree, whose children are counted from its own root.
  void append(const Tree& other);
  // Keeps the first n nodes.
  void resize(std::size_t n);
};

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

// The node at which each row ends; codes[f * n + i] is row i's of feature f.
void find_nodes(const Tree& tree, const std::uint8_t* codes, std::size_t n, std::int64_t* nodes,
                Team& team);

}  // namespace properboost
