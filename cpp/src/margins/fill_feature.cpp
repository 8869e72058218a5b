#include "properboost/margins/fill_feature.hpp"

#include <memory>

#include "properboost/core/parallel.hpp"

namespace properboost {

void fill_feature(const CellsOfFeature& cells, const FeatureRows& rows, double nanoseconds,
                  Aligned<unsigned char>& memory, Team& team,
                  const std::function<void(std::size_t c, const AddStrip& add)>& pass) {
  const std::size_t f = cells.feature;
  const RowSampleWeights sample_weight = rows.rows.sample_weight;
  const auto codes = static_cast<std::size_t>(rows.rows.bins[f].width());
  const std::size_t bytes = code_sum_bytes(codes, rows.lanes, rows.has_curvature);
  if (memory.size() < rows.groups.size() * bytes) memory.resize(rows.groups.size() * bytes);
  std::vector<std::unique_ptr<CodeSums>> sums(rows.groups.size());
  team.for_each(rows.groups.size(), nanoseconds, [&](std::size_t g) {
    sums[g] = make_code_sums(codes, rows.lanes, rows.has_curvature, !sample_weight.all_ones(),
                             rows.units, memory.data() + g * bytes);
    const AddStrip add = [&, &group = *sums[g]](const float* weights, const float* curvatures,
                                                std::size_t begin, std::size_t n) {
      group.add(weights, curvatures, sample_weight.from(begin), cells.codes + begin, n);
    };
    for (std::size_t c = rows.groups[g].first; c < rows.groups[g].end; ++c) {
      sums[g]->set_roles(rows.roles[rows.blocks[c].segment]);
      pass(c, add);
    }
  });
  cells.histogram.clear(f);
  cells.histogram.set_units(rows.units);
  for (std::size_t g = 0; g < rows.groups.size(); ++g) {
    if (rows.groups[g].roles.trains) sums[g]->flush(rows.groups[g].roles, cells.histogram, f);
  }
}

}  // namespace properboost
