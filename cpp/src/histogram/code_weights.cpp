#include "properboost/histogram/code_weights.hpp"

#include "properboost/core/exact_sum.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {
namespace {

double nanoseconds(std::size_t rows, const Bins& bins) {
  return 0.5 * static_cast<double>(bins.size() * rows);
}

}  // namespace

std::vector<double> weigh_codes(const Codes& codes, const Bins& bins,
                                const std::vector<int>& group_of, std::size_t groups,
                                RowSampleWeights weight, Team& team) {
  // visit(group, begin, end) for the rows of neighbouring segments that are in a group
  const auto for_segments = [&](const auto& visit) {
    for (std::size_t s = 0; s < group_of.size();) {
      const std::size_t first = s++;
      while (s < group_of.size() && group_of[s] == group_of[first]) ++s;
      if (group_of[first] < 0) continue;
      visit(static_cast<std::size_t>(group_of[first]), codes.segments[first], codes.segments[s]);
    }
  };
  std::vector<ExactSum> totals(groups);
  for_segments([&](std::size_t group, std::size_t begin, std::size_t end) {
    totals[group] += weight.add_up(begin, end);
  });
  AllReduce all_reduce = team.all_reduce();
  for (ExactSum& total : totals) total.add_to(all_reduce);
  all_reduce.run();
  std::vector<FixedPoint> units;
  for (const ExactSum& total : totals) units.emplace_back(total.value());
  const std::size_t width = bins.total_width();
  std::vector<std::int64_t> sums(groups * width, 0);
  team.for_each(bins.size(), nanoseconds(codes.rows, bins), [&](std::size_t f) {
    for_segments([&](std::size_t group, std::size_t begin, std::size_t end) {
      std::int64_t* const group_sums = sums.data() + group * width + bins.offset(f);
      if (weight.all_ones()) {
        const std::int64_t one = units[group].round(1.0);
        const auto count = [one](std::size_t) { return one; };
        add_by_code(codes.feature(f), begin, end, bins[f].width(), count, group_sums);
      } else {
        const auto weigh = [&](std::size_t i) { return units[group].round(weight.stored(i)); };
        add_by_code(codes.feature(f), begin, end, bins[f].width(), weigh, group_sums);
      }
    });
  });
  team.all_reduce().sum(sums.data(), sums.size()).run();
  std::vector<double> weights;
  weights.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) weights.push_back(units[i / width].value(sums[i]));
  return weights;
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
