// Model batches: which models are trained together, and the state of those models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/model.hpp"
#include "properboost/boosting/moving_margins.hpp"
#include "properboost/boosting/stepper.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

using Lanes = std::vector<std::size_t>;  // the models of a batch

// Models of one loss share batches of at most this size.  Models that hold out the same rows share
// one if that is cheaper, because a batch need not read rows that none of its lanes trains on.  So
// many neighbouring models as `coupled` stay together, in one batch or in several of full size.
// Returns the batches of each cohort.
std::vector<std::vector<Lanes>> deal_into_cohorts(const std::vector<Model>& models,
                                                  const std::vector<std::size_t>& segments,
                                                  std::size_t most, std::size_t coupled);

// Lanes that are boosted together.
struct ModelBatch {
  Lanes models;
  std::vector<SegmentRoles> roles;
  std::vector<AccumulationBlock> blocks;
  std::vector<std::uint8_t> occupied;  // [lane][code]: whether training rows have it
  std::vector<double> crowding;        // of each feature: the share of rows that one code holds
  std::vector<double> row_counts;      // of each lane: its training rows, by their weight
  std::vector<Regularizers> regularizers;
  BatchMargins* margins = nullptr;  // its part of the cohort's
};

// Batches that advance in step: one, or those of models that are coupled.
struct Cohort {
  std::vector<std::unique_ptr<ModelBatch>> batches;
  std::unique_ptr<MovingMargins> margins;
  std::unique_ptr<Stepper> stepper;
};

}  // namespace properboost
