// Accumulation blocks: runs of rows of which a thread sums some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "properboost/rounds/lanes.hpp"

namespace properboost {

struct SegmentRange;

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

// Calls add(begin, end) for the rows of a block, in chunks of at most `rows` rows.
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

std::size_t count_rows(const std::vector<AccumulationBlock>& blocks);

// Neighbouring segments that have the same role in every lane share a block.
std::vector<AccumulationBlock> cut_into_accumulation_blocks(const std::vector<SegmentRange>& ranges,
                                                            const std::vector<SegmentRoles>& roles);
std::vector<AccumulationBlock> cut_into_accumulation_blocks(
    const std::vector<std::size_t>& segments, const std::vector<SegmentRoles>& roles);

}  // namespace properboost
