#include "properboost/ensemble/forest.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/encode_tile.hpp"
#include "properboost/data/tiles.hpp"
#include "properboost/ensemble/entries.hpp"

namespace properboost {
namespace {

bool have_the_same_nodes(const Forest& a, const Forest& b) {
  return a.roots == b.roots && a.nodes.feature == b.nodes.feature && a.nodes.left == b.nodes.left &&
         a.nodes.goes_left == b.nodes.goes_left && a.nodes.goes_right == b.nodes.goes_right;
}

// The first code below `width` that a split sends nowhere; else `width`.
std::size_t first_unknown(const Tree& nodes, std::size_t node, std::size_t width) {
  for (std::size_t w = 0; 64 * w < width; ++w) {
    const std::uint64_t none = ~(nodes.goes_left[node].bits[w] | nodes.goes_right[node].bits[w]);
    for (std::size_t b = 0; none != 0 && b < 64; ++b) {
      if ((none >> b & 1) != 0) return std::min(width, 64 * w + b);
    }
  }
  return width;
}

std::uint8_t largest(const TileCodes& codes, std::size_t n) {
  std::uint8_t highest = 0;
  vectorized([&highest, n, from = codes.data()] {
    std::uint8_t most = 0;
    for (std::size_t i = 0; i < n; ++i) most = from[i] > most ? from[i] : most;
    highest = most;
  });
  return highest;
}

}  // namespace

// The codes of a tile's rows.
struct ForestScores::Codes {
  std::vector<TileCodes> columns;
  std::vector<std::uint8_t> has_unknown;  // of each column; empty if none has
};

ForestScores::ForestScores(const Bins& bins, Forests forests)
    : bins_(bins), forests_(std::move(forests)), column_(bins.size(), 0) {
  std::vector<std::uint8_t> is_used(bins.size(), 0);
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t m = 0; m < forests_.size(); ++m) {
    const Forest& forest = *forests_[m];
    for (const std::int32_t f : forest.nodes.feature) {
      if (f != Tree::kLeaf) is_used[static_cast<std::size_t>(f)] = 1;
    }
    for (const std::int32_t f : forest.lines.feature) is_used[static_cast<std::size_t>(f)] = 1;
    if (!groups.empty() && have_the_same_nodes(*forests_[groups.back().front()], forest)) {
      groups.back().push_back(m);
    } else {
      groups.push_back({m});
    }
  }
  for (std::size_t f = 0; f < bins.size(); ++f) {
    if (is_used[f] == 0) continue;
    column_[f] = used_.size();
    used_.push_back(f);
  }
  find_known_codes();
  for (const auto& forest : forests_) terms_.push_back(make_terms(forest->lines));
  for (const std::vector<std::size_t>& models : groups) {
    groups_.push_back(make_group(models));
    trees_ += groups_.back().trees.size();
  }
}

void ForestScores::find_known_codes() {
  for (std::size_t f = 0; f < bins_.size(); ++f) {
    known_.push_back(static_cast<std::size_t>(bins_[f].width()));
  }
  for (const auto& forest : forests_) {
    const Tree& nodes = forest->nodes;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (nodes.is_leaf(k)) continue;
      std::size_t& known = known_[static_cast<std::size_t>(nodes.feature[k])];
      known = first_unknown(nodes, k, known);
    }
  }
}

std::vector<ForestScores::Term> ForestScores::make_terms(const NodeLines& lines) const {
  std::vector<Term> terms;
  for (std::size_t t = 0; t < lines.feature.size(); ++t) {
    const auto f = static_cast<std::size_t>(lines.feature[t]);
    terms.push_back(
        {bins_[f].positions(), column_[f] * Tile::kRows, lines.slope[t], lines.center[t]});
  }
  return terms;
}

ForestScores::Group ForestScores::make_group(const std::vector<std::size_t>& models) const {
  Group group{models, {}, false};
  for (const std::size_t m : models) group.has_lines |= !forests_[m]->lines.empty();
  const Forest& shared = *forests_[models.front()];
  for (std::size_t t = 0; t + 1 < shared.roots.size(); ++t) {
    const std::size_t root = shared.roots[t], end = shared.roots[t + 1];
    const auto make = [&](const auto& below) {
      Bits made{TreeBits(shared.nodes, root, end,
                         [&](std::size_t f) { return TreeBits::Feature{below(f), column_[f]}; }),
                {}};
      for (std::size_t place = 0; place < made.bits.size(); ++place) {
        const std::size_t node = root + made.bits.node(static_cast<std::uint8_t>(place));
        for (const std::size_t m : models) made.values.push_back(forests_[m]->values[node]);
      }
      return made;
    };
    const auto width = [&](std::size_t f) { return static_cast<std::size_t>(bins_[f].width()); };
    std::vector<std::size_t> columns;
    for (std::size_t k = root; k < end; ++k) {
      if (shared.nodes.is_leaf(k)) continue;
      const auto f = static_cast<std::size_t>(shared.nodes.feature[k]);
      if (first_unknown(shared.nodes, k, width(f)) < width(f)) columns.push_back(column_[f]);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    ReadyTree tree{root, {}, std::nullopt, std::move(columns)};
    if (tree.columns.empty()) {
      tree.bits = make(width);
    } else {
      tree.bits = make([&](std::size_t f) {
        const bool stays = std::binary_search(tree.columns.begin(), tree.columns.end(), column_[f]);
        return stays ? known_[f] : width(f);
      });
      tree.all = make(width);
    }
    group.trees.push_back(std::move(tree));
  }
  return group;
}

double ForestScores::nanoseconds(std::size_t rows) const noexcept {
  return static_cast<double>(rows) *
         (1.5 * static_cast<double>(used_.size()) + 1.5 * static_cast<double>(trees_));
}

const ForestScores::Bits& ForestScores::choose(const ReadyTree& tree, const Codes& codes) {
  const auto has_unknown = [&](std::size_t column) { return codes.has_unknown[column] != 0; };
  const bool may_stay = tree.all && !codes.has_unknown.empty() &&
                        std::any_of(tree.columns.begin(), tree.columns.end(), has_unknown);
  return may_stay ? *tree.all : tree.bits;
}

// Adds the values of the rows' nodes.
void ForestScores::add_nodes(const Group& group, const std::size_t* nodes, const Codes& codes,
                             std::size_t n, double* sums) const {
  const std::size_t models = group.models.size();
  for (std::size_t k = 0; k < models; ++k) {
    const Forest& forest = *forests_[group.models[k]];
    for (std::size_t i = 0; i < n; ++i) sums[i * models + k] += forest.values[nodes[i]];
    if (forest.lines.empty()) continue;
    const std::uint8_t* const columns = codes.columns.front().data();
    const Term* const terms = terms_[group.models[k]].data();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t end = forest.lines.end(nodes[i]);
      double sum = 0.0;
      for (std::size_t t = forest.lines.begin(nodes[i]); t < end; ++t) {
        const double z = terms[t].positions[columns[terms[t].begin + i]];
        sum += z == z ? terms[t].slope * (z - terms[t].center) : 0.0;
      }
      sums[i * models + k] += sum;
    }
  }
}

void ForestScores::add(const Group& group, const Codes& codes, std::size_t n, double* sums) const {
  constexpr std::size_t kAtOnce = 8, kFew = 6;
  std::array<TileCodes, kAtOnce> places;
  std::array<const double*, kAtOnce> values;
  std::size_t waiting = 0;  // trees whose places are found
  const auto add_waiting = [&] {
    add_all_entries(
        waiting, [&](std::size_t t) { return values[t]; }, places.data(), n, group.models.size(),
        sums);
    waiting = 0;
  };
  const std::uint8_t* const columns = codes.columns.front().data();
  const Tree& nodes = forests_[group.models.front()]->nodes;
  std::array<std::size_t, Tile::kRows> node;
  for (const ReadyTree& tree : group.trees) {
    const Bits& tree_bits = choose(tree, codes);
    if (n <= kFew && tree_bits.bits.walkable()) {
      for (std::size_t i = 0; i < n; ++i) node[i] = tree.root + tree_bits.bits.walk(columns + i);
    } else if (n <= kFew || !tree_bits.bits.usable()) {
      for (std::size_t i = 0; i < n; ++i) {
        node[i] =
            nodes.find_node([&](std::size_t f) { return codes.columns[column_[f]][i]; }, tree.root);
      }
    } else {
      tree_bits.bits.find(columns, TreeBits::kRows, places[waiting].data());
      if (!group.has_lines) {
        values[waiting++] = tree_bits.values.data();
        if (waiting == kAtOnce) add_waiting();
        continue;
      }
      for (std::size_t i = 0; i < n; ++i) node[i] = tree.root + tree_bits.bits.node(places[0][i]);
    }
    add_waiting();
    add_nodes(group, node.data(), codes, n, sums);
  }
  add_waiting();
}

// Marks the columns in which one of the tile's rows has a code that some split sends nowhere.
void ForestScores::mark_unknown(Codes& codes, std::size_t n) const {
  for (std::size_t column = 0; column < used_.size(); ++column) {
    const std::size_t known = known_[used_[column]];
    if (known == static_cast<std::size_t>(bins_[used_[column]].width()) ||
        largest(codes.columns[column], n) < known) {
      continue;
    }
    codes.has_unknown.resize(used_.size(), 0);
    codes.has_unknown[column] = 1;
  }
}

template <class Fill>
void ForestScores::add_tiles(std::size_t rows, const Fill& fill, double* out, Team& team) const {
  for_each_tile(rows, nanoseconds(rows), team, [&](const TileRows& tile) {
    Codes codes{std::vector<TileCodes>(std::max<std::size_t>(used_.size(), 1)), {}};
    fill(tile, codes.columns);
    mark_unknown(codes, tile.size);
    std::vector<double> sums;
    for (const Group& group : groups_) {
      const std::size_t models = group.models.size();
      sums.assign(tile.size * models, 0.0);
      add(group, codes, tile.size, sums.data());
      for (std::size_t i = 0; i < tile.size; ++i) {
        double* const to = out + (tile.begin + i) * forests_.size();
        for (std::size_t k = 0; k < models; ++k) to[group.models[k]] = sums[i * models + k];
      }
    }
  });
}

void ForestScores::predict_raw(const Table& table, double* out, Team& team) const {
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table, used_);
  const auto encode = [&](const TileRows& tile, std::vector<TileCodes>& columns) {
    for (const ColumnBlock& block : blocks) {
      encode_tile(bins_, table, block, RowOrder{}, tile,
                  [&](std::size_t w) { return columns[column_[block.wanted[w]]].data(); });
    }
  };
  add_tiles(table.rows, encode, out, team);
}

void ForestScores::predict_raw(const std::uint8_t* codes, std::size_t rows, double* out,
                               Team& team) const {
  const auto copy = [&](const TileRows& tile, std::vector<TileCodes>& columns) {
    for (const std::size_t f : used_) {
      std::copy_n(codes + f * rows + tile.begin, tile.size, columns[column_[f]].data());
    }
  };
  add_tiles(rows, copy, out, team);
}

}  // namespace properboost
