// Accumulation blocks: runs of rows of which a thread sums some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "properboost/data/screen.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// Rows that some lane trains on, segment after segment, of the same role in every lane.
struct AccumulationBlock {
  static constexpr std::size_t kRows = 65'536;
  const SegmentRoles* roles;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // of rows

  std::size_t rows() const noexcept {
    std::size_t n = 0;
    for (const auto& [begin, end] : ranges) n += end - begin;
    return n;
  }
};

// add(begin, end) for the rows of a block, a chunk of at most so many after the other.
template <class Add>
void visit_chunks(const AccumulationBlock& block, std::size_t rows, const Add& add) {
  for (const auto& [begin_range, end_range] : block.ranges) {
    for (std::size_t begin = begin_range; begin < end_range;) {
      const std::size_t end = begin + std::min(rows, end_range - begin);
      add(begin, end);
      begin = end;
    }
  }
}

inline std::size_t count_rows(const std::vector<AccumulationBlock>& blocks) {
  std::size_t n = 0;
  for (const AccumulationBlock& block : blocks) n += block.rows();
  return n;
}

// Neighbouring segments that have the same role in every lane share a block.
inline std::vector<AccumulationBlock> cut_into_accumulation_blocks(
    const std::vector<SegmentRange>& ranges, const std::vector<SegmentRoles>& roles) {
  std::vector<AccumulationBlock> blocks;
  std::size_t rows = AccumulationBlock::kRows;
  for (const SegmentRange& range : ranges) {
    const SegmentRoles& own = roles[range.segment];
    if (!own.trains) continue;
    if (!blocks.empty() && !blocks.back().roles->same_training(own)) {
      rows = AccumulationBlock::kRows;
    }
    for (std::size_t begin = range.begin; begin < range.end;) {
      if (rows == AccumulationBlock::kRows) {
        blocks.push_back({&own, {}});
        rows = 0;
      }
      const std::size_t end = std::min(begin + AccumulationBlock::kRows - rows, range.end);
      auto& own_ranges = blocks.back().ranges;
      if (!own_ranges.empty() && own_ranges.back().second == begin) {
        own_ranges.back().second = end;
      } else {
        own_ranges.emplace_back(begin, end);
      }
      rows += end - begin;
      begin = end;
    }
  }
  return blocks;
}
inline std::vector<AccumulationBlock> cut_into_accumulation_blocks(
    const std::vector<std::size_t>& segments, const std::vector<SegmentRoles>& roles) {
  std::vector<SegmentRange> ranges;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    ranges.push_back({s, segments[s], segments[s + 1]});
  }
  return cut_into_accumulation_blocks(ranges, roles);
}

}  // namespace properboost
