// The rows that models are trained on, as every stage of the engine takes them.
#pragma once

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

struct TrainingRows {
  const Codes& codes;
  const Bins& bins;
  const double* sample_weight;  // of each row in segment order; null for ones
};

}  // namespace properboost
