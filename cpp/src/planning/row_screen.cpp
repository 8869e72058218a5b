#include "properboost/planning/row_screen.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
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

// A round's window, of `share` of all bits, below 1.
Window window_of(std::size_t round, double share) {
  const auto width = static_cast<std::uint64_t>(std::ldexp(share, 64));
  const std::uint64_t begin = round * width;
  return {begin, begin + width};
}

struct KeyedRow {
  std::uint64_t bits;
  std::int64_t number;
};

// Rows that share a place of `sort_by_bits`, on average.
constexpr std::size_t kRowsOfPlace = 4;

// Sorts n numbers by their bits.  As these are random, the leading bits nearly give a number's
// place: a few neighbours have to change places.
void sort_by_bits(std::int64_t* numbers, std::size_t n, std::vector<KeyedRow>& drawn) {
  unsigned width = 1;
  while ((n / kRowsOfPlace) >> width != 0) ++width;
  const auto place_of = [&](std::uint64_t bits) { return bits >> (64 - width); };
  std::vector<std::size_t> next((std::size_t{1} << width) + 1);
  drawn.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    ++next[place_of(bits_of(static_cast<std::uint64_t>(numbers[i]))) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = bits_of(static_cast<std::uint64_t>(numbers[i]));
    drawn[next[place_of(bits)]++] = {bits, numbers[i]};
  }
  for (std::size_t i = 0; i < n; ++i) {
    const KeyedRow entry = drawn[i];
    std::size_t at = i;
    for (; at > 0 && drawn[at - 1].bits > entry.bits; --at) {
      drawn[at] = drawn[at - 1];
      numbers[at] = drawn[at].number;
    }
    drawn[at] = entry;
    numbers[at] = entry.number;
  }
}

}  // namespace

void sort_for_screens(std::vector<std::int64_t>& numbers,
                      const std::vector<std::size_t>& segments) {
  std::vector<KeyedRow> drawn;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    sort_by_bits(numbers.data() + segments[s], segments[s + 1] - segments[s], drawn);
  }
}

RowScreen::RowScreen(const TrainingRows& rows, Slots slots, std::size_t least)
    : rows_(rows), slots_(std::move(slots)), least_(least) {}

std::vector<std::int64_t> RowScreen::count(Team& team) const {
  std::vector<std::int64_t> rows(slots_.n);
  const std::vector<std::size_t>& bounds = rows_.codes.segments;
  for (std::size_t k = 0; k < slots_.segments.size(); ++k) {
    const std::size_t s = slots_.segments[k];
    rows[slots_.of_segment[k]] += static_cast<std::int64_t>(bounds[s + 1] - bounds[s]);
  }
  team.all_reduce().sum(rows.data(), rows.size()).run();
  return rows;
}

std::optional<Screen> RowScreen::screen(std::size_t round, std::size_t times, Team& team) {
  if (least_ == 0) return std::nullopt;
  if (rows_of_class_.empty()) rows_of_class_ = count(team);
  const auto least = static_cast<double>(least_);
  const double of_each = static_cast<double>(times) * least / static_cast<double>(slots_.n);
  std::vector<double> share;
  double seen = 0.0, all = 0.0;
  Screen screen;
  for (const std::int64_t of_class : rows_of_class_) {
    const auto rows = static_cast<double>(of_class);
    share.push_back(rows > of_each ? of_each / rows : 1.0);
    screen.stands_for.push_back(1.0 / share.back());
    seen += share.back() * rows;
    all += rows;
  }
  if (2.0 * least >= all || 2.0 * seen > all) return std::nullopt;
  const std::vector<std::size_t>& bounds = rows_.codes.segments;
  const auto first_from = [&](std::size_t s, std::uint64_t bits) {
    std::size_t from = bounds[s], n = bounds[s + 1] - bounds[s];
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
  for (std::size_t k = 0; k < slots_.segments.size(); ++k) {
    const std::size_t s = slots_.segments[k];
    const double segment_share = share[slots_.of_segment[k]];
    if (segment_share == 1.0) {
      screen.ranges.push_back({s, bounds[s], bounds[s + 1]});
      continue;
    }
    const auto [first, last] = window_of(round, segment_share);
    const std::size_t begin = first_from(s, first);
    const std::size_t end = first_from(s, last);
    if (first < last) {
      screen.ranges.push_back({s, begin, end});
    } else {
      screen.ranges.push_back({s, bounds[s], end});
      screen.ranges.push_back({s, begin, bounds[s + 1]});
    }
  }
  return screen;
}

}  // namespace properboost
