// Partitions: a feature's codes, or a tree's nodes, divided into cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/histogram/cells.hpp"

namespace properboost {

// The look-up table has the value of cell cell_of[code] at each code.
struct Partition {
  std::vector<Cell> cells;
  std::vector<std::uint8_t> occupied;  // whether a cell has training rows
  CellOfCode cell_of{};
  std::vector<RowShare> shares;  // the cells in which a row of each code counts
  // Whether it is one cell for want of evidence, and there is none for a constant either.
  bool within_chance = false;

  std::size_t occupied_cells() const {
    std::size_t n = 0;
    for (const std::uint8_t o : occupied) n += o;
    return n;
  }

  // Takes the sums of codes as they are, in place of smooth ones.
  void gather(const FeatureCells& feature) {
    std::fill(cells.begin(), cells.end(), Cell{});
    for (std::size_t b = 0; b < feature.width(); ++b) cells[cell_of[b]] += feature.cells[b];
  }

  // Makes cells one: cell b becomes a part of the cell pool_of[b] of `pools`.
  void merge(const CellOfCode& pool_of, std::size_t pools) {
    std::vector<Cell> sums(pools);
    std::vector<std::uint8_t> any(pools, 0);
    for (std::size_t b = 0; b < cells.size(); ++b) {
      sums[pool_of[b]] += cells[b];
      any[pool_of[b]] |= occupied[b];
    }
    cells = std::move(sums);
    occupied = std::move(any);
    for (std::uint8_t& cell : cell_of) cell = pool_of[cell];
    for (RowShare& share : shares) {
      for (std::uint8_t& cell : share.cell_of) cell = pool_of[cell];
    }
  }
};

}  // namespace properboost
