// Model batches: which models are trained together, and the state of those models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/rounds/lanes.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

class Algorithm;
class BatchMargins;
struct Model;
struct TrainingRows;

using Lanes = std::vector<std::size_t>;  // the models of a batch

// Lanes that are boosted together.
struct ModelBatch {
  Lanes models;
  std::vector<SegmentRoles> roles;
  FurtherLanes further = {};
  std::vector<AccumulationBlock> blocks;
  std::vector<std::uint8_t> occupied;  // [lane][code]: whether training rows have it
  std::vector<double> crowding;        // of each feature: the share of rows that one code holds
  std::vector<double> row_counts;      // of each lane: its training rows, by their weight
  std::vector<Regularizers> regularizers;
  BatchMargins* margins = nullptr;  // its part of the cohort's
};

// The further lanes of so many lanes of a model with soft labels.  The classes of a joint model
// have one curvature for both labels, and keep the weights of trees apart.
FurtherLanes find_further_lanes(const Model& model, const Algorithm& algorithm, std::size_t lanes);

// A batch of these lanes, which has no margins yet; `counts` is [segment][code]: rows.
std::unique_ptr<ModelBatch> make_batch(Lanes lanes, const std::vector<Model>& models,
                                       const TrainingRows& rows,
                                       const std::vector<std::size_t>& counts,
                                       const Algorithm& algorithm);

}  // namespace properboost
