#include "properboost/trees/growing/leaf_rows.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

LeafRows::LeafRows(const Codes& codes) : codes_(codes) {
  if (codes.rows > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("a tree is grown from at most 2^32 - 1 rows");
  }
}

void LeafRows::set_segments(const std::vector<std::size_t>& segments) {
  if (segments == segments_) return;
  segments_ = segments;
  blocks_.clear();
  first_ = {0};
  std::vector<bool> learns(codes_.segments.size(), false);
  for (const std::size_t segment : segments_) learns[segment] = true;
  for (const RowBlock& block : cut_into_row_blocks(codes_.segments)) {
    if (!learns[block.segment]) continue;
    blocks_.push_back(block);
    first_.push_back(first_.back() + block.end - block.begin);
  }
  for (auto& rows : buffers_) {
    if (rows.size() < first_.back()) rows.resize(first_.back());
  }
}

std::size_t LeafRows::grown() const {
  std::size_t n = 0;
  for (const Place& place : places_) n += place.size();
  return n;
}

void LeafRows::take(const Screen& screen, Team& team) {
  std::vector<std::size_t> first;  // of each range's rows
  Place root;
  std::size_t end = 0;
  auto range = screen.ranges.begin();
  for (const std::size_t segment : segments_) {
    root.bounds.push_back(end);
    for (; range != screen.ranges.end() && range->segment == segment; ++range) {
      first.push_back(end);
      end += range->end - range->begin;
    }
  }
  root.bounds.push_back(end);
  std::uint32_t* const rows = buffers_[0].data();
  team.for_each(first.size(), 0.5 * static_cast<double>(end), [&](std::size_t k) {
    const auto& [segment, from, to] = screen.ranges[k];
    std::iota(rows + first[k], rows + first[k] + (to - from), static_cast<std::uint32_t>(from));
  });
  places_ = {root};
}

void LeafRows::place(const std::uint8_t* node_of_row, Team& team) {
  constexpr std::size_t kNodes = 256;  // of a byte
  const double nanoseconds = 2.0 * static_cast<double>(first_.back());
  // Each block's rows at each node: first their number, then the place of the next of them.
  std::vector<std::array<std::size_t, kNodes>> next(blocks_.size());
  team.for_each(blocks_.size(), 0.5 * nanoseconds, [&](std::size_t c) {
    next[c].fill(0);
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) ++next[c][node_of_row[i]];
  });
  std::size_t end = 0;
  for (std::size_t node = 0; node < places_.size(); ++node) {
    Place place;
    std::size_t c = 0;
    for (const std::size_t segment : segments_) {
      place.bounds.push_back(end);
      for (; c < blocks_.size() && blocks_[c].segment == segment; ++c) {
        end += std::exchange(next[c][node], end);
      }
    }
    place.bounds.push_back(end);
    places_[node] = std::move(place);
  }
  std::uint32_t* const rows = buffers_[0].data();
  team.for_each(blocks_.size(), nanoseconds, [&](std::size_t c) {
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) {
      rows[next[c][node_of_row[i]]++] = static_cast<std::uint32_t>(i);
    }
  });
}

std::vector<RowBlock> LeafRows::cut(const Place& place) {
  std::vector<SegmentRange> ranges;
  for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
    ranges.push_back({s, place.bounds[s], place.bounds[s + 1]});
  }
  return cut_into_row_blocks(ranges, kRowsAtOnce);
}

void LeafRows::split(std::size_t node, const std::uint8_t* code, const CellOfCode& branch,
                     Team& team) {
  std::array<std::uint8_t, kMaxCodes> goes_left;
  for (std::size_t b = 0; b < kMaxCodes; ++b) goes_left[b] = branch[b] == Split::kLeft ? 1 : 0;
  const auto is_left = [&](std::uint32_t row) { return goes_left[code[row]]; };
  const Place parent = std::move(places_[node]);
  const std::vector<std::size_t>& bounds = parent.bounds;
  const std::uint32_t* const from = buffers_[parent.buffer].data();
  std::uint32_t* const to = buffers_[1 - parent.buffer].data();
  const std::vector<RowBlock> blocks = cut(parent);
  const double nanoseconds = 1.5 * static_cast<double>(parent.size());
  std::vector<std::size_t> go_left(blocks.size());
  team.for_each(blocks.size(), nanoseconds, [&](std::size_t c) {
    std::size_t n = 0;
    for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) n += is_left(from[i]);
    go_left[c] = n;
  });
  const std::size_t begin = bounds.front();
  const std::size_t middle = std::accumulate(go_left.begin(), go_left.end(), begin);
  std::array<Place, 2> children;
  std::array<std::size_t, 2> next{begin, middle};  // where the next rows go
  std::vector<std::array<std::size_t, 2>> places;  // of each block's
  std::size_t c = 0;
  for (std::size_t s = 0; s < bounds.size(); ++s) {
    for (std::size_t k = 0; k < 2; ++k) children[k].bounds.push_back(next[k]);
    for (; c < blocks.size() && blocks[c].segment == s; ++c) {
      places.push_back(next);
      next[0] += go_left[c];
      next[1] += blocks[c].end - blocks[c].begin - go_left[c];
    }
  }
  team.for_each(blocks.size(), nanoseconds, [&](std::size_t k) {
    std::array<std::uint32_t, kRowsAtOnce> left, right;
    std::size_t lefts = 0, rights = 0;
    for (std::size_t i = blocks[k].begin; i < blocks[k].end; ++i) {
      const std::uint32_t row = from[i];
      const std::size_t goes = is_left(row);
      left[lefts] = row;
      right[rights] = row;
      lefts += goes;
      rights += 1 - goes;
    }
    std::copy_n(left.begin(), lefts, to + places[k][0]);
    std::copy_n(right.begin(), rights, to + places[k][1]);
  });
  places_[node] = {{0, 0}, 0};
  for (Place& child : children) {
    child.buffer = 1 - parent.buffer;
    places_.push_back(std::move(child));
  }
}

}  // namespace properboost
