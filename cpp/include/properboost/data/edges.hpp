// Bin edges: the cuts of a numeric feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/sparse_table.hpp"
#include "properboost/data/table.hpp"

namespace properboost {

class Team;

// Bin edges of every column for at most max_bins bins each, found from these rows, whose weight is
// positive.
std::vector<std::vector<double>> find_edges(const Table& table,
                                            const std::vector<std::int64_t>& rows,
                                            RowSampleWeights weight, int max_bins, Team& team);
// Those of the same columns as a dense table.
std::vector<std::vector<double>> find_edges(const SparseTable& table,
                                            const std::vector<std::int64_t>& rows,
                                            RowSampleWeights weight, int max_bins, Team& team);

}  // namespace properboost
