// Cells: the sums that a response needs of the rows in one cell of one feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"

namespace properboost {

// The weight sums W+ and W-; the gradient of a Newton step is their difference.  The curvature is
// summed only for responses that use it.  Numbers are left uninitialised: there are many arrays of
// cells, and all are filled.
struct Cell {
  double positive;
  double negative;
  double curvature;

  double gradient() const noexcept { return positive - negative; }
  double weight() const noexcept { return positive + negative; }
  Cell& operator+=(const Cell& other) noexcept {
    positive += other.positive;
    negative += other.negative;
    curvature += other.curvature;
    return *this;
  }
};

using CellOfCode = std::array<std::uint8_t, kMaxCodes>;

// The share by which the rows of a code count in a cell: smoothed look-up tables spread a row over
// three cells.
struct RowShare {
  double share;
  CellOfCode cell_of;
};

// For each of a feature's axes, see data/axes.hpp: whether values must not fall (1) or not rise
// (-1) along it, or may do both (0).
using Directions = std::array<std::int8_t, 2>;

// The cells of one feature of one model, one per code.
struct FeatureCells {
  const Cell* cells;
  const std::uint8_t* occupied;  // whether the code has training rows
  const FeatureBins* bins;
  Directions directions = {};

  bool are_in_order() const noexcept { return directions[0] != 0 || directions[1] != 0; }
  std::size_t width() const noexcept { return static_cast<std::size_t>(bins->width()); }
  // 1 if a code's cell has anything, or 0; a branch would be mispredicted.
  std::uint8_t weighs(std::size_t code) const noexcept {
    const Cell& cell = cells[code];
    return cell.weight() + cell.curvature == 0.0 ? 0 : 1;
  }
  std::size_t occupied_codes() const noexcept {
    return static_cast<std::size_t>(std::count(occupied, occupied + width(), std::uint8_t{1}));
  }
};

}  // namespace properboost
