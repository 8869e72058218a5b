// Making Rademacher observations: random sums of edge vectors.
//
//     rado j = 1/2 sum_i (sigma_ij + y_i) x_i = the sum of y_i x_i over the rows with sigma_ij =
//     y_i
//
// (Nock, NIPS 2016, section 3), with signs sigma_ij that are a function of a seed, j and the row's
// number among all owners' rows.  So rados of separate rows add up to the rados of all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "properboost/data/table.hpp"

namespace properboost {

class Team;

// The feature that a coordinate of a rado sums: 1, a column's numbers, or whether they equal a
// level.
struct ConstantFeature {};
struct NumberFeature {
  const Column* column;
};
struct LevelFeature {
  const Column* column;
  std::int64_t level;
};
using RadoFeature = std::variant<ConstantFeature, NumberFeature, LevelFeature>;

struct RadoRows {
  std::size_t size;
  const std::uint8_t* positive;  // whether each row is of the positive class: 1 or 0
  std::uint64_t first;           // the number of the first of them among all owners' rows
};

// out[j * features + k]: coordinate k of rado j.  Returns the first feature that holds a number
// that is not finite, or the number of features. float32 and small integers are summed in float32
// over at most 7,680 rows, and these sums in float64: a coordinate is off by less than 1e-5 of the
// sum of the feature's absolute values.  All other numbers are summed in float64.  `progress` is
// called on the calling thread from time to time, and may throw.
std::size_t make_rados(const std::vector<RadoFeature>& features, const RadoRows& rows,
                       std::uint64_t seed, std::size_t n_rados, double* out,
                       const std::function<void()>& progress, Team& team);

}  // namespace properboost
