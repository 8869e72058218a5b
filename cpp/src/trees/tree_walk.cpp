#include "properboost/trees/tree_walk.hpp"

#include <algorithm>

namespace properboost {

TreeWalk::TreeWalk(const Tree& tree)
    : feature_(tree.size(), 0), is_leaf_(tree.size(), 1), next_(tree.size() * kMaxCodes) {
  for (std::size_t node = 0; node < tree.size(); ++node) {
    std::uint8_t* const next = next_.data() + node * kMaxCodes;
    std::fill_n(next, kMaxCodes, static_cast<std::uint8_t>(node));
    if (tree.is_leaf(node)) continue;
    feature_[node] = static_cast<std::uint32_t>(tree.feature[node]);
    is_leaf_[node] = 0;
    const auto left = static_cast<std::uint8_t>(tree.left[node]);
    for (std::size_t b = 0; b < kMaxCodes; ++b) {
      const auto code = static_cast<std::uint8_t>(b);
      if (tree.goes_left[node].has(code)) next[b] = left;
      if (tree.goes_right[node].has(code)) next[b] = static_cast<std::uint8_t>(left + 1);
    }
  }
}

void TreeWalk::find_nodes(const PackedCodes& codes, std::uint32_t* rows, std::size_t n,
                          std::uint8_t* nodes) const {
  for (std::size_t i = 0; i < n; ++i) nodes[rows[i]] = 0;
  if (is_leaf_[0] != 0) return;
  while (n > 0) {
    std::size_t left = 0;  // the rows that may go on
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t row = rows[i];
      const std::size_t node = nodes[row];
      const std::uint8_t next = next_[node * kMaxCodes + codes.row(row)[feature_[node]]];
      nodes[row] = next;
      rows[left] = row;
      left += next != node && is_leaf_[next] == 0 ? 1 : 0;
    }
    n = left;
  }
}

}  // namespace properboost
