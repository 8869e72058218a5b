#include "properboost/ensemble.hpp"

#include <algorithm>

namespace properboost {

void score(const Table& table, const Bins& bins, const double* tables, std::size_t models,
           double* out, Team& team) {
  const std::size_t stride = bins.total_width();
  // A feature no model uses need not be read.
  std::vector<std::size_t> used;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    const std::size_t begin = bins.offset(f);
    const std::size_t end = bins.offset(f + 1);
    for (std::size_t m = 0; m < models; ++m) {
      const double* values = tables + m * stride;
      if (std::any_of(values + begin, values + end, [](double v) { return v != 0.0; })) {
        used.push_back(f);
        break;
      }
    }
  }
  const std::size_t blocks = (table.rows + kBinningBlock - 1) / kBinningBlock;
  const double nanoseconds =
      static_cast<double>(table.rows * used.size()) * (3.0 + static_cast<double>(models));
  team.for_each(blocks, nanoseconds, [&](std::size_t block) {
    const std::size_t begin = block * kBinningBlock;
    const std::size_t n = std::min(kBinningBlock, table.rows - begin);
    std::uint8_t code[kBinningBlock];
    double* rows = out + begin * models;
    std::fill_n(rows, n * models, 0.0);
    for (const std::size_t f : used) {
      bins[f].encode(table.columns[f], RowOrder{}, begin, n, code);
      for (std::size_t m = 0; m < models; ++m) {
        const double* values = tables + m * stride + bins.offset(f);
        for (std::size_t i = 0; i < n; ++i) rows[i * models + m] += values[code[i]];
      }
    }
  });
}

}  // namespace properboost
