// Codes: one byte per row and feature, feature-major, rows sorted by segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace properboost {

class Bins;
class Team;
struct SegmentRange;

// Borrowed from the caller.  Segment k (a class) is rows segments[k] to segments[k + 1].
struct Codes {
  const std::uint8_t* data;
  std::size_t rows;
  std::vector<std::size_t> segments;

  const std::uint8_t* feature(std::size_t f) const noexcept { return data + f * rows; }
  // Has the system begin to read those codes of a feature that are not in memory, as of a mapped
  // file.  This changes nothing but the time.
  void read_ahead(std::size_t f) const noexcept;
};

// The row numbers that random draws use, wherever rows lie: an array, or else the rows' places.
class RowNumbers {
 public:
  RowNumbers() = default;
  explicit RowNumbers(const std::int64_t* numbers) : numbers_(numbers) {}
  std::uint64_t operator[](std::size_t row) const noexcept {
    return numbers_ == nullptr ? row : static_cast<std::uint64_t>(numbers_[row]);
  }

 private:
  const std::int64_t* numbers_ = nullptr;
};

// Neighbouring rows of one segment: the unit of the row passes' sums, of determinism and of
// threads.
struct RowBlock {
  static constexpr std::size_t kRows = 8'192;
  std::size_t segment, begin, end;
};

// Those of sums that do not depend on it may be of any other number of rows.
std::vector<RowBlock> cut_into_row_blocks(const std::vector<SegmentRange>& ranges,
                                          std::size_t rows = RowBlock::kRows);
// Neighbouring segments that are alike(first, other) share blocks, which are the first one's.
std::vector<RowBlock> cut_into_row_blocks(
    const std::vector<std::size_t>& segments,
    const std::function<bool(std::size_t first, std::size_t other)>& alike,
    std::size_t rows = RowBlock::kRows);
std::vector<RowBlock> cut_into_row_blocks(const std::vector<std::size_t>& segments);

// Whether every code is below its feature's width.
bool are_below_widths(const Codes& codes, const Bins& bins, Team& team);

}  // namespace properboost
