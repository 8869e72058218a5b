// Codes: one byte per row and feature, feature-major, rows sorted by segment.  Features in which
// most rows have one code may be sparse: they have entries of the other rows only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/core/aligned.hpp"

namespace properboost {

class Bins;
class Team;
struct SegmentRange;

// Entries of a sparse feature, in ascending order of their rows.
struct CodeEntries {
  const std::int32_t* rows;
  const std::uint8_t* codes;
  std::size_t size;
};

// The sparse features among all, and their entries; borrowed from the caller.
struct SparseFeatures {
  const std::int64_t* place = nullptr;   // of each feature among the dense ones; -1 if it is sparse
  const std::int64_t* starts = nullptr;  // feature f has the entries starts[f] to starts[f + 1]
  const std::int32_t* rows = nullptr;
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* common = nullptr;  // the code of a feature's rows without an entry

  bool any() const noexcept { return place != nullptr; }
};

// Borrowed from the caller.  Segment k (a class) is rows segments[k] to segments[k + 1].
struct Codes {
  const std::uint8_t* data;  // of the dense features
  std::size_t rows;
  std::vector<std::size_t> segments;
  SparseFeatures sparse = {};

  bool is_sparse(std::size_t f) const noexcept { return sparse.any() && sparse.place[f] < 0; }
  // Those of a dense feature.
  const std::uint8_t* feature(std::size_t f) const noexcept {
    return data + (sparse.any() ? static_cast<std::size_t>(sparse.place[f]) : f) * rows;
  }
  // The entries of a sparse feature: all, or those of the rows from `begin` to `end`.
  CodeEntries entries(std::size_t f) const noexcept;
  CodeEntries entries(std::size_t f, std::size_t begin, std::size_t end) const noexcept;
  // The bytes of `features` features, of sparse ones those of entries.
  std::size_t bytes(std::size_t features) const noexcept;
  // Has the system begin to read those codes of a feature that are not in memory, as of a mapped
  // file.  This changes nothing but the time.
  void read_ahead(std::size_t f) const noexcept;
};

// A feature's codes of all rows side by side.  Those of a sparse feature are laid out in memory of
// its own, for the loops that read every row.
class WholeFeature {
 public:
  // They are valid until the next call, and as long as `codes` are.
  const std::uint8_t* of(const Codes& codes, std::size_t f);

 private:
  Aligned<std::uint8_t> bytes_;
};
// The codes of a feature, dense or sparse, into one byte per row: of all rows, or from `begin` to
// `end`.
void lay_out(const Codes& codes, std::size_t f, std::uint8_t* out);
void lay_out(const Codes& codes, std::size_t f, std::size_t begin, std::size_t end,
             std::uint8_t* out);

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

// Whether every code is below its feature's width, and entries are of ascending rows.
bool are_below_widths(const Codes& codes, const Bins& bins, Team& team);

}  // namespace properboost
