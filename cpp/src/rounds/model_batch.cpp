#include "properboost/rounds/model_batch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "properboost/data/training_rows.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/rounds/model.hpp"

namespace properboost {
namespace {

// The largest share of a batch's training rows that one code of each feature holds.
std::vector<double> find_crowding(const ModelBatch& batch, const Bins& bins,
                                  const std::vector<std::size_t>& counts_of_segments) {
  std::vector<std::size_t> counts(bins.total_width(), 0);
  for (std::size_t s = 0; s < batch.roles.size(); ++s) {
    if (!batch.roles[s].trains) continue;
    const std::size_t* const segment_counts = counts_of_segments.data() + s * bins.total_width();
    for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += segment_counts[b];
  }
  std::vector<double> crowding;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(bins.offset(f));
    const std::size_t most = *std::max_element(first, first + bins[f].width());
    const auto rows = std::accumulate(first, first + bins[f].width(), std::size_t{0});
    crowding.push_back(static_cast<double>(most) / static_cast<double>(rows));
  }
  return crowding;
}

// Every row of a batch counts for the class of each lane, and against it.
void add_further_lanes(ModelBatch& batch, const std::vector<Model>& models, FurtherLanes further) {
  batch.further = further;
  if (!further.any()) return;
  const std::size_t n = batch.models.size();
  for (std::size_t s = 0; s < batch.roles.size(); ++s) {
    SegmentRoles& roles = batch.roles[s];
    for (std::size_t k = 0; k < n; ++k) {
      const Role role = models[batch.models[k]].roles[s];
      roles.set(k + further.against, opposite(role));
      if (further.curvature > 0) roles.set(k + further.curvature, role);
    }
  }
}

}  // namespace

FurtherLanes find_further_lanes(const Model& model, const Algorithm& algorithm, std::size_t lanes) {
  const bool is_joint = algorithm.coupling().classes > 1;
  if (is_joint && grows_trees(model)) return {};
  return FurtherLanes::of(lanes, is_joint && algorithm.response().needs_curvature());
}

std::unique_ptr<ModelBatch> make_batch(Lanes lanes, const std::vector<Model>& models,
                                       const TrainingRows& rows,
                                       const std::vector<std::size_t>& counts,
                                       const Algorithm& algorithm) {
  auto made = std::make_unique<ModelBatch>();
  ModelBatch& batch = *made;
  batch.models = std::move(lanes);
  const std::size_t segments = rows.codes.segments.size() - 1;
  const std::size_t codes = rows.bins.total_width();
  batch.roles.assign(segments, SegmentRoles{});
  batch.occupied.assign(batch.models.size() * codes, 0);
  for (std::size_t k = 0; k < batch.models.size(); ++k) {
    const std::vector<Role>& roles = models[batch.models[k]].roles;
    std::uint8_t* occupied = batch.occupied.data() + k * codes;
    for (std::size_t s = 0; s < segments; ++s) {
      batch.roles[s].set(k, roles[s]);
      if (!learns(roles[s])) continue;
      const std::size_t* const segment_counts = counts.data() + s * codes;
      for (std::size_t b = 0; b < codes; ++b) occupied[b] |= segment_counts[b] > 0 ? 1 : 0;
    }
  }
  if (rows.labels.any()) {
    add_further_lanes(
        batch, models,
        find_further_lanes(models[batch.models.front()], algorithm, batch.models.size()));
  }
  batch.blocks = cut_into_accumulation_blocks(rows.codes.segments, batch.roles);
  batch.crowding = find_crowding(batch, rows.bins, counts);
  return made;
}

}  // namespace properboost
