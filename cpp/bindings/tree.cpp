#include "properboost/core/parallel.hpp"
#include "properboost/ensemble/contributions.hpp"
#include "properboost/ensemble/forest.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "classes.hpp"
#include "codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/slots.hpp"
#include "reporter.hpp"
#include "trees.hpp"

namespace properboost::bindings {
namespace {

void check_weights(RowSampleWeights weight, std::size_t n) {
  constexpr double kLeast = 1e-280;
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(weight[i] >= 0.0)) throw std::invalid_argument("weight must be at least 0");
    total += weight[i];
  }
  if (!(total >= kLeast && std::isfinite(total))) {
    throw std::invalid_argument("weight must have a finite sum of at least 1e-280");
  }
}

Tree grow(const Array<std::uint8_t>& codes, const Bins& bins, const Array<std::int64_t>& segments,
          const Array<std::int8_t>& roles, const std::string& phi, double parameter,
          const std::optional<Array<double>>& weight, std::size_t max_leaves, std::size_t max_depth,
          double min_child_weight, int n_threads) {
  const Codes rows = borrow_codes(codes, segments, bins);
  const auto n_segments = rows.segments.size() - 1;
  const std::vector<Role> of_segments =
      to_roles(borrow<std::int8_t>(roles, n_segments, "roles"), n_segments);
  const std::unique_ptr<Criterion> criterion = make_impurity("phi", phi, parameter);
  const RowSampleWeights sample_weight(borrow(weight, rows.rows, "weight"));
  const TreeLimits limits{max_leaves, max_depth, min_child_weight};
  Reporter reporter;
  Tree tree;
  run(n_threads, static_cast<double>(rows.rows * bins.size()), [&](Team& team) {
    check_codes(rows, bins, team);
    check_weights(sample_weight, rows.rows);
    const PackedCodes packed(rows, bins.size(), team);
    TreeGrower grower(rows, packed, bins);
    const std::vector<float> ones(rows.rows, 1.0f);
    const double total = sample_weight.sum(0, rows.rows), most = sample_weight.most(rows.rows);
    const RowWeights weights{ones.data(), ones.data(), sample_weight, {total, total, most, most}};
    tree = grower.grow(
        Slots::of_classes(of_segments), weights, *criterion, Regularizers{}, limits, 0,
        [&] { reporter(0, 0.0); }, team);
  });
  return tree;
}

py::array_t<std::uint64_t> to_words(const std::vector<CodeSet>& sets) {
  constexpr std::size_t kWords = kMaxCodes / 64;
  py::array_t<std::uint64_t> out({sets.size(), kWords});
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::copy(sets[i].bits.begin(), sets[i].bits.end(),
              out.mutable_data(static_cast<py::ssize_t>(i), 0));
  }
  return out;
}

std::vector<CodeSet> to_sets(const Array<std::uint64_t>& array, std::size_t n) {
  constexpr std::size_t kWords = kMaxCodes / 64;
  if (array.ndim() != 2 || static_cast<std::size_t>(array.shape(0)) != n ||
      static_cast<std::size_t>(array.shape(1)) != kWords) {
    throw py::value_error("goes_left and goes_right must have shape (n_nodes, 4)");
  }
  std::vector<CodeSet> sets(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(array.data(static_cast<py::ssize_t>(i), 0), kWords, sets[i].bits.begin());
  }
  return sets;
}

// A tree's children are counted from its root, and come after their parent: every walk ends.
void check_nodes(const Tree& nodes, std::size_t root, std::size_t end) {
  for (std::size_t i = root; i < end; ++i) {
    if (nodes.is_leaf(i)) continue;
    const std::int64_t child = nodes.left[i];
    if (nodes.feature[i] < 0 || child <= static_cast<std::int64_t>(i - root) ||
        child >= static_cast<std::int64_t>(end - root) - 1) {
      throw py::value_error("a tree's features must be positions, and children follow parents");
    }
  }
}

Tree make_tree(const Array<std::int32_t>& feature, const Array<std::int64_t>& left,
               const Array<std::uint64_t>& goes_left, const Array<std::uint64_t>& goes_right) {
  Tree tree;
  const auto n = static_cast<std::size_t>(feature.size());
  const std::int64_t* const child = borrow<std::int64_t>(left, n, "left");
  if (n == 0) throw py::value_error("a tree must have at least one node");
  tree.feature.assign(feature.data(), feature.data() + n);
  tree.left.assign(child, child + n);
  tree.cell.resize(n);
  tree.saving.resize(n);
  tree.goes_left = to_sets(goes_left, n);
  tree.goes_right = to_sets(goes_right, n);
  check_nodes(tree, 0, n);
  return tree;
}

// Offsets by node, and each term's feature, slope, center and mean.
using LineArrays = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<double>,
                              Array<double>, Array<double>>;

NodeLines make_lines(const LineArrays& arrays, std::size_t nodes) {
  const auto& [offsets, feature, slope, center, mean] = arrays;
  const auto terms = static_cast<std::size_t>(feature.size());
  const std::int64_t* const offset = borrow<std::int64_t>(offsets, nodes + 1, "offsets of lines");
  const double* const slopes = borrow<double>(slope, terms, "slopes");
  const double* const centers = borrow<double>(center, terms, "centers");
  const double* const means = borrow<double>(mean, terms, "means");
  for (std::size_t k = 0; k <= nodes; ++k) {
    if (k == 0 ? offset[0] != 0 : offset[k] < offset[k - 1]) {
      throw py::value_error("offsets of lines must ascend from 0");
    }
  }
  if (static_cast<std::size_t>(offset[nodes]) != terms) {
    throw py::value_error("offsets of lines must end at the number of terms");
  }
  for (std::size_t t = 0; t < terms; ++t) {
    if (feature.data()[t] < 0) throw py::value_error("features of lines must be positions");
  }
  NodeLines lines;
  lines.offsets.assign(offset, offset + nodes + 1);
  lines.feature.assign(feature.data(), feature.data() + terms);
  lines.slope.assign(slopes, slopes + terms);
  lines.center.assign(centers, centers + terms);
  lines.mean.assign(means, means + terms);
  return lines;
}

Forest make_forest(const Array<std::int32_t>& feature, const Array<std::int64_t>& left,
                   const Array<std::uint64_t>& goes_left, const Array<std::uint64_t>& goes_right,
                   const Array<std::int64_t>& offsets, const Array<double>& values,
                   const std::optional<LineArrays>& lines) {
  Forest forest;
  const auto n = static_cast<std::size_t>(feature.size());
  const std::int64_t* const child = borrow<std::int64_t>(left, n, "left");
  const double* const value = borrow<double>(values, n, "values");
  forest.nodes.feature.assign(feature.data(), feature.data() + n);
  forest.nodes.left.assign(child, child + n);
  forest.nodes.goes_left = to_sets(goes_left, n);
  forest.nodes.goes_right = to_sets(goes_right, n);
  forest.values.assign(value, value + n);
  for (py::ssize_t t = 0; t < offsets.size(); ++t) {
    const std::int64_t root = offsets.at(t);
    if (t == 0 ? root != 0 : root <= static_cast<std::int64_t>(forest.roots.back())) {
      throw py::value_error("offsets must ascend from 0");
    }
    forest.roots.push_back(static_cast<std::size_t>(root));
  }
  if (forest.roots.empty() || forest.roots.back() != n) {
    throw py::value_error("offsets must end at the number of nodes");
  }
  for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
    check_nodes(forest.nodes, forest.roots[t], forest.roots[t + 1]);
  }
  if (lines) forest.lines = make_lines(*lines, n);
  return forest;
}

py::array_t<std::int64_t> find(const Tree& tree, const Array<std::uint8_t>& codes, int n_threads) {
  if (codes.ndim() != 2) throw py::value_error("codes must have shape (n_features, n_rows)");
  for (const std::int32_t f : tree.feature) {
    if (f >= codes.shape(0)) throw py::value_error("the tree has more features than the codes");
  }
  const auto n = static_cast<std::size_t>(codes.shape(1));
  py::array_t<std::int64_t> nodes(static_cast<py::ssize_t>(n));
  std::int64_t* const to = nodes.mutable_data();
  const Codes from{codes.data(), n, {}};
  run(n_threads, 20.0 * static_cast<double>(n),
      [&](Team& team) { find_nodes(tree, from, nullptr, to, team); });
  return nodes;
}

// Trees are as small as learners grow them, and every node but the root has one parent: so walks
// are short.
void check_parents(const Forest& forest) {
  for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
    const std::size_t root = forest.roots[t], end = forest.roots[t + 1];
    if (end - root > TreeGrower::kMostNodes) {
      throw py::value_error("trees must have at most 255 nodes");
    }
    std::vector<std::size_t> parents(end - root, 0);
    for (std::size_t k = root; k < end; ++k) {
      if (forest.nodes.is_leaf(k)) continue;
      const auto left = static_cast<std::size_t>(forest.nodes.left[k]);
      ++parents[left];
      ++parents[left + 1];
    }
    if (std::any_of(parents.begin() + 1, parents.end(), [](std::size_t n) { return n != 1; })) {
      throw py::value_error("every node of a tree but the root must have one parent");
    }
  }
}

std::tuple<py::array_t<double>, double> contributions(const Forest& forest,
                                                      const Array<std::uint8_t>& codes,
                                                      const Bins& bins, const Array<double>& weight,
                                                      int n_threads) {
  if (codes.ndim() != 2 || static_cast<std::size_t>(codes.shape(0)) != bins.size()) {
    throw py::value_error("codes must have shape (n_features, n_rows)");
  }
  check_features(forest.nodes, forest.lines, bins, "forests");
  check_parents(forest);
  const double* const weights = borrow<double>(weight, forest.values.size(), "weight");
  for (std::size_t k = 0; k < forest.values.size(); ++k) {
    if (!(weights[k] >= 0.0)) throw py::value_error("weight must be at least 0");
  }
  const auto rows = static_cast<std::size_t>(codes.shape(1));
  py::array_t<double> out({rows, bins.size()});
  double* const to = out.mutable_data();
  std::fill_n(to, rows * bins.size(), 0.0);
  const Codes from{codes.data(), rows, {}};
  double baseline = 0.0;
  run(n_threads, 50.0 * static_cast<double>(rows * forest.values.size()),
      [&](Team& team) { baseline = add_contributions(forest, weights, bins, from, to, team); });
  return {std::move(out), baseline};
}

py::array_t<double> weights(const Tree& tree) {
  py::array_t<double> out({tree.size(), std::size_t{2}});
  double* to = out.mutable_data();
  for (const Cell& cell : tree.cell) {
    *to++ = cell.negative;
    *to++ = cell.positive;
  }
  return out;
}

}  // namespace
}  // namespace properboost::bindings

void bind_tree(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  m.def("impurity_names", &impurity_names);
  properboost::bindings::make_class<Tree>(m, "Tree")
      .def(py::init(&bindings::make_tree), "feature"_a, "left"_a, "goes_left"_a, "goes_right"_a)
      .def_property_readonly("feature", [](const Tree& t) { return bindings::to_array(t.feature); })
      .def_property_readonly("left", [](const Tree& t) { return bindings::to_array(t.left); })
      .def_property_readonly("goes_left",
                             [](const Tree& t) { return bindings::to_words(t.goes_left); })
      .def_property_readonly("goes_right",
                             [](const Tree& t) { return bindings::to_words(t.goes_right); })
      .def_property_readonly("weight", &bindings::weights)
      .def_property_readonly("saving", [](const Tree& t) { return bindings::to_array(t.saving); })
      .def("find_nodes", &bindings::find, "codes"_a, "n_threads"_a = 1);
  properboost::bindings::make_class<Forest, std::shared_ptr<Forest>>(m, "Forest",
                                                                     "Trees that add up.")
      .def(py::init(&bindings::make_forest), "feature"_a, "left"_a, "goes_left"_a, "goes_right"_a,
           "offsets"_a, "values"_a, "lines"_a = py::none())
      .def("contributions", &bindings::contributions, "codes"_a, "bins"_a, "weight"_a,
           "n_threads"_a = 1);
  m.def("grow_tree", &bindings::grow, "codes"_a, "bins"_a, "segments"_a, "roles"_a, py::kw_only(),
        "phi"_a, "parameter"_a = 0.0, "weight"_a = py::none(), "max_leaves"_a, "max_depth"_a,
        "min_child_weight"_a = 0.0, "n_threads"_a = 1);
}
