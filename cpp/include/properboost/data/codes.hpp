// Codes: one byte per row and feature, feature-major, rows sorted by segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/prefetch.hpp"
#include "properboost/data/screen.hpp"

namespace properboost {

// Borrowed from the caller.  Segment k (a class) is rows segments[k] to segments[k + 1].
struct Codes {
  const std::uint8_t* data;
  std::size_t rows;
  std::vector<std::size_t> segments;

  const std::uint8_t* feature(std::size_t f) const noexcept { return data + f * rows; }
  void read_ahead(std::size_t f) const noexcept { properboost::read_ahead(feature(f), rows); }
};

// The numbers of rows by which they are drawn, wherever they lie: given, or else their places.
class RowNumbers {
 public:
  RowNumbers() = default;
  explicit RowNumbers(const std::int64_t* given) : given_(given) {}
  std::uint64_t operator[](std::size_t row) const noexcept {
    return given_ == nullptr ? row : static_cast<std::uint64_t>(given_[row]);
  }

 private:
  const std::int64_t* given_ = nullptr;
};

// Neighbouring rows of one segment: the unit of the row passes' sums, of determinism and of
// threads.
struct RowBlock {
  static constexpr std::size_t kRows = 8'192;
  std::size_t segment, begin, end;
};

// Those of sums that do not depend on it may be of any other number of rows.
inline std::vector<RowBlock> cut_into_row_blocks(const std::vector<SegmentRange>& ranges,
                                                 std::size_t rows = RowBlock::kRows) {
  std::vector<RowBlock> blocks;
  for (const auto& [segment, first, end] : ranges) {
    for (std::size_t begin = first; begin < end; begin += rows) {
      blocks.push_back({segment, begin, std::min(begin + rows, end)});
    }
  }
  return blocks;
}
// Neighbouring segments that are alike(first, other) share blocks, which are the first one's.
template <class Alike>
std::vector<RowBlock> cut_into_row_blocks(const std::vector<std::size_t>& segments,
                                          const Alike& alike, std::size_t rows = RowBlock::kRows) {
  std::vector<SegmentRange> ranges;
  for (std::size_t k = 0; k + 1 < segments.size();) {
    const std::size_t first = k++;
    while (k + 1 < segments.size() && alike(first, k)) ++k;
    ranges.push_back({first, segments[first], segments[k]});
  }
  return cut_into_row_blocks(ranges, rows);
}
inline std::vector<RowBlock> cut_into_row_blocks(const std::vector<std::size_t>& segments) {
  return cut_into_row_blocks(segments, [](std::size_t, std::size_t) { return false; });
}

}  // namespace properboost
