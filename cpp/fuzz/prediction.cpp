// Predictions of any look-up tables, pairs and trees, against plain sums.
#include <memory>

#include "properboost/core/parallel.hpp"
#include "properboost/data/pairs.hpp"
#include "properboost/ensemble/ensemble.hpp"
#include "properboost/ensemble/forest.hpp"
#include "tables.hpp"

using namespace properboost;
using namespace properboost::fuzz;

namespace {

FeaturePair read_pair(Bytes& bytes, std::size_t features) {
  FeaturePair pair{bytes.below(features), bytes.below(features), bytes.between(1, 254), {}, {}};
  const bool small = bytes.flip();
  for (auto* levels : {&pair.first_level, &pair.second_level}) {
    for (std::uint16_t& level : *levels) {
      level = static_cast<std::uint16_t>(bytes.word() % (small ? 20 : 65'536));
    }
  }
  return pair;
}

// The codes of one side of a split: any, or some that follow each other, as most splits have.
CodeSet read_side(Bytes& bytes, bool any, std::size_t begin, std::size_t end) {
  CodeSet codes;
  for (std::uint64_t& word : codes.bits) word = any ? bytes.word() : 0;
  for (std::size_t code = begin; !any && code < end; ++code) codes.insert(code);
  return codes;
}

// Trees whose children follow their parents, and are theirs alone or not.
Forest read_forest(Bytes& bytes, std::size_t features) {
  Forest forest;
  const std::size_t trees = bytes.below(4);
  for (std::size_t t = 0; t < trees; ++t) {
    forest.roots.push_back(forest.nodes.size());
    const bool shared = bytes.flip(), any = bytes.flip();
    const std::size_t nodes = bytes.between(1, any ? 12 : 150);
    std::size_t next = 1;  // a child that no node has
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t first = shared ? node + 1 : std::max(next, node + 1);
      const bool splits = first + 1 < nodes && bytes.below(4) != 0;
      forest.nodes.feature.push_back(splits ? static_cast<std::int32_t>(bytes.below(features))
                                            : Tree::kLeaf);
      const std::size_t left = !splits ? 0 : shared ? bytes.between(first, nodes - 2) : first;
      forest.nodes.left.push_back(static_cast<std::int64_t>(left));
      if (splits) next = first + 2;
      const std::size_t cut = bytes.below(any ? 1 : kMaxCodes);
      const std::size_t known = bytes.below(any ? 1 : 3) != 0 ? kMaxCodes : cut + 1;
      CodeSet sides[2] = {read_side(bytes, any, 0, cut), read_side(bytes, any, cut, known)};
      const bool swapped = bytes.flip();
      forest.nodes.goes_left.push_back(sides[swapped ? 1 : 0]);
      forest.nodes.goes_right.push_back(sides[swapped ? 0 : 1]);
      forest.values.push_back(bytes.unit() - 0.5);
    }
  }
  forest.roots.push_back(forest.nodes.size());
  return forest;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * (1.0 + std::abs(b)); }

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t features = bytes.between(1, 40);
  const std::size_t rows = bytes.below(16) == 15 ? bytes.below(6000) : bytes.below(300);
  std::vector<FeatureBins> all;
  std::vector<std::vector<double>> edges;
  for (std::size_t f = 0; f < features; ++f) {
    auto [bins, its_edges] = read_bins(bytes);
    all.push_back(bins);
    edges.push_back(its_edges);
  }
  const Bins bins(all);
  const StoredTable stored = read_table(bytes, rows, features);
  std::vector<std::uint8_t> codes(features * rows);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t i = 0; i < rows; ++i) {
      codes[f * rows + i] = static_cast<std::uint8_t>(
          code_of(bins[f], edges[f], value_of(stored.table.columns[f], i)));
    }
  }

  std::vector<FeaturePair> pairs;
  const std::size_t n_pairs = bytes.below(40);
  for (std::size_t p = 0; p < n_pairs; ++p) pairs.push_back(read_pair(bytes, features));
  std::vector<std::uint8_t> of_pairs(n_pairs * rows);
  on_threads(3,
             [&](Team& team) { encode_pairs(pairs, codes.data(), rows, of_pairs.data(), team); });
  std::vector<std::size_t> offsets;
  std::size_t width = bins.total_width();
  for (const FeaturePair& pair : pairs) {
    offsets.push_back(width);
    width += pair.width();
  }
  const std::size_t models = bytes.below(5);
  std::vector<double> tables(models * width), out(models * rows);
  const std::size_t unused = bytes.between(1, 4);  // look-up tables of zeros are not looked up
  for (double& entry : tables) entry = bytes.content_below(unused) == 0 ? bytes.unit() - 0.5 : 0.0;
  on_threads(3, [&](Team& team) {
    predict_raw(stored.table, bins, pairs, tables.data(), models, out.data(), team);
  });
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t m = 0; m < models; ++m) {
      const double* const table = tables.data() + m * width;
      double sum = 0.0;
      for (std::size_t f = 0; f < features; ++f) sum += table[bins.offset(f) + codes[f * rows + i]];
      for (std::size_t p = 0; p < n_pairs; ++p) {
        const std::size_t code = of_pairs[p * rows + i];
        require(code < pairs[p].width(), "a pair's code");
        sum += table[offsets[p] + code];
      }
      require(close(out[i * models + m], sum), "look-up tables add up");
    }
  }

  ForestScores::Forests forests;
  const std::size_t n_forests = bytes.below(4);
  for (std::size_t m = 0; m < n_forests; ++m) {
    forests.push_back(std::make_shared<Forest>(read_forest(bytes, features)));
    if (m == 0 || bytes.below(3) != 0) continue;
    Forest alike = *forests[m - 1];  // but for its values
    for (double& value : alike.values) value = bytes.unit() - 0.5;
    forests[m] = std::make_shared<Forest>(std::move(alike));
  }
  const ForestScores scores(bins, forests);
  std::vector<double> of_trees(n_forests * rows);
  on_threads(3, [&](Team& team) { scores.predict_raw(stored.table, of_trees.data(), team); });
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t m = 0; m < n_forests; ++m) {
      const Forest& forest = *forests[m];
      double sum = 0.0;
      for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
        sum += forest.values[forest.nodes.find_node(
            [&](std::size_t f) { return codes[f * rows + i]; }, forest.roots[t])];
      }
      require(of_trees[i * n_forests + m] == sum, "trees add up, in their order");
    }
  }

  if (features < 2 || features > 12) return 0;
  std::vector<std::uint8_t> levels;
  for (const std::uint8_t code : codes) levels.push_back(code % kLevels);
  std::vector<float> gradient, variance;
  for (std::size_t i = 0; i < rows; ++i) {
    gradient.push_back(static_cast<float>(bytes.unit() - 0.5));
    variance.push_back(static_cast<float>(bytes.unit()));
  }
  std::vector<double> statistics[2];
  for (const int threads : {1, 3}) {
    on_threads(threads, [&](Team& team) {
      for (const Interaction& interaction : find_interactions(
               levels.data(), features, rows, gradient.data(), variance.data(), 1.0, [] {}, team)) {
        statistics[threads / 2].push_back(interaction.chi_square);
        statistics[threads / 2].push_back(interaction.freedom);
      }
    });
  }
  require(all_finite(statistics[0]) && same(statistics[0], statistics[1]),
          "interactions are finite");
  return 0;
}
