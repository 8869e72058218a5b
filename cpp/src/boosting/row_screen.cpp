#include "properboost/boosting/row_screen.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/random.hpp"

namespace properboost {
namespace {

// The random bits of a row's number.
std::uint64_t bits_of(std::uint64_t number) noexcept {
  static const std::uint64_t key = stream_key(0, 0x73637265656e);  // no other draw's
  return draw_bits(key, number);
}

// Bits from `begin` to `end`, or round the end of all numbers.
struct Window {
  std::uint64_t begin, end;
};

// A round's window of so large a share of all bits, below 1.
Window window_of(std::size_t round, double share) {
  const auto width = static_cast<std::uint64_t>(std::ldexp(share, 64));
  const std::uint64_t begin = round * width;
  return {begin, begin + width};
}

}  // namespace

void sort_for_screens(std::vector<std::int64_t>& numbers,
                      const std::vector<std::size_t>& segments) {
  struct Drawn {
    std::uint64_t bits;
    std::int64_t number;
  };
  std::vector<Drawn> drawn;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    drawn.clear();
    for (std::size_t i = segments[s]; i < segments[s + 1]; ++i) {
      drawn.push_back({bits_of(static_cast<std::uint64_t>(numbers[i])), numbers[i]});
    }
    std::sort(drawn.begin(), drawn.end(),
              [](const Drawn& a, const Drawn& b) { return a.bits < b.bits; });
    for (std::size_t i = segments[s]; i < segments[s + 1]; ++i) {
      numbers[i] = drawn[i - segments[s]].number;
    }
  }
}

RowScreen::RowScreen(const TrainingRows& rows, const ModelBatch& batch)
    : rows_(rows), batch_(batch) {}

std::array<std::int64_t, 2> RowScreen::count(Team& team) const {
  std::array<std::int64_t, 2> rows{};
  const std::vector<std::size_t>& segments = rows_.codes.segments;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const SegmentRoles& roles = batch_.roles[s];
    if (!roles.trains) continue;
    rows[roles.positive(0) ? 1 : 0] += static_cast<std::int64_t>(segments[s + 1] - segments[s]);
  }
  team.share().sum(rows.data(), rows.size()).go();
  return rows;
}

std::optional<Screen> RowScreen::screen(std::size_t round, std::size_t size, Team& team) {
  if (!rows_of_class_) rows_of_class_ = count(team);
  const double half = 0.5 * static_cast<double>(size);
  std::array<double, 2> share;
  double seen = 0.0, all = 0.0;
  for (std::size_t c = 0; c < share.size(); ++c) {
    const auto rows = static_cast<double>((*rows_of_class_)[c]);
    share[c] = rows > half ? half / rows : 1.0;
    seen += share[c] * rows;
    all += rows;
  }
  if (2.0 * seen > all) return std::nullopt;
  const std::vector<std::size_t>& segments = rows_.codes.segments;
  const auto first_from = [&](std::size_t s, std::uint64_t bits) {
    std::size_t from = segments[s], n = segments[s + 1] - segments[s];
    while (n > 0) {
      const std::size_t before = n / 2;
      if (bits_of(rows_.numbers[from + before]) < bits) {
        from += before + 1;
        n -= before + 1;
      } else {
        n = before;
      }
    }
    return from;
  };
  std::vector<SegmentRange> ranges;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const SegmentRoles& roles = batch_.roles[s];
    if (!roles.trains) continue;
    const double own = share[roles.positive(0) ? 1 : 0];
    if (own == 1.0) {
      ranges.push_back({s, segments[s], segments[s + 1]});
      continue;
    }
    const auto [first, last] = window_of(round, own);
    const std::size_t begin = first_from(s, first);
    const std::size_t end = first_from(s, last);
    if (first < last) {
      ranges.push_back({s, begin, end});
    } else {
      ranges.push_back({s, segments[s], end});
      ranges.push_back({s, begin, segments[s + 1]});
    }
  }
  return Screen{cut_into_accumulation_blocks(ranges, batch_.roles), 1.0 / share[1], 1.0 / share[0]};
}

}  // namespace properboost
