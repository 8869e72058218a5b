// The rows that models are trained on, in the form that every stage of the engine takes.
#pragma once

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

struct TrainingRows {
  const Codes& codes;
  const Bins& bins;
  const double* sample_weight;  // in segment order; null for ones
};

}  // namespace properboost
