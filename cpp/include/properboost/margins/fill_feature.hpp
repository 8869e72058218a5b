// The cells of one feature, summed as rows pass by.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/code_sums.hpp"
#include "properboost/margins/blocks_together.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// The rows of a batch whose cells are summed.
struct FeatureRows {
  const TrainingRows& rows;
  const std::vector<RowBlock>& blocks;
  const std::vector<BlocksTogether>& groups;
  const std::vector<SegmentRoles>& roles;
  std::size_t lanes;
  bool has_curvature;
  const LaneUnits& units;
};

// A strip of rows from `begin` on, with their numbers in all lanes.
using AddStrip = std::function<void(const float* weights, const float* curvatures,
                                    std::size_t begin, std::size_t n)>;

// pass(c, add) calls add(weights, curvatures, begin, n) for the training rows of block c, strip by
// strip.  Every group of blocks has its own sums, in `memory`, which need not be cleared.
void fill_feature(const CellsOfFeature& cells, const FeatureRows& rows, double nanoseconds,
                  Aligned<unsigned char>& memory, Team& team,
                  const std::function<void(std::size_t c, const AddStrip& add)>& pass);

}  // namespace properboost
