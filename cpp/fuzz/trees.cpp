// Single trees: every row ends at a node, the nodes' weights add up, contributions add up to the
// prediction, and nothing depends on threads.
#include <memory>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/ensemble/contributions.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/slots.hpp"
#include "tables.hpp"

using namespace properboost;
using namespace properboost::fuzz;

namespace {

// Bins of features, numeric ones with means.
Bins read_bins_with_means(Bytes& bytes, std::size_t features) {
  std::vector<FeatureBins> all;
  for (std::size_t f = 0; f < features; ++f) {
    auto [bins, edges] = read_bins(bytes);
    std::vector<double> means;
    for (std::size_t b = 0; b <= edges.size(); ++b) means.push_back(static_cast<double>(b));
    all.push_back(edges.empty() ? bins : FeatureBins(edges, means));
  }
  return Bins(std::move(all));
}

// A tree of any values, and of any lines in its leaves.
Forest read_values(Bytes& bytes, const Tree& tree, const Bins& bins) {
  Forest forest{tree, {0, tree.size()}, {}};
  forest.lines.offsets.push_back(0);
  for (std::size_t node = 0; node < tree.size(); ++node) {
    forest.values.push_back(bytes.unit() - 0.5);
    for (std::size_t f = 0; f < bins.size() && tree.is_leaf(node); ++f) {
      if (bins[f].positions() == nullptr || bytes.content_below(3) != 0) continue;
      forest.lines.feature.push_back(static_cast<std::int32_t>(f));
      forest.lines.slope.push_back(bytes.unit() - 0.5);
      forest.lines.center.push_back(bytes.unit());
      forest.lines.mean.push_back(bytes.unit());
    }
    forest.lines.offsets.push_back(static_cast<std::int64_t>(forest.lines.feature.size()));
  }
  return forest;
}

double predict(const Forest& forest, std::size_t node, const Bins& bins, const Codes& codes,
               std::size_t row) {
  double sum = forest.values[node];
  for (std::size_t t = forest.lines.begin(node); t < forest.lines.end(node); ++t) {
    const auto f = static_cast<std::size_t>(forest.lines.feature[t]);
    const double z = bins[f].positions()[codes.feature(f)[row]];
    if (!std::isnan(z)) sum += forest.lines.slope[t] * (z - forest.lines.center[t]);
  }
  return sum;
}

void check_contributions(Bytes& bytes, const Tree& tree, const std::vector<std::int64_t>& nodes,
                         const Bins& bins, const Codes& all) {
  const std::size_t rows = std::min<std::size_t>(all.rows, 70);
  std::vector<std::uint8_t> first;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    first.insert(first.end(), all.feature(f), all.feature(f) + rows);
  }
  const Codes codes{first.data(), rows, {}};
  const Forest forest = read_values(bytes, tree, bins);
  std::vector<double> weights;
  for (const Cell& cell : tree.cell) weights.push_back(cell.weight());
  std::vector<double> added[2];
  double baselines[2] = {};
  for (const int threads : {1, 3}) {
    const std::size_t which = threads == 1 ? 0 : 1;
    added[which].assign(rows * bins.size(), 0.0);
    on_threads(threads, [&](Team& team) {
      baselines[which] =
          add_contributions(forest, weights.data(), bins, codes, added[which].data(), team);
    });
  }
  require(same(added[0], added[1]) && baselines[0] == baselines[1],
          "contributions do not depend on threads");
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = baselines[0], size = 1.0;
    for (std::size_t f = 0; f < bins.size(); ++f) {
      sum += added[0][i * bins.size() + f];
      size += std::abs(added[0][i * bins.size() + f]);
    }
    const double expected = predict(forest, static_cast<std::size_t>(nodes[i]), bins, codes, i);
    require(std::abs(sum - expected) <= 1e-10 * size, "contributions add up to the prediction");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t features = bytes.between(1, 10);
  const std::size_t rows = bytes.below(16) == 15 ? bytes.between(1, 9000) : bytes.between(1, 300);
  const Bins bins = read_bins_with_means(bytes, features);
  const std::vector<std::uint8_t> code_memory = read_codes(bytes, bins, rows);
  const Codes codes{code_memory.data(), rows, read_segments(bytes, rows)};
  const std::vector<Role> roles = read_roles(bytes, codes.segments.size() - 1);
  std::vector<double> weights;
  if (bytes.flip()) {
    const int octaves = static_cast<int>(bytes.below(500));
    for (std::size_t i = 0; i < rows; ++i) {
      const int octave = static_cast<int>(bytes.content_below(1000)) % (2 * octaves + 1) - octaves;
      weights.push_back(bytes.content_below(8) == 0 ? 0.0 : std::ldexp(1.0, octave));
    }
    weights[0] = std::max(weights[0], 1.0);
  }
  const RowSampleWeights weight(weights.empty() ? nullptr : weights.data());
  const std::string phi = bytes.pick(impurity_names());
  const TreeLimits limits{bytes.below(300), bytes.below(20),
                          bytes.flip() ? bytes.power_of_ten(-6, 3) : 0.0};
  const double parameter = bytes.share();
  std::unique_ptr<Criterion> criterion;
  try {
    criterion = make_impurity("phi", phi, parameter);
  } catch (const std::invalid_argument&) {
    return 0;
  }

  const std::vector<float> ones(rows, 1.0f);
  const double total = weight.sum(0, rows), most = weight.most(rows);
  const RowWeights of_rows{ones.data(), ones.data(), weight, {total, total, most, most}};
  Tree trees[2];
  std::vector<std::int64_t> nodes[2] = {std::vector<std::int64_t>(rows),
                                        std::vector<std::int64_t>(rows)};
  for (const int threads : {1, 3}) {
    const std::size_t which = threads == 1 ? 0 : 1;
    on_threads(threads, [&](Team& team) {
      const PackedCodes packed(codes, features, team);
      TreeGrower grower(codes, packed, bins);
      trees[which] = grower.grow(
          Slots::of_classes(roles), of_rows, *criterion, Regularizers{}, limits, 0, [] {}, team);
      find_nodes(trees[which], codes, &bins, nodes[which].data(), team);
    });
  }
  const Tree& tree = trees[0];
  require(tree.feature == trees[1].feature && tree.left == trees[1].left &&
              same(tree.saving, trees[1].saving) && nodes[0] == nodes[1],
          "trees do not depend on threads");
  require(tree.size() > 0 && all_finite(tree.saving), "savings are finite");
  for (std::size_t node = 0; node < tree.size(); ++node) {
    require(std::isfinite(tree.cell[node].weight()), "nodes' weights are finite");
    if (tree.is_leaf(node)) continue;
    const auto left = static_cast<std::size_t>(tree.left[node]);
    require(left > node && left + 1 < tree.size(), "children follow their parents");
    const double parent = tree.cell[node].weight();
    const double children = tree.cell[left].weight() + tree.cell[left + 1].weight();
    require(std::abs(parent - children) <= 1e-9 * parent, "children weigh what their parent does");
  }
  for (const std::int64_t node : nodes[0]) {
    require(node >= 0 && static_cast<std::size_t>(node) < tree.size(), "rows end at nodes");
  }
  check_contributions(bytes, tree, nodes[0], bins, codes);
  return 0;
}
