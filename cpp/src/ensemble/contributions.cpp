#include "properboost/ensemble/contributions.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "properboost/core/gauss_legendre.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/trees/shapley.hpp"

namespace properboost {
namespace {

constexpr std::size_t kRows = ShapleyTree::kRows;
constexpr std::size_t kTrees = 16;  // at a time, so that the second cache holds them

// The features that trees use, and their numbers.
struct UsedFeatures {
  std::vector<std::size_t> features, number_of;

  UsedFeatures(const Forest& forest, std::size_t first, std::size_t end, std::size_t n)
      : number_of(n, 0) {
    std::vector<bool> is_used(n, false);
    for (std::size_t k = first; k < end; ++k) {
      if (!forest.nodes.is_leaf(k)) {
        is_used[static_cast<std::size_t>(forest.nodes.feature[k])] = true;
      }
      if (forest.lines.empty()) continue;
      for (std::size_t t = forest.lines.begin(k); t < forest.lines.end(k); ++t) {
        is_used[static_cast<std::size_t>(forest.lines.feature[t])] = true;
      }
    }
    for (std::size_t f = 0; f < n; ++f) {
      if (!is_used[f]) continue;
      number_of[f] = features.size();
      features.push_back(f);
    }
  }
};

// Some rows, by the number of the feature.
struct RowTile {
  std::vector<std::array<std::uint8_t, kRows>> codes;
  std::vector<CodeSet> present;
  Aligned<ShapleyTree::Numbers> positions, contributions;

  RowTile(const UsedFeatures& used, const Bins& bins, const Codes& all, std::size_t begin,
          std::size_t rows)
      : codes(used.features.size()),
        present(codes.size()),
        positions(codes.size()),
        contributions(codes.size(), ShapleyTree::Numbers{}) {
    for (std::size_t k = 0; k < codes.size(); ++k) {
      const std::uint8_t* const from = all.feature(used.features[k]) + begin;
      const double* const position = bins[used.features[k]].positions();
      for (std::size_t i = 0; i < kRows; ++i) {
        const std::uint8_t code = from[std::min(i, rows - 1)];
        codes[k][i] = code;
        present[k].insert(code);
        positions[k][i] =
            position == nullptr ? std::numeric_limits<double>::quiet_NaN() : position[code];
      }
    }
  }
};

}  // namespace

double add_contributions(const Forest& forest, const double* weights, const Bins& bins,
                         const Codes& codes, double* out, Team& team) {
  const std::size_t n_trees = forest.roots.size() - 1, features = bins.size();
  double baseline = 0.0;
  std::vector<Quadrature> quadratures(1);  // by the number of points; without any nothing is added
  for (std::size_t first = 0; first < n_trees; first += kTrees) {
    const std::size_t n = std::min(kTrees, n_trees - first);
    const UsedFeatures used(forest, forest.roots[first], forest.roots[first + n], features);
    std::vector<ShapleyTree> trees;
    double nanoseconds = 0.0;
    for (std::size_t t = first; t < first + n; ++t) {
      trees.emplace_back(WeightedTree{forest.nodes, forest.lines, forest.values.data(), weights,
                                      forest.roots[t], forest.roots[t + 1]},
                         used.number_of);
      while (quadratures.size() <= trees.back().points()) {
        quadratures.push_back(gauss_legendre(quadratures.size()));
      }
      trees.back().set_points(quadratures[trees.back().points()]);
      baseline += trees.back().baseline();
      nanoseconds += trees.back().nanoseconds();
    }
    const std::size_t tiles = (codes.rows + kRows - 1) / kRows;
    team.for_each(tiles, nanoseconds * static_cast<double>(codes.rows), [&](std::size_t k) {
      const std::size_t begin = k * kRows, rows = std::min(kRows, codes.rows - begin);
      RowTile tile(used, bins, codes, begin, rows);
      ShapleyTree::Scratch scratch;
      for (const ShapleyTree& tree : trees) {
        tree.explain({tile.codes.data(), tile.present.data(), tile.positions.data(),
                      tile.contributions.data()},
                     scratch);
      }
      for (std::size_t number = 0; number < used.features.size(); ++number) {
        for (std::size_t i = 0; i < rows; ++i) {
          out[(begin + i) * features + used.features[number]] += tile.contributions[number][i];
        }
      }
    });
  }
  return baseline;
}

}  // namespace properboost
