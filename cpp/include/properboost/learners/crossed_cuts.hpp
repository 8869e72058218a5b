// The best four cells of a grid: one feature is cut in two, and either part by the other feature.
//
// No cut of one feature alone may show an interaction of two.  So the cuts of both parts are found
// before the first one is chosen, from all cuts of either feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/math_double.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/cells/class_cuts.hpp"
#include "properboost/trees/split.hpp"

namespace properboost::learners {

constexpr std::size_t kCrossedCells = 4;

// Whether a feature is cut crosswise into up to `most` cells; two cells are two sets of its codes.
inline bool crosses(const FeatureCells& feature, std::size_t most) {
  return feature.bins->is_grid() && most > 2;
}

// The saving of the best such cells by chance, in units of one cut's: by simulation of cells of
// equal size, where sets of categories are charged as those of two separate cuts.
inline double freedom_of_crossed_cuts(const Grid& grid, std::size_t occupied) {
  const auto of = [](int levels, int ordered) {
    const double cuts = std::max(1.0, static_cast<double>(levels) - 1.0);
    return ordered > 0 ? 1.8 * math::log(cuts) : 1.2732 * (cuts - 1.0);
  };
  const double free = occupied > 0 ? static_cast<double>(occupied) - 1.0 : 0.0;
  return std::min(free,
                  3.0 + of(grid.rows, grid.ordered_rows) + of(grid.columns, grid.ordered_columns));
}

class CrossedCuts {
 public:
  struct Cells {
    double cost;
    CellOfCode cell_of;  // kCrossedCells where a code is in none
  };

  CrossedCuts(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r)
      : feature_(feature), criterion_(criterion), regularizers_(r) {}

  // The whole grid in one cell; rows outside it are in none.
  Cells leave_whole(double cost) const {
    Cells whole{cost, {}};
    std::fill(whole.cell_of.begin() + feature_.bins->bins(), whole.cell_of.end(),
              static_cast<std::uint8_t>(kCrossedCells));
    return whole;
  }

  // That is the result where no cut saves anything.
  Cells find() const {
    Cell whole{};
    for (std::size_t b = 0; b < feature_.width(); ++b) whole += feature_.cells[b];
    std::vector<double> costs = {criterion_.cost(&whole, 1, regularizers_)};
    const std::array<Side, 2> sides = {Side(feature_, true), Side(feature_, false)};
    for (const Side& side : sides) {
      for (const Division& division : side.divisions) {
        costs.push_back(cut(side, division, 0).cost + cut(side, division, 1).cost);
      }
    }
    const std::size_t best = first_best(costs.data(), costs.size());
    if (best == 0) return leave_whole(costs[0]);
    Cells cells{costs[best], {}};
    const std::size_t of_rows = sides[0].divisions.size();
    const Side& side = sides[best > of_rows ? 1 : 0];
    const Division& division = side.divisions[best - 1 - (best > of_rows ? of_rows : 0)];
    const std::array<Split, 2> cuts = {cut(side, division, 0), cut(side, division, 1)};
    cells.cell_of.fill(kCrossedCells);
    for (std::size_t i = 0; i < side.outer; ++i) {
      const std::uint8_t part = division.part_of(side, i);
      for (std::size_t j = 0; part != Split::kNeither && j < side.inner; ++j) {
        const std::uint8_t branch = cuts[part].branch[j];
        if (branch == Split::kNeither) continue;
        cells.cell_of[side.code(i, j)] = static_cast<std::uint8_t>(2 * part + branch);
      }
    }
    return cells;
  }

 private:
  struct Side;

  // Levels of the outer feature: those from `first` to `last` are one part, and all others the
  // other; a level of missing values next to ordered ones is with the first part or not.
  struct Division {
    std::size_t first, last;
    bool missing_within;

    std::uint8_t part_of(const Side& side, std::size_t level) const {
      const bool is_missing = level == side.levels;
      const bool is_known = level < side.levels && (side.ordered || side.occupied[level] != 0);
      if (!is_known && !(is_missing && side.has_missing)) return Split::kNeither;
      const bool within = is_missing ? missing_within : level >= first && level < last;
      return within ? Split::kLeft : Split::kRight;
    }
  };

  // The grid seen from the feature that is cut first, the outer one.
  struct Side {
    Side(const FeatureCells& feature, bool by_rows) {
      const Grid& grid = feature.bins->grid();
      const auto size = [](int n) { return static_cast<std::size_t>(n); };
      outer = size(by_rows ? grid.rows : grid.columns);
      inner = size(by_rows ? grid.columns : grid.rows);
      stride = by_rows ? inner : 1;
      inner_stride = by_rows ? 1 : outer;
      const std::size_t in_order = size(by_rows ? grid.ordered_rows : grid.ordered_columns);
      ordered = in_order > 0;
      levels = ordered ? in_order : outer;
      inner_bins = &feature.bins->levels(by_rows ? 1 : 0);
      sum(feature);
      list_divisions();
    }

    std::size_t code(std::size_t i, std::size_t j) const { return i * stride + j * inner_stride; }

    std::size_t outer, inner, stride, inner_stride;
    bool ordered;
    std::size_t levels;        // that are cut: all but missing values next to ordered ones
    bool has_missing = false;  // such ones, in training rows
    const FeatureBins* inner_bins;
    std::vector<Cell> before, after;  // [i]: the sums of the levels below i, and from i on
    std::array<std::uint8_t, kMaxCodes> occupied{};
    std::vector<Division> divisions;

   private:
    void sum(const FeatureCells& feature) {
      before.assign((levels + 1) * inner, Cell{});
      after = before;
      for (std::size_t i = 0; i < outer; ++i) {
        for (std::size_t j = 0; j < inner; ++j) {
          occupied[i] |= feature.occupied[code(i, j)];
        }
      }
      has_missing = levels < outer && occupied[levels] != 0;
      for (std::size_t i = 0; i < levels; ++i) {
        for (std::size_t j = 0; j < inner; ++j) {
          before[(i + 1) * inner + j] = before[i * inner + j];
          before[(i + 1) * inner + j] += feature.cells[code(i, j)];
        }
      }
      for (std::size_t i = levels; i-- > 0;) {
        for (std::size_t j = 0; j < inner; ++j) {
          after[i * inner + j] = after[(i + 1) * inner + j];
          after[i * inner + j] += feature.cells[code(i, j)];
        }
      }
    }

    void list_divisions() {
      if (!ordered) {  // sets would be chosen for one side of the other feature's cut
        for (std::size_t i = 0; i < levels; ++i) {
          if (occupied[i] != 0) divisions.push_back({i, i + 1, false});
        }
        return;
      }
      for (std::size_t i = 1; i < levels; ++i) {
        if (has_missing) divisions.push_back({0, i, true});
        divisions.push_back({0, i, false});
      }
      if (has_missing) divisions.push_back({0, levels, false});
    }
  };

  // The best cut of a part by the other feature.
  Split cut(const Side& side, const Division& division, std::uint8_t part) const {
    std::array<Cell, kMaxCodes> sums{};
    const auto add = [&](const std::vector<Cell>& of, std::size_t level) {
      for (std::size_t j = 0; j < side.inner; ++j) sums[j] += of[level * side.inner + j];
    };
    if (part == Split::kRight) {
      add(side.before, division.first);
      add(side.after, division.last);
    } else if (side.ordered) {
      add(side.before, division.last);
    } else {
      for (std::size_t j = 0; j < side.inner; ++j) {
        sums[j] = feature_.cells[side.code(division.first, j)];
      }
    }
    if (side.has_missing && division.missing_within == (part == Split::kLeft)) {
      for (std::size_t j = 0; j < side.inner; ++j) {
        sums[j] += feature_.cells[side.code(side.levels, j)];
      }
    }
    // Levels that have no neighbours, nor rows in this part, are on neither side of its cut; but
    // where values must be in order, what has none would be 0 between others.
    std::array<std::uint8_t, kMaxCodes> occupied{};
    for (std::size_t j = 0; j < side.inner; ++j) {
      const bool any = sums[j].weight() + sums[j].curvature > 0.0;
      occupied[j] = any || feature_.are_in_order() ? 1 : 0;
    }
    const FeatureCells cells{sums.data(), occupied.data(), side.inner_bins};
    return find_split(*side.inner_bins, ClassCuts(cells, criterion_, regularizers_));
  }

  const FeatureCells& feature_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
};

}  // namespace properboost::learners
