// Model batches: which models are trained together, and the state of those models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/margins.hpp"
#include "properboost/boosting/model.hpp"
#include "properboost/boosting/stepper.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

using Lanes = std::vector<std::size_t>;  // the models of a batch

// Models of one loss share batches of at most this size.  Models that hold out the same rows share
// one if that is cheaper, because a batch need not read rows that none of its lanes trains on.
std::vector<Lanes> deal_into_batches(const std::vector<Model>& models,
                                     const std::vector<std::size_t>& segments, std::size_t most);

// Lanes that are boosted together.
struct ModelBatch {
  Lanes models;
  std::vector<SegmentRoles> roles;
  std::vector<AccumulationBlock> blocks;
  std::vector<std::uint8_t> occupied;  // [lane][code]: whether training rows have it
  std::vector<double> crowding;        // of each feature: the share of rows that one code holds
  std::vector<double> row_counts;      // of each lane: its training rows, by their weight
  std::vector<Regularizers> regularizers;
  std::unique_ptr<Margins> margins;
  std::unique_ptr<Stepper> stepper;
};

}  // namespace properboost
