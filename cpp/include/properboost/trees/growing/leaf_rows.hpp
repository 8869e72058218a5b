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
#include "properboost/data/screen.hpp"
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

  explicit LeafRows(const Codes& codes);

  // The bytes for so many rows: two buffers of their numbers, and their branches.
  static constexpr std::size_t bytes(std::size_t rows) noexcept {
    return rows * (2 * sizeof(std::uint32_t) + sizeof(std::uint8_t));
  }

  // Begins a tree with rows of these segments.
  void set_segments(const std::vector<std::size_t>& segments);
  // The row blocks of these segments.
  const std::vector<RowBlock>& blocks() const noexcept { return blocks_; }
  // Takes those of them that are drawn and count: draw(row, n, drawn) writes 1 or 0 for each of n
  // rows, and count(rows, n, counts) the same for n rows that are drawn.
  template <class Draw, class Count>
  void take(const Draw& draw, const Count& count, Team& team);
  // Takes all rows, and puts them at the leaves where they belong.
  void place(const std::uint8_t* node_of_row, Team& team);

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
  // Calls visit(row numbers, n, training segment) for parts of the rows at a node.
  template <class Visit>
  void visit(std::size_t node, double ns_a_row, const Visit& visit, Team& team) const {
    const std::vector<RowBlock> parts = cut(places_[node]);
    const double nanoseconds = ns_a_row * static_cast<double>(places_[node].size());
    team.for_each(parts.size(), nanoseconds, [&](std::size_t c) {
      visit(rows(node) + parts[c].begin, parts[c].end - parts[c].begin, parts[c].segment);
    });
  }
  // Whole numbers that the rows at a node add up to, those of peers apart: add(row numbers, n,
  // training segment, sums).
  template <class Sums, class Add>
  Sums sum(std::size_t node, Sums none, double ns_a_row, const Add& add, Team& team) const {
    const Place& place = places_[node];
    const std::vector<RowBlock> parts = cut(place);
    std::vector<Sums> sums(parts.size(), none);
    const double nanoseconds = ns_a_row * static_cast<double>(place.size());
    team.for_each(parts.size(), nanoseconds, [&](std::size_t c) {
      const RowBlock& part = parts[c];
      add(rows(node) + part.begin, part.end - part.begin, part.segment, sums[c]);
    });
    for (const Sums& part : sums) {
      for (std::size_t j = 0; j < none.size(); ++j) none[j] += part[j];
    }
    return none;
  }

 private:
  static constexpr std::size_t kRowsAtOnce = 1024;  // of a node, by one thread
  static std::vector<RowBlock> cut(const Place& place);

  const Codes& codes_;
  std::vector<std::size_t> segments_;
  std::vector<RowBlock> blocks_;
  std::vector<std::size_t> first_{0};  // of each block's rows among those of all blocks; last all
  // Sorted by leaf, in a leaf by segment, and in a segment in their original order.
  std::array<std::vector<std::uint32_t>, 2> buffers_;
  std::vector<std::uint8_t> is_left_;  // of each place, where a leaf is split
  std::vector<Place> places_;          // of each node
};

template <class Draw, class Count>
void LeafRows::take(const Draw& draw, const Count& count, Team& team) {
  std::uint32_t* const rows = buffers_[0].data();
  std::vector<std::size_t> taken(blocks_.size());
  team.for_each(blocks_.size(), static_cast<double>(first_.back()), [&](std::size_t c) {
    constexpr std::size_t kStrip = 512;
    std::array<std::uint8_t, kStrip> drawn, counts;
    std::uint32_t* to = rows + first_[c];
    for (std::size_t begin = blocks_[c].begin; begin < blocks_[c].end; begin += kStrip) {
      const std::size_t n = std::min(kStrip, blocks_[c].end - begin);
      draw(begin, n, drawn.data());
      std::uint32_t* const first = to;
      for (std::size_t i = 0; i < n; ++i) {
        *to = static_cast<std::uint32_t>(begin + i);
        to += drawn[i];
      }
      const auto size = static_cast<std::size_t>(to - first);
      count(first, size, counts.data());
      to = first;
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t row_number = first[i];
        *to = row_number;
        to += counts[i];
      }
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
  places_ = {root};
}

}  // namespace properboost
