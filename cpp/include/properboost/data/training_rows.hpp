// The rows that models are trained on, in the form that every stage of the engine takes.
#pragma once

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

struct TrainingRows {
  const Codes& codes;
  const Bins& bins;
  RowSampleWeights sample_weight;
};

}  // namespace properboost
