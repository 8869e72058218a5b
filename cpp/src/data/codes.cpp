#include "properboost/data/codes.hpp"

#include <algorithm>

#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/screen.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace properboost {

CodeEntries Codes::entries(std::size_t f) const noexcept {
  const auto first = static_cast<std::size_t>(sparse.starts[f]);
  const auto end = static_cast<std::size_t>(sparse.starts[f + 1]);
  return {sparse.rows + first, sparse.codes + first, end - first};
}
CodeEntries Codes::entries(std::size_t f, std::size_t begin, std::size_t end) const noexcept {
  const CodeEntries all = entries(f);
  const std::int32_t* const last = all.rows + all.size;
  const std::int32_t* const from =
      begin == 0 ? all.rows : std::lower_bound(all.rows, last, static_cast<std::int64_t>(begin));
  const std::int32_t* const to =
      end >= rows ? last : std::lower_bound(from, last, static_cast<std::int64_t>(end));
  return {from, all.codes + (from - all.rows), static_cast<std::size_t>(to - from)};
}

std::size_t Codes::bytes(std::size_t features) const noexcept {
  if (!sparse.any()) return features * rows;
  const auto dense = static_cast<std::size_t>(
      std::count_if(sparse.place, sparse.place + features, [](auto place) { return place >= 0; }));
  constexpr std::size_t kEntry = sizeof(*sparse.rows) + sizeof(*sparse.codes);
  return dense * rows + static_cast<std::size_t>(sparse.starts[features]) * kEntry;
}

void lay_out(const Codes& codes, std::size_t f, std::uint8_t* out) {
  lay_out(codes, f, 0, codes.rows, out);
}
void lay_out(const Codes& codes, std::size_t f, std::size_t begin, std::size_t end,
             std::uint8_t* out) {
  if (!codes.is_sparse(f)) {
    std::copy_n(codes.feature(f) + begin, end - begin, out);
    return;
  }
  std::fill_n(out, end - begin, codes.sparse.common[f]);
  const CodeEntries entries = codes.entries(f, begin, end);
  for (std::size_t k = 0; k < entries.size; ++k) {
    out[static_cast<std::size_t>(entries.rows[k]) - begin] = entries.codes[k];
  }
}

const std::uint8_t* WholeFeature::of(const Codes& codes, std::size_t f) {
  if (!codes.is_sparse(f)) return codes.feature(f);
  bytes_.resize(codes.rows);
  lay_out(codes, f, bytes_.data());
  return bytes_.data();
}

void Codes::read_ahead([[maybe_unused]] std::size_t f) const noexcept {
#if defined(__unix__) || defined(__APPLE__)
  constexpr std::size_t kWindow = 1u << 17;  // less is read at once anyway, and asking takes time
  if (rows < kWindow || is_sparse(f)) return;
  const std::uint8_t* const first = feature(f);
  const std::size_t before =
      reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = const_cast<std::uint8_t*>(first) - before;
  static_cast<void>(posix_madvise(page, before + rows, POSIX_MADV_WILLNEED));
#endif
}

std::vector<RowBlock> cut_into_row_blocks(const std::vector<SegmentRange>& ranges,
                                          std::size_t rows) {
  std::vector<RowBlock> blocks;
  blocks.reserve(ranges.size());
  for (const auto& [segment, first, end] : ranges) {
    for (std::size_t begin = first; begin < end; begin += rows) {
      blocks.push_back({segment, begin, std::min(begin + rows, end)});
    }
  }
  return blocks;
}
std::vector<RowBlock> cut_into_row_blocks(
    const std::vector<std::size_t>& segments,
    const std::function<bool(std::size_t first, std::size_t other)>& alike, std::size_t rows) {
  std::vector<SegmentRange> ranges;
  for (std::size_t k = 0; k + 1 < segments.size();) {
    const std::size_t first = k++;
    while (k + 1 < segments.size() && alike(first, k)) ++k;
    ranges.push_back({first, segments[first], segments[k]});
  }
  return cut_into_row_blocks(ranges, rows);
}
std::vector<RowBlock> cut_into_row_blocks(const std::vector<std::size_t>& segments) {
  return cut_into_row_blocks(segments, [](std::size_t, std::size_t) { return false; });
}

namespace {

std::uint8_t find_largest(const std::uint8_t* code, std::size_t n) {
  std::uint8_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = code[i] > largest ? code[i] : largest;
  return largest;
}

// Whether entries are of different rows of these, in ascending order.
bool are_in_order(const CodeEntries& entries, std::size_t rows) {
  std::int64_t last = -1;
  bool ascend = true;
  for (std::size_t i = 0; i < entries.size; ++i) {
    ascend = ascend && entries.rows[i] > last;
    last = entries.rows[i];
  }
  return ascend && last < static_cast<std::int64_t>(rows);
}

}  // namespace

bool are_below_widths(const Codes& codes, const Bins& bins, Team& team) {
  std::vector<std::uint8_t> bad(bins.size(), 0);
  team.for_each(bins.size(), 0.1 * static_cast<double>(codes.bytes(bins.size())),
                [&](std::size_t f) {
                  const int width = bins[f].width();
                  if (!codes.is_sparse(f)) {
                    bad[f] = find_largest(codes.feature(f), codes.rows) >= width;
                    return;
                  }
                  const CodeEntries entries = codes.entries(f);
                  bad[f] = find_largest(entries.codes, entries.size) >= width ||
                           codes.sparse.common[f] >= width || !are_in_order(entries, codes.rows);
                });
  return std::none_of(bad.begin(), bad.end(), [](std::uint8_t is_bad) { return is_bad != 0; });
}

}  // namespace properboost
