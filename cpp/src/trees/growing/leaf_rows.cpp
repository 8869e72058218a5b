#include "properboost/trees/growing/leaf_rows.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/intrinsics.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

// Copies n rows to the left or to the right, in their order; `lefts` are to go to the left.
template <std::size_t kMost>
void divide(const std::uint32_t* rows, const std::uint8_t* goes_left, std::size_t n,
            std::size_t lefts, std::uint32_t* left, std::uint32_t* right) {
  std::array<std::uint32_t, kMost> to_left, to_right;  // which have room for all rows
  std::size_t l = 0, r = 0;
  for (std::size_t i = 0; i < n; ++i) {
    to_left[l] = rows[i];
    to_right[r] = rows[i];
    l += goes_left[i];
    r += 1 - goes_left[i];
  }
  std::copy_n(to_left.begin(), lefts, left);
  std::copy_n(to_right.begin(), n - lefts, right);
}

#if PROPERBOOST_X86_SETS
[[gnu::target(PROPERBOOST_AVX512)]] void divide_avx512(const std::uint32_t* rows,
                                                       const std::uint8_t* goes_left, std::size_t n,
                                                       std::uint32_t* left, std::uint32_t* right) {
  constexpr std::size_t kTogether = 16;
  const auto first = [](std::size_t k) { return static_cast<__mmask16>((1u << k) - 1); };
  for (std::size_t i = 0; i < n; i += kTogether) {
    const __mmask16 here = first(std::min(kTogether, n - i));
    const __m512i row = _mm512_maskz_loadu_epi32(here, rows + i);
    const __m128i flags = _mm_maskz_loadu_epi8(here, goes_left + i);
    const __mmask16 lefts = _mm_test_epi8_mask(flags, flags);
    const auto rights = static_cast<__mmask16>(here & ~lefts);
    const auto n_left = static_cast<std::size_t>(__builtin_popcount(lefts));
    const auto n_right = static_cast<std::size_t>(__builtin_popcount(rights));
    _mm512_mask_storeu_epi32(left, first(n_left), _mm512_maskz_compress_epi32(lefts, row));
    _mm512_mask_storeu_epi32(right, first(n_right), _mm512_maskz_compress_epi32(rights, row));
    left += n_left;
    right += n_right;
  }
}
#endif

}  // namespace

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
  is_left_.resize(buffers_[0].size());
}

std::size_t LeafRows::grown() const {
  std::size_t n = 0;
  for (const Place& place : places_) n += place.size();
  return n;
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
  ranges.reserve(place.bounds.size());
  for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
    ranges.push_back({s, place.bounds[s], place.bounds[s + 1]});
  }
  return cut_into_row_blocks(ranges, kRowsAtOnce);
}

void LeafRows::split(std::size_t node, const std::uint8_t* code, const CellOfCode& branch,
                     Team& team) {
  std::array<std::uint8_t, kMaxCodes> goes_left;
  for (std::size_t b = 0; b < kMaxCodes; ++b) goes_left[b] = branch[b] == Split::kLeft ? 1 : 0;
  const Place parent = std::move(places_[node]);
  const std::vector<std::size_t>& bounds = parent.bounds;
  const std::uint32_t* const from = buffers_[parent.buffer].data();
  std::uint32_t* const to = buffers_[1 - parent.buffer].data();
  const std::vector<RowBlock> blocks = cut(parent);
  const double nanoseconds = 1.5 * static_cast<double>(parent.size());
  std::vector<std::size_t> go_left(blocks.size());
  team.for_each(blocks.size(), nanoseconds, [&](std::size_t c) {
    const std::uint32_t* const row = from + blocks[c].begin;  // copies, as bytes that are written
    const std::uint8_t* const codes = code;                   // could be part of what is captured
    std::uint8_t* const __restrict to_left = is_left_.data() + blocks[c].begin;
    std::size_t n = 0;
    for (std::size_t i = 0, size = blocks[c].end - blocks[c].begin; i < size; ++i) {
      to_left[i] = goes_left[codes[row[i]]];
      n += to_left[i];
    }
    go_left[c] = n;
  });
  const std::size_t begin = bounds.front();
  const std::size_t middle = std::accumulate(go_left.begin(), go_left.end(), begin);
  std::array<Place, 2> children;
  std::array<std::size_t, 2> next{begin, middle};  // where the next rows go
  std::vector<std::array<std::size_t, 2>> places;  // of each block's
  places.reserve(blocks.size());
  for (Place& child : children) child.bounds.reserve(bounds.size());
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
    const std::size_t first = blocks[k].begin, n = blocks[k].end - first;
    const std::uint8_t* const goes_left = is_left_.data() + first;
    std::uint32_t* const left = to + places[k][0];
    std::uint32_t* const right = to + places[k][1];
#if PROPERBOOST_X86_SETS
    if (instruction_set() == InstructionSet::kAvx512) {
      return divide_avx512(from + first, goes_left, n, left, right);
    }
#endif
    divide<kRowsAtOnce>(from + first, goes_left, n, go_left[k], left, right);
  });
  places_[node] = {{0, 0}, 0};
  for (Place& child : children) {
    child.buffer = 1 - parent.buffer;
    places_.push_back(std::move(child));
  }
}

}  // namespace properboost
