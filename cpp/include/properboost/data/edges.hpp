// Bin edges: the cuts of a numeric feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/table.hpp"

namespace properboost {

// Bin edges of every column for at most max_bins bins each, found from at most sample_size of the
// rows whose weight is positive.
std::vector<std::vector<double>> find_edges(const Table& table, RowSampleWeights weight,
                                            int max_bins, std::size_t sample_size,
                                            std::uint64_t seed, Team& team);

}  // namespace properboost
