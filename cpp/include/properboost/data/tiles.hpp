// Tiles: the values of a table are read some rows and columns at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/data/table.hpp"
#include "properboost/data/transpose.hpp"

namespace properboost {

// Rows by a block of columns, the unit of reading.  Columns of a row-major table that
// share cache lines make a block, so that a line is fetched once; others are read by themselves.
struct Tile {
  static constexpr std::size_t kRows = 128;
  static constexpr std::size_t kColumns = 32;
};

// Columns first to first + size, all of one type; those wanted of them.
struct ColumnBlock {
  std::size_t first, size;
  std::vector<std::size_t> wanted;
};

// Blocks of the wanted columns, which ascend.
inline std::vector<ColumnBlock> cut_into_column_blocks(const Table& table,
                                                       const std::vector<std::size_t>& wanted) {
  std::vector<ColumnBlock> blocks;
  const auto side_by_side = [&](std::size_t a, std::size_t b) {
    const Column& left = table.columns[a];
    const Column& right = table.columns[b];
    const auto size = visit(left.type, [](auto zero) { return sizeof(zero); });
    return left.type == right.type && left.stride == right.stride &&
           right.data - left.data == static_cast<std::ptrdiff_t>((b - a) * size);
  };
  // A block is read as a whole, so only the columns between may lie between two of its columns.
  const auto joins = [&](const ColumnBlock& block, std::size_t f) {
    if (f - block.first >= Tile::kColumns) return false;
    for (std::size_t k = block.first + block.size; k <= f; ++k) {
      if (!side_by_side(k - 1, k)) return false;
    }
    return true;
  };
  for (const std::size_t f : wanted) {
    if (!blocks.empty() && joins(blocks.back(), f)) {
      blocks.back().size = f - blocks.back().first + 1;
      blocks.back().wanted.push_back(f);
    } else {
      blocks.push_back({f, 1, {f}});
    }
  }
  return blocks;
}

// Blocks of all columns.
inline std::vector<ColumnBlock> cut_into_column_blocks(const Table& table) {
  std::vector<std::size_t> all(table.columns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return cut_into_column_blocks(table, all);
}

// out[c * Tile::kRows + i] = the value of the block's column c in row order[begin + i], read as T.
template <class T>
void read(const Table& table, const ColumnBlock& block, RowOrder order, std::size_t begin,
          std::size_t n, ValueOf<T>* out) {
  const Column& first = table.columns[block.first];
  const char* row[Tile::kRows] = {};
  for (std::size_t i = 0; i < n; ++i) {
    row[i] = first.data + static_cast<std::ptrdiff_t>(order[begin + i]) * first.stride;
  }
  if constexpr (std::is_same_v<T, ValueOf<T>>) {
    transpose(row, n, block.size, Tile::kRows, out);
  } else {
    for (std::size_t c = 0; c < block.size; ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        T value;  // memcpy: a strided field need not be aligned
        std::memcpy(&value, row[i] + c * sizeof(T), sizeof(T));
        out[c * Tile::kRows + i] = static_cast<ValueOf<T>>(value);
      }
    }
  }
}

// Rows of a tile, and the number of rows that the thread reads after them.
struct TileRows {
  std::size_t begin, size, ahead;
};

// Calls task(rows) for the tiles of n rows.  `nanoseconds` is an estimate of the whole time.
template <class Task>
void for_each_tile(std::size_t n, double nanoseconds, Team& team, const Task& task) {
  // A thread takes several at a time, which lie one after the other in memory.
  constexpr std::size_t kTurn = 8 * Tile::kRows;
  team.for_each((n + kTurn - 1) / kTurn, nanoseconds, [&](std::size_t turn) {
    const std::size_t end = std::min((turn + 1) * kTurn, n);
    for (std::size_t begin = turn * kTurn; begin < end; begin += Tile::kRows) {
      const std::size_t size = std::min(Tile::kRows, end - begin);
      task(TileRows{begin, size, std::min(Tile::kRows, end - begin - size)});
    }
  });
}

// Prefetches one of several parts of the tile after `rows`: between two pieces of work, so that
// memory and arithmetic overlap.
inline void prefetch(const Table& table, const ColumnBlock& block, RowOrder order,
                     const TileRows& rows, std::size_t part, std::size_t parts) {
  const Column& first = table.columns[block.first];
  const std::size_t bytes = block.size * visit(first.type, [](auto zero) { return sizeof(zero); });
  const std::size_t from = rows.begin + rows.size;
  for (std::size_t i = rows.ahead * part / parts; i < rows.ahead * (part + 1) / parts; ++i) {
    const char* const row =
        first.data + static_cast<std::ptrdiff_t>(order[from + i]) * first.stride;
    prefetch(row, bytes);
    prefetch(row + bytes - 1);
  }
}

}  // namespace properboost
