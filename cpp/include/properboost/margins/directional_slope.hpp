// How fast the risk falls where the rows of a lane begin to move, by the weights that they have.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/margins/moving_margins.hpp"

namespace properboost {

class Team;

// The size of the largest line of all rows of some blocks.
double largest_line(const float* lines, const std::vector<RowBlock>& blocks, Team& team);

// How far one unit of a table's entries and of lines, if there are any, moves a row at most.
double farthest_along(const std::vector<float>& entries, const float* lines,
                      const std::vector<RowBlock>& blocks, Team& team);

// The weights of one lane's rows.
struct LaneWeights {
  const float* first;  // that of row i is first[i * stride]
  std::size_t stride;
  double most;  // none is larger
  std::vector<double>
      signs;  // of the margins of each block's rows; 0: the lane does not learn them
};

// Times the training weight; `total_weight` is that of all rows.
double directional_slope(const Move& direction, const LaneWeights& weights,
                         const std::vector<RowBlock>& blocks, RowSampleWeights sample_weight,
                         double total_weight, Team& team);

}  // namespace properboost
