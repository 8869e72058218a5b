// Trees over codes: splits of features into two sets of codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

class Team;

// Some of a feature's codes.
struct CodeSet {
  std::array<std::uint64_t, kMaxCodes / 64> bits{};

  bool has(std::uint8_t code) const noexcept { return (bits[code / 64] >> (code % 64) & 1) != 0; }
  bool operator==(const CodeSet& other) const noexcept { return bits == other.bits; }
  void insert(std::size_t code) noexcept { bits[code / 64] |= std::uint64_t{1} << (code % 64); }
};

// Nodes in one flat array, the root first; a split's children lie side by side.
struct Tree {
  static constexpr std::int32_t kLeaf = -1;

  std::vector<std::int32_t> feature;  // that a node splits; kLeaf if none
  std::vector<std::int64_t> left;     // its left child; the right one comes next
  // The codes of either branch.  A row whose code is in neither set, because no training row had
  // it, stays at the node.
  std::vector<CodeSet> goes_left, goes_right;
  std::vector<Cell> cell;      // training rows
  std::vector<double> saving;  // how much the split lowers the cost in the search

  std::size_t size() const noexcept { return feature.size(); }
  bool is_leaf(std::size_t node) const noexcept { return feature[node] == kLeaf; }

  // The node at which a row ends in the tree whose root is at `root`; code_of(f) is the row's code
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
  void add_leaf();
  // Adds the nodes of another tree, whose children are counted from its own root.
  void append(const Tree& other);
  // Returns the nodes from one to before another.
  Tree part(std::size_t begin, std::size_t end) const;
  // Keeps the first n nodes.
  void resize(std::size_t n);
};

// The node at which each row ends: a std::uint8_t or a std::int64_t.  Bins give the number of codes
// of a feature; without them it may have any.
template <class Number>
void find_nodes(const Tree& tree, const Codes& codes, const Bins* bins, Number* nodes, Team& team);

}  // namespace properboost
