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

void Codes::read_ahead([[maybe_unused]] std::size_t f) const noexcept {
#if defined(__unix__) || defined(__APPLE__)
  constexpr std::size_t kWindow = 1u << 17;  // less is read at once anyway, and asking takes time
  if (rows < kWindow) return;
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

bool are_below_widths(const Codes& codes, const Bins& bins, Team& team) {
  std::vector<std::uint8_t> bad(bins.size(), 0);
  team.for_each(bins.size(), 0.1 * static_cast<double>(codes.rows * bins.size()),
                [&](std::size_t f) {
                  const std::uint8_t* code = codes.feature(f);
                  std::uint8_t largest = 0;
                  for (std::size_t i = 0; i < codes.rows; ++i)
                    largest = code[i] > largest ? code[i] : largest;
                  bad[f] = largest >= bins[f].width();
                });
  return std::none_of(bad.begin(), bad.end(), [](std::uint8_t is_bad) { return is_bad != 0; });
}

}  // namespace properboost
