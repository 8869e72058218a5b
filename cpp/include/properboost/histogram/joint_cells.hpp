// Joint cells of rows, from their codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properboost/data/binning.hpp"
#include "properboost/histogram/bundles.hpp"

namespace properboost {

struct Codes;

// joint[i] = the joint cell of row begin + i, i < n.
void find_joint_cells(const Bundle& bundle, const Bins& bins, const Codes& codes, std::size_t begin,
                      std::size_t n, std::uint16_t* joint);

// visitor(f, code) for the features of a bundle, with their code in a joint cell.
template <class Visitor>
void visit_codes(const Bundle& bundle, const Bins& bins, std::size_t cell, const Visitor& visitor) {
  for (std::size_t k = bundle.features.size(); k-- > 0;) {
    const std::size_t f = bundle.features[k];
    const auto width = static_cast<std::size_t>(bins[f].width());
    visitor(f, cell % width);
    cell /= width;
  }
}

}  // namespace properboost
