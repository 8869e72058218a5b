// The codes of a tile of a table.
#pragma once

#include <cstddef>

#include "properboost/data/binning.hpp"
#include "properboost/data/tiles.hpp"

namespace properboost {

// Codes of a tile of rows: of the w-th wanted feature of the block at destination(w).
template <class Destination>
void encode_tile(const Bins& bins, const Table& table, const ColumnBlock& block, RowOrder order,
                 const TileRows& rows, const Destination& destination) {
  visit(table.columns[block.first].type, [&](auto zero) {
    using T = decltype(zero);
    ValueOf<T> x[Tile::kColumns * Tile::kRows];
    read<T>(table, block, order, rows.begin, rows.size, x);
    for (std::size_t w = 0; w < block.wanted.size(); ++w) {
      prefetch(table, block, order, rows, w, block.wanted.size());
      const std::size_t f = block.wanted[w];
      bins[f].encode(x + (f - block.first) * Tile::kRows, rows.size, destination(w));
    }
  });
}

}  // namespace properboost
