// Axes: along which a feature's codes have neighbours.
#pragma once

#include <array>
#include <cstddef>

#include "properboost/data/binning.hpp"

namespace properboost {

// Lines of `length` neighbouring codes, which are `stride` apart; the first codes of the lines are
// `next` apart.
struct Axis {
  std::size_t lines, next, length, stride;
};

// The ordered bins are one axis; a grid has one along its rows, then one along its columns. Missing
// values and categories have no neighbours, and an axis may be of one code.
inline std::array<Axis, 2> find_axes(const FeatureBins& bins) {
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  if (bins.ordered()) return {{{1, 0, size(bins.bins()), 1}, {}}};
  const Grid& grid = bins.grid();
  const std::size_t columns = size(grid.columns);
  return {{{size(grid.rows), columns, size(grid.ordered_columns), 1},
           {columns, 1, size(grid.ordered_rows), columns}}};
}

}  // namespace properboost
