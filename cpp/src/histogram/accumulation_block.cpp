#include "properboost/histogram/accumulation_block.hpp"

#include "properboost/data/screen.hpp"

namespace properboost {

std::size_t count_rows(const std::vector<AccumulationBlock>& blocks) {
  std::size_t n = 0;
  for (const AccumulationBlock& block : blocks) n += block.rows();
  return n;
}

std::vector<AccumulationBlock> cut_into_accumulation_blocks(
    const std::vector<SegmentRange>& ranges, const std::vector<SegmentRoles>& roles) {
  std::vector<AccumulationBlock> blocks;
  std::size_t rows = AccumulationBlock::kRows;
  for (const SegmentRange& range : ranges) {
    const SegmentRoles& segment_roles = roles[range.segment];
    if (!segment_roles.trains) continue;
    if (!blocks.empty() && !blocks.back().roles->same_training(segment_roles)) {
      rows = AccumulationBlock::kRows;
    }
    for (std::size_t begin = range.begin; begin < range.end;) {
      if (rows == AccumulationBlock::kRows) {
        blocks.push_back({&segment_roles, {}});
        rows = 0;
      }
      const std::size_t end = std::min(begin + AccumulationBlock::kRows - rows, range.end);
      auto& block_ranges = blocks.back().ranges;
      if (!block_ranges.empty() && block_ranges.back().second == begin) {
        block_ranges.back().second = end;
      } else {
        block_ranges.emplace_back(begin, end);
      }
      rows += end - begin;
      begin = end;
    }
  }
  return blocks;
}
std::vector<AccumulationBlock> cut_into_accumulation_blocks(
    const std::vector<std::size_t>& segments, const std::vector<SegmentRoles>& roles) {
  std::vector<SegmentRange> ranges;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    ranges.push_back({s, segments[s], segments[s + 1]});
  }
  return cut_into_accumulation_blocks(ranges, roles);
}

}  // namespace properboost
