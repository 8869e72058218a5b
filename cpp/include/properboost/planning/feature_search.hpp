// The search of a round: the cells of each feature in the lanes of a batch, and their costs for the
// lanes' learners.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/histogram/histogram_builder.hpp"
#include "properboost/learners/cell_order.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/rounds/algorithm.hpp"

namespace properboost {

class Team;

class FeatureSearch {
 public:
  // `learners` and `directions`, of each feature, have one entry per lane; directions are empty
  // where there are none.  The context must outlive it.
  FeatureSearch(const RoundContext& context, std::vector<const FeatureLearner*> learners,
                std::vector<std::vector<Directions>> directions);

  const FeatureLearner& learner(std::size_t lane) const { return *learners_[lane]; }
  bool has_directions(std::size_t lane) const { return !directions_[lane].empty(); }

  // A builder that fills the histogram with the sums of these features over these rows.
  HistogramBuilder make_builder(const std::vector<AccumulationBlock>& blocks,
                                const std::vector<std::size_t>& features) const;
  void fill(HistogramBuilder& builder, Team& team) {
    fill(builder, at_.batch.margins->cell_units(), team);
  }
  void fill(HistogramBuilder& builder, const LaneUnits& units, Team& team);
  Histogram& histogram() noexcept { return histogram_; }

  using Buffer = std::array<Cell, kMaxCodes>;
  FeatureCells cells(std::size_t f, std::size_t lane, Buffer& buffer) const;

  // A lane's learner's results for a feature: its cost, the contrast of the classes over its cells,
  // and the partition into cells, in order.
  double cost_of(const FeatureCells& feature, std::size_t lane, const EffectiveRows& rows) const;
  Contrast contrast_of(const FeatureCells& feature, std::size_t f, std::size_t lane,
                       const EffectiveRows& rows) const;
  Partition partition_of(const FeatureCells& feature, std::size_t lane, const CellOrder& order,
                         const EffectiveRows& rows) const;

 private:
  const Criterion& criterion(std::size_t lane) const {
    return learner(lane).criterion_or(at_.algorithm.response());
  }

  // Whether each of a feature's codes has training rows of a lane.
  const std::uint8_t* occupied(std::size_t f, std::size_t lane) const;
  Directions directions_of(std::size_t f, std::size_t lane) const {
    return has_directions(lane) ? directions_[lane][f] : Directions{};
  }

  const RoundContext& at_;
  const std::vector<const FeatureLearner*> learners_;
  const std::vector<std::vector<Directions>> directions_;
  std::vector<std::vector<double>> freedoms_;  // by lane and feature, as no round changes them
  Histogram histogram_;
};

}  // namespace properboost
