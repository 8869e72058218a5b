#include "properboost/ensemble/ensemble.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/instruction_set.hpp"
#include "properboost/trees/answer_bits.hpp"

namespace properboost {
namespace {

using TileCodes = std::array<std::uint8_t, Tile::kRows>;

// out[i] += entries[0][codes[0][i]] + ..., in this order: one look-up per feature.
template <std::size_t kFeatures>
void add_entries(const double* const* entries, const TileCodes* codes, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = out[i];
    for (std::size_t f = 0; f < kFeatures; ++f) sum += entries[f][codes[f][i]];
    out[i] = sum;
  }
}

// The same for several models: entries[code * models + m].
void add_entries(const double* entries, const TileCodes& codes, std::size_t n, std::size_t models,
                 double* __restrict out) {
  vectorized([=, code = codes.data()] {
    for (std::size_t i = 0; i < n; ++i) {
      const double* const entry = entries + code[i] * models;
      for (std::size_t m = 0; m < models; ++m) out[i * models + m] += entry[m];
    }
  });
}

// Forests that differ in their values alone are walked once: the classes of a joint model share
// their trees.  Returns the models of each.
std::vector<std::vector<std::size_t>> group_by_nodes(const std::vector<const Forest*>& forests) {
  const auto same = [](const Forest& a, const Forest& b) {
    return a.roots == b.roots && a.nodes.feature == b.nodes.feature &&
           a.nodes.left == b.nodes.left && a.nodes.goes_left == b.nodes.goes_left &&
           a.nodes.goes_right == b.nodes.goes_right;
  };
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t m = 0; m < forests.size(); ++m) {
    if (!groups.empty() && same(*forests[groups.back().front()], *forests[m])) {
      groups.back().push_back(m);
    } else {
      groups.push_back({m});
    }
  }
  return groups;
}

// A tree as a table of the values that each number of answers has.
struct TreeTable {
  AnswerBits bits;
  std::vector<double> values;  // [model][answers]
};

// The trees that some models share as tables, where these repay for so many rows.
std::vector<TreeTable> make_tables(const std::vector<const Forest*>& forests,
                                   const std::vector<std::size_t>& models, std::size_t rows) {
  constexpr std::size_t kRepaid = 1024;
  const Forest& shared = *forests[models.front()];
  std::vector<TreeTable> tables;
  for (std::size_t t = 0; rows >= kRepaid && t + 1 < shared.roots.size(); ++t) {
    const std::size_t root = shared.roots[t];
    TreeTable table{{shared.nodes, root, shared.roots[t + 1]}, {}};
    for (const std::size_t m : models) {
      for (std::size_t answers = 0; answers < table.bits.size(); ++answers) {
        const std::size_t node = root + table.bits.node(static_cast<std::uint8_t>(answers));
        table.values.push_back(forests[m]->values[node]);
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

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
      const auto entries = [&](std::size_t w) { return tables + first(w) * models; };
      std::size_t w = 0;
      if (models > 1) {
        for (; w < count; ++w) add_entries(entries(w), codes[w], n, models, sums);
      }
      for (; w + 4 <= count; w += 4) {
        const double* const four[] = {entries(w), entries(w + 1), entries(w + 2), entries(w + 3)};
        add_entries<4>(four, codes + w, n, sums);
      }
      for (; w < count; ++w) {
        const double* const one[] = {entries(w)};
        add_entries<1>(one, codes + w, n, sums);
      }
    };
    std::array<TileCodes, Tile::kColumns> codes;
    std::vector<TileCodes> kept(places);
    for (const ColumnBlock& block : blocks) {
      bins.encode_tile(table, block, RowOrder{}, rows,
                       [&](std::size_t w) { return codes[w].data(); });
      add_all(block.wanted.size(), codes.data(),
              [&](std::size_t w) { return bins.offset(block.wanted[w]); });
      for (std::size_t w = 0; w < block.wanted.size(); ++w) {
        const std::size_t f = block.wanted[w];
        if (in_pair[f] != 0) std::copy_n(codes[w].begin(), n, kept[place[f]].begin());
      }
    }
    for (std::size_t begin = 0; begin < used_pairs.size(); begin += codes.size()) {
      const std::size_t count = std::min(codes.size(), used_pairs.size() - begin);
      for (std::size_t w = 0; w < count; ++w) {
        const FeaturePair& pair = pairs[used_pairs[begin + w]];
        const TileCodes& a = kept[place[pair.first]];
        const TileCodes& b = kept[place[pair.second]];
        for (std::size_t i = 0; i < n; ++i) codes[w][i] = pair.code(a[i], b[i]);
      }
      add_all(count, codes.data(), [&](std::size_t w) { return offsets[used_pairs[begin + w]]; });
    }
  });
}

void predict_raw(const Table& table, const Bins& bins, const std::vector<const Forest*>& forests,
                 double* out, Team& team) {
  std::vector<std::uint8_t> asked(bins.size(), 0);
  std::size_t trees = 0;
  const std::vector<std::vector<std::size_t>> groups = group_by_nodes(forests);
  std::vector<std::vector<TreeTable>> tables;  // of each group
  for (const std::vector<std::size_t>& models : groups) {
    const Forest& forest = *forests[models.front()];
    trees += forest.roots.size() - 1;
    tables.push_back(make_tables(forests, models, table.rows));
    for (const std::int32_t f : forest.nodes.feature) {
      if (f != Tree::kLeaf) asked[static_cast<std::size_t>(f)] = 1;
    }
    for (const std::size_t m : models) {
      for (const std::int32_t f : forests[m]->lines.feature) asked[static_cast<std::size_t>(f)] = 1;
    }
  }
  std::vector<std::size_t> used, place(bins.size(), 0);  // features, and where their codes are
  for (std::size_t f = 0; f < bins.size(); ++f) {
    if (asked[f] == 0) continue;
    place[f] = used.size();
    used.push_back(f);
  }
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table, used);
  const double nanoseconds =
      static_cast<double>(table.rows) *
      (1.5 * static_cast<double>(used.size()) + 20.0 * static_cast<double>(trees));
  for_each_tile(table.rows, nanoseconds, team, [&](const TileRows& rows) {
    std::vector<TileCodes> codes(used.size());
    for (const ColumnBlock& block : blocks) {
      bins.encode_tile(table, block, RowOrder{}, rows,
                       [&](std::size_t w) { return codes[place[block.wanted[w]]].data(); });
    }
    std::vector<const std::uint8_t*> codes_of(bins.size());
    for (std::size_t k = 0; k < used.size(); ++k) codes_of[used[k]] = codes[k].data();
    std::array<std::size_t, Tile::kRows> node;
    TileCodes answers;
    std::vector<std::array<double, Tile::kRows>> sums;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<std::size_t>& models = groups[g];
      const Forest& forest = *forests[models.front()];
      const bool constant = std::all_of(models.begin(), models.end(),
                                        [&](std::size_t m) { return forests[m]->lines.empty(); });
      sums.assign(models.size(), {});
      for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
        const std::size_t root = forest.roots[t];
        const TreeTable* const as_table =
            tables[g].empty() || !tables[g][t].bits.usable() ? nullptr : &tables[g][t];
        bool all = false;
        if (as_table != nullptr) {
          all = as_table->bits.answer([&](std::size_t f) { return codes_of[f]; }, rows.size,
                                      answers.data());
        }
        if (all && constant) {
          for (std::size_t k = 0; k < models.size(); ++k) {
            const double* const values = &as_table->values[k * as_table->bits.size()];
            for (std::size_t i = 0; i < rows.size; ++i) sums[k][i] += values[answers[i]];
          }
          continue;
        }
        for (std::size_t i = 0; i < rows.size; ++i) {
          const bool known = as_table != nullptr && AnswerBits::is_known(answers[i]);
          node[i] =
              known ? root + as_table->bits.node(answers[i])
                    : forest.nodes.find_node([&](std::size_t f) { return codes_of[f][i]; }, root);
        }
        for (std::size_t k = 0; k < models.size(); ++k) {
          const double* const values = forests[models[k]]->values.data();
          for (std::size_t i = 0; i < rows.size; ++i) sums[k][i] += values[node[i]];
          const NodeLines& lines = forests[models[k]]->lines;
          for (std::size_t i = 0; !lines.empty() && i < rows.size; ++i) {
            sums[k][i] +=
                lines.add_up(node[i], bins, [&](std::size_t f) { return codes_of[f][i]; });
          }
        }
      }
      for (std::size_t k = 0; k < models.size(); ++k) {
        for (std::size_t i = 0; i < rows.size; ++i) {
          out[(rows.begin + i) * forests.size() + models[k]] = sums[k][i];
        }
      }
    }
  });
}

}  // namespace properboost
