#include "properboost/planning/feature_search.hpp"

#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {
namespace {

// Whether cells have sums of curvatures, and not as further lanes.
bool sums_curvature(const RoundContext& context) {
  return context.algorithm.response().needs_curvature() && context.batch.further.curvature == 0;
}

}  // namespace

FeatureSearch::FeatureSearch(const RoundContext& context,
                             std::vector<const FeatureLearner*> learners,
                             std::vector<std::vector<Directions>> directions)
    : at_(context),
      learners_(std::move(learners)),
      directions_(std::move(directions)),
      histogram_(at_.rows.bins, at_.batch.margins->lanes(), sums_curvature(at_)) {
  const Bins& bins = at_.rows.bins;
  for (std::size_t lane = 0; lane < learners_.size(); ++lane) {
    std::vector<double>& freedoms = freedoms_.emplace_back(bins.size());
    for (std::size_t f = 0; f < bins.size(); ++f) {
      const FeatureCells codes{nullptr, occupied(f, lane), &bins[f], directions_of(f, lane)};
      freedoms[f] = learner(lane).freedom(codes);
    }
  }
}

HistogramBuilder FeatureSearch::make_builder(const std::vector<AccumulationBlock>& blocks,
                                             const std::vector<std::size_t>& features) const {
  return {at_.rows,
          blocks,
          features,
          at_.batch.crowding,
          at_.batch.margins->lanes(),
          sums_curvature(at_),
          at_.memory};
}

void FeatureSearch::fill(HistogramBuilder& builder, const LaneUnits& units, Team& team) {
  const BatchMargins& margins = *at_.batch.margins;
  builder.fill(margins.weight(), margins.curvature(), units, histogram_, team);
}

const std::uint8_t* FeatureSearch::occupied(std::size_t f, std::size_t lane) const {
  const Bins& bins = at_.rows.bins;
  return at_.batch.occupied.data() + lane * bins.total_width() + bins.offset(f);
}

FeatureCells FeatureSearch::cells(std::size_t f, std::size_t lane, Buffer& buffer) const {
  FeatureCells cells = histogram_.feature(f, lane, occupied(f, lane), buffer, at_.batch.further);
  cells.directions = directions_of(f, lane);
  return cells;
}

double FeatureSearch::cost_of(const FeatureCells& feature, std::size_t lane,
                              const EffectiveRows& rows) const {
  const Regularizers& r = at_.batch.regularizers[lane];
  if (!feature.are_in_order()) return learner(lane).cost(feature, criterion(lane), r, rows);
  const Partition partition = partition_of(feature, lane, CellOrder(feature), rows);
  return criterion(lane).cost(partition.cells.data(), partition.cells.size(), r);
}

Contrast FeatureSearch::contrast_of(const FeatureCells& feature, std::size_t f, std::size_t lane,
                                    const EffectiveRows& rows) const {
  const Regularizers& r = at_.batch.regularizers[lane];
  const double freedom = freedoms_[lane][f];
  const double free = learner(lane).statistic(feature, criterion(lane), r, rows);
  if (!feature.are_in_order() || !(free > 0.0)) return {free, freedom};
  Partition partition = learner(lane).partition(feature, criterion(lane), r, {});
  partition.gather(feature);
  CellOrder(feature).pool_by_share(partition, criterion(lane).needs_curvature());
  return {chi_square(partition.cells.data(), partition.cells.size(), rows), freedom};
}

Partition FeatureSearch::partition_of(const FeatureCells& feature, std::size_t lane,
                                      const CellOrder& order, const EffectiveRows& rows) const {
  Partition partition =
      learner(lane).partition(feature, criterion(lane), at_.batch.regularizers[lane], rows);
  order.pool_by_share(partition, criterion(lane).needs_curvature());
  return partition;
}

}  // namespace properboost
