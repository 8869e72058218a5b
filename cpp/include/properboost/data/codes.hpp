// Codes: one byte a row and feature, feature-major, rows sorted by segment.
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

// A stretch of rows inside one segment: the unit of the row passes' sums, of determinism and of
// threads.
struct Chunk {
  static constexpr std::size_t kRows = 8'192;
  std::size_t segment, begin, end;
};

inline std::vector<Chunk> cut_into_chunks(const std::vector<std::size_t>& segments) {
  std::vector<Chunk> chunks;
  for (std::size_t k = 0; k + 1 < segments.size(); ++k) {
    for (std::size_t begin = segments[k]; begin < segments[k + 1]; begin += Chunk::kRows) {
      chunks.push_back({k, begin, std::min(begin + Chunk::kRows, segments[k + 1])});
    }
  }
  return chunks;
}

}  // namespace properboost
