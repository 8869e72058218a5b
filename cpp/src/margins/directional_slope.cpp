#include "properboost/margins/directional_slope.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/term_bounds.hpp"

namespace properboost {
namespace {

double count_rows(const std::vector<RowBlock>& blocks) {
  return blocks.empty() ? 0.0 : static_cast<double>(blocks.back().end - blocks.front().begin);
}

}  // namespace

double largest_line(const float* lines, const std::vector<RowBlock>& blocks, Team& team) {
  std::vector<float> parts(blocks.size(), 0.0F);
  team.for_each(parts.size(), 0.2 * count_rows(blocks), [&](std::size_t c) {
    parts[c] = find_largest(
        blocks[c].end - blocks[c].begin,
        [from = lines + blocks[c].begin](std::size_t i) { return std::abs(from[i]); }, 0.0F);
  });
  double largest = wide(largest_of(parts));
  team.all_reduce().most(largest).run();
  return largest;
}

double farthest_along(const std::vector<float>& entries, const float* lines,
                      const std::vector<RowBlock>& blocks, Team& team) {
  float most = 0.0F;
  for (const float x : entries) most = std::max(most, std::abs(x));
  return wide(most) + (lines == nullptr ? 0.0 : largest_line(lines, blocks, team));
}

double directional_slope(const Move& direction, const LaneWeights& weights,
                         const std::vector<RowBlock>& blocks, RowSampleWeights sample_weight,
                         double total_weight, Team& team) {
  const std::vector<float> entries(direction.table.begin(), direction.table.end());
  const float* const lines = direction.lines;
  const double farthest = farthest_along(entries, lines, blocks, team);
  TermUnits units;
  units.set(0, weights.most * farthest, sample_weight, total_weight);
  std::vector<WholeSums> parts(blocks.size(), WholeSums{});
  team.for_each(parts.size(), count_rows(blocks), [&](std::size_t c) {
    constexpr std::size_t kStrip = 512;
    if (weights.signs[c] == 0.0) return;
    std::array<float, kStrip> along, lane_weight;
    for (std::size_t begin = blocks[c].begin; begin < blocks[c].end; begin += kStrip) {
      const std::size_t n = std::min(kStrip, blocks[c].end - begin);
      const std::uint8_t* const code = direction.codes + begin;
      for (std::size_t i = 0; i < n; ++i) along[i] = entries[code[i]];
      for (std::size_t i = 0; lines != nullptr && i < n; ++i) along[i] += lines[begin + i];
      const float* weight = weights.first + begin * weights.stride;
      if (weights.stride > 1) {
        for (std::size_t i = 0; i < n; ++i) lane_weight[i] = weight[i * weights.stride];
        weight = lane_weight.data();
      }
      vectorized([&, n, weight, along = along.data(), s = sample_weight.from(begin)](auto set) {
        add_rows<1, Signs::kBoth>(set, n, s, units, parts[c],
                                  [=](std::size_t i) { return wide(weight[i]) * wide(along[i]); });
      });
    }
    if (weights.signs[c] < 0.0) parts[c][0] = -parts[c][0];
  });
  std::int64_t slope = 0;
  for (const WholeSums& part : parts) slope += part[0];
  TermUnits::Lost lost;
  AllReduce all_reduce = team.all_reduce();
  units.add_to(all_reduce.sum(slope), lost);
  all_reduce.run();
  units.lose_if(lost);
  return units.value(0, slope);
}

}  // namespace properboost
