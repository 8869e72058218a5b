// Adding up the table entries of a tile's codes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "properboost/core/instruction_set.hpp"
#include "properboost/data/table.hpp"

namespace properboost {

using TileCodes = std::array<std::uint8_t, Tile::kRows>;

// out[i] += entries[0][codes[0][i]] + ..., in this order: one look-up per table.
template <std::size_t kTables>
void add_entries(const double* const* entries, const TileCodes* codes, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = out[i];
    for (std::size_t t = 0; t < kTables; ++t) sum += entries[t][codes[t][i]];
    out[i] = sum;
  }
}

// The same for several models: entries[code * models + m].
inline void add_entries(const double* entries, const TileCodes& codes, std::size_t n,
                        std::size_t models, double* __restrict out) {
  vectorized([=, code = codes.data()] {
    for (std::size_t i = 0; i < n; ++i) {
      const double* const entry = entries + code[i] * models;
      for (std::size_t m = 0; m < models; ++m) out[i * models + m] += entry[m];
    }
  });
}

// The same for any number of tables, which entries(t) has.
template <class Entries>
void add_all_entries(std::size_t tables, const Entries& entries, const TileCodes* codes,
                     std::size_t n, std::size_t models, double* out) {
  if (models > 1) {
    for (std::size_t t = 0; t < tables; ++t) add_entries(entries(t), codes[t], n, models, out);
    return;
  }
  const double* batch[4];
  for (std::size_t t = 0; t < tables; t += 4, codes += 4) {
    const std::size_t count = std::min<std::size_t>(4, tables - t);
    for (std::size_t k = 0; k < count; ++k) batch[k] = entries(t + k);
    switch (count) {
      case 1: add_entries<1>(batch, codes, n, out); break;
      case 2: add_entries<2>(batch, codes, n, out); break;
      case 3: add_entries<3>(batch, codes, n, out); break;
      default: add_entries<4>(batch, codes, n, out);
    }
  }
}

}  // namespace properboost
