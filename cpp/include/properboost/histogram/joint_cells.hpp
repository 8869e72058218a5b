// Joint cells of rows, from their codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/bundles.hpp"

namespace properboost {

// joint[i] = the joint cell of row begin + i, i < n.
inline void find_joint_cells(const Bundle& bundle, const Bins& bins, const Codes& codes,
                             std::size_t begin, std::size_t n, std::uint16_t* __restrict joint) {
  const auto code = [&](std::size_t k) { return codes.feature(bundle.features[k]) + begin; };
  const auto width = [&](std::size_t k) {
    return static_cast<std::uint16_t>(bins[bundle.features[k]].width());
  };
  const std::uint8_t* const first = code(0);
  const std::uint8_t* const second = code(1);
  const std::uint16_t second_width = width(1);
  for (std::size_t i = 0; i < n; ++i) {
    joint[i] = static_cast<std::uint16_t>(first[i] * second_width + second[i]);
  }
  for (std::size_t k = 2; k < bundle.features.size(); ++k) {
    const std::uint8_t* const next = code(k);
    const std::uint16_t its_width = width(k);
    for (std::size_t i = 0; i < n; ++i) {
      joint[i] = static_cast<std::uint16_t>(joint[i] * its_width + next[i]);
    }
  }
}

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
