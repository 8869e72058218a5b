// Walking many rows down a tree at once, level by level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

// Where a tree sends each code at each of its nodes.
class TreeWalk {
 public:
  // A tree of at most TreeGrower::kMostNodes nodes, whose numbers are bytes.
  explicit TreeWalk(const Tree& tree);

  // Writes nodes[row] for the n rows named, whose order is lost.
  void find_nodes(const PackedCodes& codes, std::uint32_t* rows, std::size_t n,
                  std::uint8_t* nodes) const;

 private:
  std::vector<std::uint32_t> feature_;  // that a node asks for, 0 at a leaf
  std::vector<std::uint8_t> is_leaf_;
  std::vector<std::uint8_t> next_;  // [node][code]: a child, or the node itself where a row stays
};

}  // namespace properboost
