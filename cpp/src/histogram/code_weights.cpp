#include "properboost/histogram/code_weights.hpp"

#include "properboost/core/fixed_point.hpp"

namespace properboost {
namespace {

double nanoseconds(std::size_t rows, const Bins& bins) {
  return 0.5 * static_cast<double>(bins.size() * rows);
}

}  // namespace

std::vector<double> weigh_codes(const std::uint8_t* codes, std::size_t rows, const Bins& bins,
                                RowSampleWeights weight, Team& team) {
  ExactSum total = weight.add_up(0, rows);
  Share share = team.share();
  total.share(share);
  share.go();
  const FixedPoint units(total.value());
  std::vector<std::int64_t> sums(bins.total_width(), 0);
  team.for_each(bins.size(), nanoseconds(rows, bins), [&](std::size_t f) {
    add_by_code(
        codes + f * rows, 0, rows, bins[f].width(),
        [&](std::size_t i) { return units.round(weight[i]); }, sums.data() + bins.offset(f));
  });
  team.share().sum(sums.data(), sums.size()).go();
  std::vector<double> held;
  held.reserve(sums.size());
  for (const std::int64_t sum : sums) held.push_back(units.value(sum));
  return held;
}

std::vector<std::size_t> count_codes(const Codes& codes, const Bins& bins, Team& team) {
  const std::size_t segments = codes.segments.size() - 1;
  std::vector<std::size_t> counts(segments * bins.total_width(), 0);
  team.for_each(bins.size(), nanoseconds(codes.rows, bins), [&](std::size_t f) {
    for (std::size_t s = 0; s < segments; ++s) {
      add_by_code(
          codes.feature(f), codes.segments[s], codes.segments[s + 1], bins[f].width(),
          [](std::size_t) { return std::size_t{1}; },
          counts.data() + s * bins.total_width() + bins.offset(f));
    }
  });
  return counts;
}

}  // namespace properboost
