// The total weight of all rows, including those of other processes.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

class Team;

struct WeightTotals {
  std::vector<double> of_segment;
  double all = 0.0;
  double most = 1.0;  // of a row

  WeightTotals() = default;
  WeightTotals(RowSampleWeights weight, const std::vector<std::size_t>& segments, Team& team);
};

}  // namespace properboost
