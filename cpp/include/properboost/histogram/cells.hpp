// Cell statistics: what a response needs to know of the rows in one cell of one feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/data/binning.hpp"

namespace properboost {

// Class weights W+ and W-; the gradient of a Newton step is their difference.  The curvature is
// summed only for responses that use it.  No number is set unless asked for: arrays of cells are
// many, and filled anyway.
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

// Rows of a code counting in a cell, in part: smoothed tables spread a row over three cells.
struct RowShare {
  double share;
  CellOfCode cell_of;
};

// The cells of one feature of one model, one a code.
struct FeatureCells {
  const Cell* cells;
  const std::uint8_t* occupied;  // whether the code has training rows
  const FeatureBins* bins;

  std::size_t width() const noexcept { return static_cast<std::size_t>(bins->width()); }
};

// The cells of all features in all lanes.
class CellTable {
 public:
  CellTable(const Bins& bins, std::size_t lanes, bool needs_curvature)
      : bins_(&bins),
        lanes_(lanes),
        positive_(bins.total_width() * lanes),
        negative_(bins.total_width() * lanes),
        curvature_(needs_curvature ? bins.total_width() * lanes : 0) {}

  // Sums of feature f, [code][lane]; no curvature is null.
  double* positive(std::size_t f) noexcept { return positive_.data() + first(f); }
  double* negative(std::size_t f) noexcept { return negative_.data() + first(f); }
  double* curvature(std::size_t f) noexcept {
    return curvature_.empty() ? nullptr : curvature_.data() + first(f);
  }

  void clear(std::size_t f) {
    const std::size_t n = lanes_ * static_cast<std::size_t>((*bins_)[f].width());
    std::fill_n(positive(f), n, 0.0);
    std::fill_n(negative(f), n, 0.0);
    if (!curvature_.empty()) std::fill_n(curvature(f), n, 0.0);
  }

  // Adds those of other rows.
  void operator+=(const CellTable& other) {
    const auto add = [](Aligned<double>& to, const Aligned<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    add(positive_, other.positive_);
    add(negative_, other.negative_);
    add(curvature_, other.curvature_);
  }

  // One lane's, gathered into `buffer`; `occupied` has a byte a code, all features side by side.
  FeatureCells feature(std::size_t f, std::size_t lane, const std::uint8_t* occupied,
                       std::array<Cell, kMaxCodes>& buffer) const {
    const FeatureCells result{buffer.data(), occupied + bins_->offset(f), &(*bins_)[f]};
    std::size_t i = first(f) + lane;
    for (std::size_t b = 0; b < result.width(); ++b, i += lanes_) {
      buffer[b] = {positive_[i], negative_[i], curvature_.empty() ? 0.0 : curvature_[i]};
    }
    return result;
  }

 private:
  std::size_t first(std::size_t f) const noexcept { return bins_->offset(f) * lanes_; }

  const Bins* bins_;
  std::size_t lanes_;
  Aligned<double> positive_, negative_, curvature_;
};

}  // namespace properboost
