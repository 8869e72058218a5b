#include "properboost/ensemble/ensemble.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/parallel.hpp"
#include "properboost/data/encode_tile.hpp"
#include "properboost/data/pairs.hpp"
#include "properboost/data/tiles.hpp"
#include "properboost/ensemble/entries.hpp"

namespace properboost {
void predict_raw(const Table& table, const Bins& bins, const std::vector<FeaturePair>& pairs,
                 const double* tables, std::size_t models, double* out, Team& team) {
  std::vector<std::size_t> offsets;  // of the pairs' tables
  std::size_t width = bins.total_width();
  for (const FeaturePair& pair : pairs) {
    offsets.push_back(width);
    width += pair.width();
  }
  std::vector<double> by_code(models == 1 ? 0 : width * models);
  if (models > 1) {
    for (std::size_t m = 0; m < models; ++m) {
      for (std::size_t b = 0; b < width; ++b) by_code[b * models + m] = tables[m * width + b];
    }
    tables = by_code.data();
  }
  const auto is_used = [&](std::size_t begin, std::size_t end) {
    return std::any_of(tables + begin * models, tables + end * models,
                       [](double v) { return v != 0.0; });
  };
  std::vector<std::size_t> used_pairs;
  std::vector<std::uint8_t> in_pair(bins.size(), 0);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (!is_used(offsets[p], offsets[p] + pairs[p].width())) continue;
    used_pairs.push_back(p);
    in_pair[pairs[p].first] = in_pair[pairs[p].second] = 1;
  }
  std::vector<std::size_t> used;                   // a feature no model uses need not be read
  std::vector<std::size_t> place(bins.size(), 0);  // where a pair's feature keeps its codes
  std::size_t places = 0;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    if (in_pair[f] != 0) place[f] = places++;
    if (in_pair[f] != 0 || is_used(bins.offset(f), bins.offset(f + 1))) used.push_back(f);
  }
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table, used);
  const double nanoseconds = static_cast<double>(table.rows * (used.size() + used_pairs.size())) *
                             (1.5 + 0.5 * static_cast<double>(models));
  for_each_tile(table.rows, nanoseconds, team, [&](const TileRows& rows) {
    const std::size_t n = rows.size;
    double* const sums = out + rows.begin * models;
    std::fill_n(sums, n * models, 0.0);
    // Adds the entries of `count` features or pairs, which begin at first(w).
    const auto add_all = [&](std::size_t count, const TileCodes* codes, const auto& first) {
      add_all_entries(
          count, [&](std::size_t w) { return tables + first(w) * models; }, codes, n, models, sums);
    };
    std::array<TileCodes, Tile::kColumns> codes;
    std::vector<TileCodes> part_codes(places);
    for (const ColumnBlock& block : blocks) {
      encode_tile(bins, table, block, RowOrder{}, rows,
                  [&](std::size_t w) { return codes[w].data(); });
      add_all(block.wanted.size(), codes.data(),
              [&](std::size_t w) { return bins.offset(block.wanted[w]); });
      for (std::size_t w = 0; w < block.wanted.size(); ++w) {
        const std::size_t f = block.wanted[w];
        if (in_pair[f] != 0) std::copy_n(codes[w].begin(), n, part_codes[place[f]].begin());
      }
    }
    for (std::size_t begin = 0; begin < used_pairs.size(); begin += codes.size()) {
      const std::size_t count = std::min(codes.size(), used_pairs.size() - begin);
      for (std::size_t w = 0; w < count; ++w) {
        const FeaturePair& pair = pairs[used_pairs[begin + w]];
        const TileCodes& a = part_codes[place[pair.first]];
        const TileCodes& b = part_codes[place[pair.second]];
        for (std::size_t i = 0; i < n; ++i) codes[w][i] = pair.code(a[i], b[i]);
      }
      add_all(count, codes.data(), [&](std::size_t w) { return offsets[used_pairs[begin + w]]; });
    }
  });
}

}  // namespace properboost
