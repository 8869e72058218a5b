// Codes: one byte per row and feature, feature-major, rows sorted by segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

// Borrowed from the caller.  Segment k (a class) is rows segments[k] to segments[k + 1].
struct Codes {
  const std::uint8_t* data;
  std::size_t rows;
  std::vector<std::size_t> segments;

  const std::uint8_t* feature(std::size_t f) const noexcept { return data + f * rows; }
};

// Neighbouring rows of one segment: the unit of the row passes' sums, of determinism and of
// threads.
struct RowBlock {
  static constexpr std::size_t kRows = 8'192;
  std::size_t segment, begin, end;
};

inline std::vector<RowBlock> cut_into_row_blocks(const std::vector<std::size_t>& segments) {
  std::vector<RowBlock> blocks;
  for (std::size_t k = 0; k + 1 < segments.size(); ++k) {
    for (std::size_t begin = segments[k]; begin < segments[k + 1]; begin += RowBlock::kRows) {
      blocks.push_back({k, begin, std::min(begin + RowBlock::kRows, segments[k + 1])});
    }
  }
  return blocks;
}

}  // namespace properboost
