// Spans: the smallest and the largest value of a numeric feature.
#pragma once

#include <limits>
#include <vector>

#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/sparse_table.hpp"
#include "properboost/data/table.hpp"

namespace properboost {

class Team;

// At first it holds no number.
struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

// The span of each column, over the rows of positive weight; NaN is no number.
std::vector<Span> find_spans(const Table& table, RowSampleWeights weight, Team& team);
std::vector<Span> find_spans(const SparseTable& table, RowSampleWeights weight, Team& team);

}  // namespace properboost
