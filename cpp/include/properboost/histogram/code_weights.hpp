// How much each code of each feature holds, whatever the loss says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

// The weight of the rows of each code, features side by side; null counts rows.
std::vector<double> weigh_codes(const std::uint8_t* codes, std::size_t rows, const Bins& bins,
                                const double* weight, Team& team);

// How many rows of each segment have each code: [segment][code].
std::vector<std::size_t> count_codes(const Codes& codes, const Bins& bins, Team& team);

}  // namespace properboost
