#include "properboost/terms/terms.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "classes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/terms/purify.hpp"
#include "run.hpp"
#include "trees.hpp"

namespace properboost::bindings {
namespace {

using Forests = std::vector<std::shared_ptr<const Forest>>;

// The terms of forests over bins, which are borrowed.
struct BoundTerms {
  const Bins& bins;
  Forests forests;
  Terms terms;
};

std::vector<const Forest*> point_to(const Forests& forests) {
  std::vector<const Forest*> pointers;
  for (const auto& forest : forests) pointers.push_back(forest.get());
  return pointers;
}

std::optional<BoundTerms> find(const Bins& bins, const std::vector<std::shared_ptr<Forest>>& all) {
  double nodes = 0.0;
  for (const auto& forest : all) {
    if (forest == nullptr) throw py::value_error("forests must not be None");
    check_features(forest->nodes, forest->lines, bins, "forests");
    nodes += static_cast<double>(forest->nodes.size());
  }
  const Forests forests(all.begin(), all.end());
  std::optional<Terms> terms;
  run(1, 100.0 * nodes, [&](Team&) { terms = find_terms(point_to(forests), bins); });
  if (!terms) return std::nullopt;
  return BoundTerms{bins, forests, std::move(*terms)};
}

py::list list_features(const BoundTerms& bound) {
  py::list features;
  for (const FeatureSet& set : bound.terms.sets) {
    py::tuple of_set(set.size);
    for (std::size_t axis = 0; axis < set.size; ++axis) of_set[axis] = set.features[axis];
    features.append(of_set);
  }
  return features;
}

py::list list_levels(const BoundTerms& bound) {
  std::vector<TermLevels> levels;
  run(1, 0.0,
      [&](Team&) { levels = find_levels(point_to(bound.forests), bound.bins, bound.terms); });
  py::list of_terms;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const FeatureSet& set = bound.terms.sets[k];
    py::tuple of_term(set.size);
    for (std::size_t axis = 0; axis < set.size; ++axis) {
      const auto& of_code = levels[k][axis].of_code;
      const auto width = bound.bins[set.features[axis]].width();
      py::array_t<std::uint8_t> array(width);
      std::copy_n(of_code.begin(), width, array.mutable_data());
      of_term[axis] = array;
    }
    of_terms.append(of_term);
  }
  return of_terms;
}

TermGrid make_grid(const std::vector<std::uint32_t>& features,
                   const std::vector<Array<std::uint8_t>>& levels) {
  if (features.empty() || features.size() > kMostTermFeatures || features.size() != levels.size() ||
      !std::is_sorted(features.begin(), features.end()) ||
      std::adjacent_find(features.begin(), features.end()) != features.end()) {
    throw py::value_error("features must be one to three positions in order, with levels each");
  }
  TermGrid grid;
  grid.set.size = features.size();
  for (std::size_t axis = 0; axis < features.size(); ++axis) {
    const Array<std::uint8_t>& of_code = levels[axis];
    if (of_code.ndim() != 1 || of_code.size() < 1 || of_code.size() > kMaxCodes) {
      throw py::value_error("levels must have an entry for each code");
    }
    grid.set.features[axis] = features[axis];
    std::copy_n(of_code.data(), of_code.size(), grid.levels[axis].of_code.begin());
    grid.levels[axis].count =
        1u + *std::max_element(of_code.data(), of_code.data() + of_code.size());
  }
  return grid;
}

py::tuple shape_of_grid(const TermGrid& grid) {
  py::tuple shape(grid.set.size);
  for (std::size_t axis = 0; axis < grid.set.size; ++axis) shape[axis] = grid.levels[axis].count;
  return shape;
}

// The codes of all features, of which grids read some.
std::size_t check_grid_codes(const Array<std::uint8_t>& codes, const std::vector<TermGrid>& grids) {
  if (codes.ndim() != 2) throw py::value_error("codes must have shape (n_features, n_rows)");
  for (const TermGrid& grid : grids) {
    if (grid.set.features[grid.set.size - 1] >= codes.shape(0)) {
      throw py::value_error("grids must be over features that have codes");
    }
  }
  return static_cast<std::size_t>(codes.shape(1));
}

py::array_t<std::int32_t> cells_of(const TermGrid& grid, const Array<std::uint8_t>& codes,
                                   int n_threads) {
  const std::size_t n = check_grid_codes(codes, {grid});
  py::array_t<std::int32_t> cells(static_cast<py::ssize_t>(n));
  std::int32_t* const to = cells.mutable_data();
  const std::uint8_t* const from = codes.data();
  run(n_threads, 2.0 * static_cast<double>(n),
      [&](Team& team) { find_cells(grid, from, n, to, team); });
  return cells;
}

py::list count(const std::vector<TermGrid>& grids, const Array<std::uint8_t>& codes,
               int n_threads) {
  const std::size_t n = check_grid_codes(codes, grids);
  const std::uint8_t* const from = codes.data();
  py::list out;
  std::vector<double*> counts;
  for (const TermGrid& grid : grids) {
    py::array_t<double> of_grid(static_cast<py::ssize_t>(grid.cells()));
    counts.push_back(of_grid.mutable_data());
    out.append(std::move(of_grid));
  }
  run(n_threads, 2.0 * static_cast<double>(n) * static_cast<double>(grids.size()),
      [&](Team& team) { count_cells(grids, from, n, counts, team); });
  return out;
}

const Forest& forest_of(const BoundTerms& bound, std::size_t model) {
  if (model >= bound.forests.size()) throw py::index_error("there is no such model");
  return *bound.forests[model];
}

py::list add_cells(const BoundTerms& bound, std::size_t model, const std::vector<TermGrid>& grids,
                   const Array<double>& shares, const std::optional<Array<std::uint8_t>>& used,
                   int n_threads) {
  const Forest& forest = forest_of(bound, model);
  if (shares.ndim() != 2 || static_cast<std::size_t>(shares.shape(0)) != bound.bins.size() ||
      shares.shape(1) != kMaxCodes) {
    throw py::value_error("shares must have shape (n_features, 256)");
  }
  bool are_same = grids.size() == bound.terms.sets.size();
  for (std::size_t k = 0; are_same && k < grids.size(); ++k) {
    are_same = grids[k].set == bound.terms.sets[k];
  }
  if (!are_same) throw py::value_error("grids must be those of the terms, in order");
  const std::uint8_t* const trees = borrow(used, forest.roots.size() - 1, "used");
  const double* const weight = shares.data();
  std::vector<std::vector<double>> sums;
  run(n_threads, 1000.0 * static_cast<double>(forest.nodes.size()), [&](Team& team) {
    sums = add_up_cells(forest, bound.bins, bound.terms.term_of_node[model], grids, weight, trees,
                        team);
  });
  py::list out;
  for (const auto& of_term : sums) out.append(to_array(of_term));
  return out;
}

py::array_t<double> add_rows(const BoundTerms& bound, std::size_t model,
                             const Array<std::uint8_t>& codes,
                             const std::optional<Array<std::uint8_t>>& used, int n_threads) {
  const Forest& forest = forest_of(bound, model);
  if (codes.ndim() != 2 || static_cast<std::size_t>(codes.shape(0)) != bound.bins.size()) {
    throw py::value_error("codes must have shape (n_features, n_rows)");
  }
  const auto n = static_cast<std::size_t>(codes.shape(1));
  const std::size_t terms = bound.terms.sets.size();
  const std::uint8_t* const trees = borrow(used, forest.roots.size() - 1, "used");
  py::array_t<double> out({terms, n});
  double* const to = out.mutable_data();
  const std::uint8_t* const from = codes.data();
  run(n_threads, 20.0 * static_cast<double>(n * forest.roots.size()), [&](Team& team) {
    add_up_rows(forest, bound.bins, bound.terms.term_of_node[model], terms, from, n, trees, to,
                team);
  });
  return out;
}

// A table in the order of its array, with an axis of one level before those of a pair.
TableShape shape_of(const Array<double>& values, const Array<double>& weights) {
  const bool fits = (values.ndim() == 2 || values.ndim() == 3) && values.ndim() == weights.ndim() &&
                    std::equal(values.shape(), values.shape() + values.ndim(), weights.shape());
  if (!fits || values.size() == 0) {
    throw py::value_error("values and weights must be tables of one shape, of two or three axes");
  }
  TableShape shape;
  shape.is_pair = values.ndim() == 2;
  const std::size_t skipped = 3 - static_cast<std::size_t>(values.ndim());
  for (std::size_t axis = skipped; axis < 3; ++axis) {
    shape.extents[axis] =
        static_cast<std::size_t>(values.shape(static_cast<py::ssize_t>(axis - skipped)));
  }
  return shape;
}

py::list purify_all(const std::vector<Array<double>>& values,
                    const std::vector<Array<double>>& weights, int n_threads) {
  if (values.size() != weights.size()) {
    throw py::value_error("weights must have as many tables as values");
  }
  struct Table {
    TableShape shape;
    const double* weights;
    double* values;
  };
  std::vector<Table> tables;
  std::vector<py::array_t<double>> purified;
  double cells = 0.0;
  int exponent = kNoExponent;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const TableShape shape = shape_of(values[k], weights[k]);
    purified.emplace_back(
        std::vector<py::ssize_t>(values[k].shape(), values[k].shape() + values[k].ndim()));
    std::copy_n(values[k].data(), values[k].size(), purified[k].mutable_data());
    tables.push_back({shape, weights[k].data(), purified[k].mutable_data()});
    cells += static_cast<double>(values[k].size());
    const int of_table = find_exponent(values[k].data(), weights[k].data(),
                                       static_cast<std::size_t>(values[k].size()));
    exponent = std::max(exponent, of_table);
  }
  std::vector<std::array<std::vector<double>, 3>> parts(tables.size());
  run(n_threads, 200.0 * cells, [&](Team& team) {
    team.for_each(tables.size(), 200.0 * cells, [&](std::size_t k) {
      parts[k] = purify(tables[k].shape, tables[k].weights, exponent, tables[k].values);
    });
  });
  py::list out;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    py::list of_table;
    const std::size_t first = values[k].ndim() == 2 ? 1 : 0;
    for (std::size_t axis = first; axis < 3; ++axis) of_table.append(to_array(parts[k][axis]));
    out.append(py::make_tuple(purified[k], of_table));
  }
  return out;
}

}  // namespace
}  // namespace properboost::bindings

void bind_terms(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  properboost::bindings::make_class<TermGrid>(m, "TermGrid", "The cells of a term's table.")
      .def(py::init(&bindings::make_grid), "features"_a, "levels"_a)
      .def_property_readonly("shape", &bindings::shape_of_grid)
      .def("find_cells", &bindings::cells_of, "codes"_a, "n_threads"_a = 1);
  properboost::bindings::make_class<bindings::BoundTerms>(m, "Terms", "The terms of forests.")
      .def_property_readonly("features", &bindings::list_features)
      .def("find_levels", &bindings::list_levels)
      .def("add_up_cells", &bindings::add_cells, "model"_a, "grids"_a, "shares"_a,
           "used"_a = py::none(), "n_threads"_a = 1)
      .def("add_up_rows", &bindings::add_rows, "model"_a, "codes"_a, "used"_a = py::none(),
           "n_threads"_a = 1);
  m.def("find_terms", &bindings::find, "bins"_a, "forests"_a, py::keep_alive<0, 1>());
  m.def("count_cells", &bindings::count, "grids"_a, "codes"_a, "n_threads"_a = 1);
  m.def("purify", &bindings::purify_all, "values"_a, "weights"_a, "n_threads"_a = 1);
}
