// The rows that models are trained on, in the form that every stage of the engine takes.
#pragma once

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/soft_labels.hpp"
#include "properboost/data/weight_totals.hpp"

namespace properboost {

struct TrainingRows {
  const Codes& codes;
  const Bins& bins;
  RowSampleWeights sample_weight;
  const WeightTotals& totals;
  RowNumbers numbers;
  SoftLabels labels = {};
};

}  // namespace properboost
