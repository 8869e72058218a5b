// The histogram weak learner: every bin is a cell (BoostLR section 7; a look-up table).
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class Histogram final : public FeatureLearner {
 public:
  static constexpr const char* name = "histogram";
  explicit Histogram(const LearnerOptions& options)
      : FeatureLearner(options), smoothing_(options.smoothing) {}
  bool cuts_in_two() const noexcept override { return false; }

  double cost(const FeatureCells& feature, const Criterion& criterion,
              const Regularizers& r) const override {
    if (!smooths(feature)) return criterion.cost(feature.cells, feature.width(), r);
    std::array<Cell, kMaxCodes> cells;
    smooth(feature, cells.data());
    return criterion.cost(cells.data(), feature.width(), r);
  }

  Partition partition(const FeatureCells& feature, const Criterion&,
                      const Regularizers&) const override {
    Partition p;
    const std::size_t n = feature.width();
    p.cells.assign(feature.cells, feature.cells + n);
    p.occupied.assign(feature.occupied, feature.occupied + n);
    p.cell_of = identity();
    if (!smooths(feature)) {
      p.shares = {{1.0, p.cell_of}};
      return p;
    }
    smooth(feature, p.cells.data());
    p.shares = {{1.0, p.cell_of}};
    for (const Axis& axis : find_axes(*feature.bins)) {
      if (axis.length > 1) spread(axis, p.shares);
    }
    return p;
  }

 private:
  // Lines of `length` neighbouring cells, which are `stride` apart; the first cells of the lines
  // are `next` apart.
  struct Axis {
    std::size_t lines, next, length, stride;
  };

  // The axes along which a feature's cells have neighbours: the ordered bins, or the ordered levels
  // of a grid.  Axes of one cell are left out.
  static std::array<Axis, 2> find_axes(const FeatureBins& bins) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    if (bins.ordered()) return {{{1, 0, size(bins.bins()), 1}, {}}};
    const Grid& grid = bins.grid();
    const std::size_t columns = size(grid.columns);
    return {{{size(grid.rows), columns, size(grid.ordered_columns), 1},
             {columns, 1, size(grid.ordered_rows), columns}}};
  }

  bool smooths(const FeatureCells& feature) const {
    const auto axes = find_axes(*feature.bins);
    return smoothing_ > 0.0 && (axes[0].length > 1 || axes[1].length > 1);
  }

  // Each cell gives a share of its weight to its neighbours, the ends of a line keeping what would
  // fall off.  Missing values and categories have no neighbours.
  void smooth(const FeatureCells& feature, Cell* out) const {
    std::copy(feature.cells, feature.cells + feature.width(), out);
    for (const Axis& axis : find_axes(*feature.bins)) {
      if (axis.length < 2) continue;
      for (std::size_t line = 0; line < axis.lines; ++line) {
        smooth_line(out + line * axis.next, axis.length, axis.stride);
      }
    }
  }

  void smooth_line(Cell* cells, std::size_t n, std::size_t stride) const {
    const auto blend = [&](double left, double centre, double right) {
      return (1.0 - 2.0 * smoothing_) * centre + smoothing_ * (left + right);
    };
    Cell left = cells[0];
    Cell centre = cells[0];
    for (std::size_t i = 0; i < n; ++i) {
      const Cell right = i + 1 == n ? centre : cells[(i + 1) * stride];
      cells[i * stride] = {blend(left.positive, centre.positive, right.positive),
                           blend(left.negative, centre.negative, right.negative),
                           blend(left.curvature, centre.curvature, right.curvature)};
      left = centre;
      centre = right;
    }
  }

  // Splits each share of a row in three: what stays and what goes to either neighbour.
  void spread(const Axis& axis, std::vector<RowShare>& shares) const {
    CellOfCode before = identity();
    CellOfCode after = identity();
    for (std::size_t line = 0; line < axis.lines; ++line) {
      for (std::size_t i = 1; i < axis.length; ++i) {
        const std::size_t cell = line * axis.next + i * axis.stride;
        before[cell] = static_cast<std::uint8_t>(cell - axis.stride);
        after[cell - axis.stride] = static_cast<std::uint8_t>(cell);
      }
    }
    std::vector<RowShare> finer;
    for (const RowShare& share : shares) {
      RowShare centre{(1.0 - 2.0 * smoothing_) * share.share, share.cell_of};
      RowShare left{smoothing_ * share.share, share.cell_of};
      RowShare right = left;
      for (std::uint8_t& cell : left.cell_of) cell = before[cell];
      for (std::uint8_t& cell : right.cell_of) cell = after[cell];
      finer.insert(finer.end(), {centre, left, right});
    }
    shares = std::move(finer);
  }

  static CellOfCode identity() {
    CellOfCode cells;
    std::iota(cells.begin(), cells.end(), std::uint8_t{0});
    return cells;
  }

  double smoothing_;
};

}  // namespace properboost::learners
