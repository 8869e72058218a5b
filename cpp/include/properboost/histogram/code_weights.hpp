// The sample weight, or number of rows, of each code of each feature.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

class Team;

// out[code[i]] += term(i), i in [begin, end), for a feature of `width` codes.
template <class Number, class Term>
void add_by_code(const std::uint8_t* code, std::size_t begin, std::size_t end, int width,
                 const Term& term, Number* out) {
  // Rows take turns with four copies, because adding twice in a row to one cell makes the second
  // addition wait.
  std::array<std::array<Number, kMaxCodes>, 4> copies{};
  for (std::size_t i = begin; i < end; ++i) copies[i % 4][code[i]] += term(i);
  for (const auto& copy : copies) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(width); ++b) out[b] += copy[b];
  }
}

// The sample weight of the rows of each code in groups of segments: [group][code].  Segments of
// the group -1 are in none.
std::vector<double> weigh_codes(const Codes& codes, const Bins& bins,
                                const std::vector<int>& group_of, std::size_t groups,
                                RowSampleWeights weight, Team& team);

// The number of rows of each segment with each code: [segment][code].
std::vector<std::size_t> count_codes(const Codes& codes, const Bins& bins, Team& team);

}  // namespace properboost
