#include "properboost/ensemble/ensemble.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "classes.hpp"
#include "codes.hpp"
#include "pairs.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/table.hpp"
#include "properboost/ensemble/forest.hpp"
#include "run.hpp"
#include "trees.hpp"

namespace properboost::bindings {
namespace {

py::array_t<double> predict_tables(const py::object& object, const Bins& bins,
                                   const Array<double>& tables,
                                   const std::vector<FeaturePair>& pairs, int n_threads) {
  const Table table = borrow_table(object, bins);
  std::size_t width = bins.total_width();
  for (const FeaturePair& pair : pairs) {
    check_pair(pair, bins.size());
    width += pair.width();
  }
  if (tables.ndim() != 2 || static_cast<std::size_t>(tables.shape(1)) != width) {
    throw py::value_error("tables must have shape (n_models, sum of widths)");
  }
  const auto models = static_cast<std::size_t>(tables.shape(0));
  py::array_t<double> out({table.rows, models});
  double* to = out.mutable_data();
  const double* from = tables.data();
  const double nanoseconds = 3.0 * static_cast<double>(table.rows * (bins.size() + pairs.size()));
  run(n_threads, nanoseconds,
      [&](Team& team) { predict_raw(table, bins, pairs, from, models, to, team); });
  return out;
}

ForestScores score_forests(const Bins& bins, std::vector<std::shared_ptr<Forest>> forests) {
  for (const auto& forest : forests) {
    if (forest == nullptr) throw py::value_error("forests must not be None");
    check_features(forest->nodes, forest->lines, bins, "forests");
  }
  return {bins, {forests.begin(), forests.end()}};
}

py::array_t<double> predict_trees(const ForestScores& scores, const py::object& object,
                                  int n_threads) {
  const Table table = borrow_table(object, scores.bins());
  py::array_t<double> out({table.rows, scores.models()});
  double* to = out.mutable_data();
  run(n_threads, scores.nanoseconds(table.rows),
      [&](Team& team) { scores.predict_raw(table, to, team); });
  return out;
}

py::array_t<double> predict_codes(const ForestScores& scores, const Array<std::uint8_t>& codes,
                                  int n_threads) {
  const Bins& bins = scores.bins();
  if (codes.ndim() != 2 || static_cast<std::size_t>(codes.shape(0)) != bins.size()) {
    throw py::value_error("codes must have shape (n_features, n_rows)");
  }
  const Codes from{codes.data(), static_cast<std::size_t>(codes.shape(1)), {}};
  py::array_t<double> out({from.rows, scores.models()});
  double* to = out.mutable_data();
  run(n_threads, scores.nanoseconds(from.rows), [&](Team& team) {
    check_codes(from, bins, team);
    scores.predict_raw(from.data, from.rows, to, team);
  });
  return out;
}

// How far margins moved in each round.
void set_moves(Rounds& rounds, const Array<double>& proposed, const Array<double>& taken) {
  const std::size_t n = rounds.feature.size();
  for (const auto& [from, to, name] :
       {std::tuple{&proposed, &rounds.proposed, "proposed"}, {&taken, &rounds.taken, "taken"}}) {
    const double* const moves = borrow<double>(*from, n, name);
    to->assign(moves, moves + n);
    for (const double t : *to) {
      if (!std::isfinite(t)) throw py::value_error(std::string(name) + " must be finite");
    }
  }
}

Rounds rounds_of_tables(const Array<std::int32_t>& feature, const Array<std::int64_t>& offsets,
                        const Array<double>& values, const Array<double>& proposed,
                        const Array<double>& taken) {
  Rounds rounds;
  const auto n = static_cast<std::size_t>(feature.size());
  const std::int64_t* const offset = borrow<std::int64_t>(offsets, n + 1, "offsets");
  rounds.feature.assign(feature.data(), feature.data() + n);
  rounds.offsets.assign(offset, offset + n + 1);
  rounds.values.assign(values.data(), values.data() + values.size());
  for (std::size_t t = 0; t < n; ++t) {
    if (rounds.feature[t] < 0) throw py::value_error("feature must hold positions");
    if (offset[t + 1] < offset[t]) throw py::value_error("offsets must ascend");
  }
  if (offset[0] != 0 || offset[n] != values.size()) {
    throw py::value_error("offsets must go from 0 to the number of values");
  }
  set_moves(rounds, proposed, taken);
  return rounds;
}

Rounds rounds_of_trees(const Forest& forest, const Array<double>& proposed,
                       const Array<double>& taken) {
  Rounds rounds;
  rounds.feature.assign(forest.roots.size() - 1, Rounds::kTree);
  rounds.offsets.assign(forest.roots.begin(), forest.roots.end());
  rounds.values = forest.values;
  rounds.trees = forest.nodes;
  rounds.trees.cell.resize(rounds.values.size());
  rounds.trees.saving.resize(rounds.values.size());
  rounds.lines = forest.lines;
  set_moves(rounds, proposed, taken);
  return rounds;
}

}  // namespace
}  // namespace properboost::bindings

void bind_ensemble(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using properboost::ForestScores;
  using properboost::NodeLines;
  using properboost::Rounds;
  using properboost::bindings::to_array;
  properboost::bindings::make_class<NodeLines>(m, "NodeLines", "The lines of trees' nodes.")
      .def_property_readonly("offsets", [](const NodeLines& l) { return to_array(l.offsets); })
      .def_property_readonly("feature", [](const NodeLines& l) { return to_array(l.feature); })
      .def_property_readonly("slope", [](const NodeLines& l) { return to_array(l.slope); })
      .def_property_readonly("center", [](const NodeLines& l) { return to_array(l.center); })
      .def_property_readonly("mean", [](const NodeLines& l) { return to_array(l.mean); });
  properboost::bindings::make_class<Rounds, std::shared_ptr<Rounds>>(m, "Rounds")
      .def_static("of_tables", &properboost::bindings::rounds_of_tables, "feature"_a, "offsets"_a,
                  "values"_a, "proposed"_a, "taken"_a)
      .def_static("of_trees", &properboost::bindings::rounds_of_trees, "forest"_a, "proposed"_a,
                  "taken"_a)
      .def_property_readonly("proposed", [](const Rounds& r) { return to_array(r.proposed); })
      .def_property_readonly("taken", [](const Rounds& r) { return to_array(r.taken); })
      .def_property_readonly("feature", [](const Rounds& r) { return to_array(r.feature); })
      .def_property_readonly("cost", [](const Rounds& r) { return to_array(r.cost); })
      .def_property_readonly("step", [](const Rounds& r) { return to_array(r.step); })
      .def_property_readonly("risk", [](const Rounds& r) { return to_array(r.risk); })
      .def_property_readonly("offsets", [](const Rounds& r) { return to_array(r.offsets); })
      .def_property_readonly("values", [](const Rounds& r) { return to_array(r.values); })
      .def_property_readonly("trees",
                             [](const Rounds& r) -> std::optional<properboost::Tree> {
                               if (r.trees.size() == 0) return std::nullopt;
                               return r.trees;
                             })
      .def_property_readonly("lines", [](const Rounds& r) -> std::optional<properboost::NodeLines> {
        if (r.lines.empty()) return std::nullopt;
        return r.lines;
      });
  m.def("predict_raw", &properboost::bindings::predict_tables, "table"_a, "bins"_a, "tables"_a,
        "pairs"_a = std::vector<properboost::FeaturePair>(), "n_threads"_a = 1);
  properboost::bindings::make_class<ForestScores>(m, "ForestScores",
                                                  "Raw predictions of trees, one forest a model.")
      .def(py::init(&properboost::bindings::score_forests), "bins"_a, "forests"_a,
           py::keep_alive<1, 2>())
      .def("predict_raw", &properboost::bindings::predict_trees, "table"_a, "n_threads"_a = 1)
      .def("predict_codes", &properboost::bindings::predict_codes, "codes"_a, "n_threads"_a = 1);
}
