// The rows at each node of a growing tree.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

class LeafRows {
 public:
  // Where a node's rows are: ranges of one of two buffers, one per training segment.  A node that
  // was split has none.
  struct Place {
    std::vector<std::size_t> bounds;
    std::size_t buffer = 0;

    std::size_t size() const { return bounds.back() - bounds.front(); }
  };

  // Trees are grown from the rows of these segments.
  LeafRows(const Codes& codes, std::vector<std::size_t> segments);

  // The row blocks of these segments.
  const std::vector<RowBlock>& blocks() const noexcept { return blocks_; }

  // Begins a tree with the rows for which counts(row).
  template <class Counts>
  void take(const Counts& counts, Team& team);

  // Divides a leaf's rows among two new nodes: those whose code is on the left, and the others.
  // They keep their order.
  void split(std::size_t node, const std::uint8_t* code, const CellOfCode& branch, Team& team);
  void exchange(std::size_t a, std::size_t b) { std::swap(places_[a], places_[b]); }

  std::size_t nodes() const noexcept { return places_.size(); }
  const Place& place(std::size_t node) const noexcept { return places_[node]; }
  // Row numbers; those from bounds[s] to bounds[s + 1] are of segment s.
  const std::uint32_t* rows(std::size_t node) const noexcept {
    return buffers_[places_[node].buffer].data();
  }
  // The number of rows that the tree is grown from.
  std::size_t grown() const;
  // Whether a node's rows follow each other inside each segment.
  bool follow_each_other(std::size_t node) const {
    return all_count_ && places_[node].size() == buffers_[0].size();
  }

 private:
  std::vector<std::size_t> segments_;
  std::vector<RowBlock> blocks_;
  std::vector<std::size_t> first_;  // of each block's rows among those of all blocks
  // Sorted by leaf, in a leaf by segment, and in a segment in their original order.
  std::array<std::vector<std::uint32_t>, 2> buffers_;
  std::vector<Place> places_;  // of each node
  bool all_count_ = true;      // no row is excluded
};

template <class Counts>
void LeafRows::take(const Counts& counts, Team& team) {
  std::uint32_t* const rows = buffers_[0].data();
  std::vector<std::size_t> taken(blocks_.size());
  const auto n = static_cast<double>(buffers_[0].size());
  team.for_each(blocks_.size(), n, [&](std::size_t c) {
    std::uint32_t* to = rows + first_[c];
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) {
      *to = static_cast<std::uint32_t>(i);
      to += counts(i) ? 1 : 0;
    }
    taken[c] = static_cast<std::size_t>(to - (rows + first_[c]));
  });
  Place root;
  std::size_t end = 0, c = 0;
  for (const std::size_t segment : segments_) {
    root.bounds.push_back(end);
    for (; c < blocks_.size() && blocks_[c].segment == segment; ++c) {
      if (end != first_[c]) std::copy_n(rows + first_[c], taken[c], rows + end);
      end += taken[c];
    }
  }
  root.bounds.push_back(end);
  all_count_ = end == buffers_[0].size();
  places_ = {root};
}

}  // namespace properboost
