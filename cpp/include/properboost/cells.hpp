// Cell statistics: what a response needs to know of the rows in one cell of one feature.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/binning.hpp"

namespace properboost {

// Class weights W+ and W-; the gradient of a Newton step is their difference.  The curvature is
// summed only for responses that use it.
struct Cell {
  double positive = 0.0;
  double negative = 0.0;
  double curvature = 0.0;

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

// Rows of a code counting in a cell, in part: smoothed tables spread a row over three cells.
struct RowShare {
  double share;
  CellOfCode cell_of;
};

// The cells of one feature, one a code.
struct FeatureCells {
  const Cell* cells;
  const std::uint8_t* occupied;  // whether the code has training rows
  const FeatureBins* bins;

  std::size_t width() const noexcept { return static_cast<std::size_t>(bins->width()); }
};

// The cells of all features.
class CellTable {
 public:
  CellTable(const Bins& bins, const std::vector<double>& rows_by_code)
      : bins_(&bins), cells_(bins.total_width()) {
    for (const double rows : rows_by_code) occupied_.push_back(rows > 0.0);
  }

  Cell* operator[](std::size_t f) noexcept { return cells_.data() + bins_->offset(f); }
  FeatureCells feature(std::size_t f) const noexcept {
    return {cells_.data() + bins_->offset(f), occupied_.data() + bins_->offset(f), &(*bins_)[f]};
  }

 private:
  const Bins* bins_;
  std::vector<Cell> cells_;
  std::vector<std::uint8_t> occupied_;
};

}  // namespace properboost
