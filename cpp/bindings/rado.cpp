#include <pybind11/stl.h>

#include <algorithm>
#include <tuple>

#include "arrays.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/table.hpp"
#include "properboost/rado/boost.hpp"
#include "properboost/rado/rados.hpp"
#include "properboost/rado/regularizers/regularizer.hpp"
#include "properboost/rado/regularizers/ridge.hpp"
#include "properboost/rado/regularizers/slope.hpp"
#include "reporter.hpp"

namespace properboost::bindings {
namespace {

using Levels = std::vector<std::pair<std::int64_t, std::int64_t>>;  // column (-1: none), level

std::tuple<py::array_t<double>, std::size_t> make(const py::object& object, const Levels& levels,
                                                  const Array<std::uint8_t>& positive,
                                                  std::uint64_t first_row, std::uint64_t seed,
                                                  std::size_t n_rados, int n_threads) {
  const Table table = borrow_table(object);
  std::vector<RadoFeature> features;
  for (const auto& [column, level] : levels) {
    if (column >= static_cast<std::int64_t>(table.columns.size())) {
      throw py::value_error("levels must name existing columns");
    }
    if (column < 0) {
      features.emplace_back(ConstantFeature{});
      continue;
    }
    const Column* const source = &table.columns[static_cast<std::size_t>(column)];
    features.push_back(level < 0 ? RadoFeature(NumberFeature{source})
                                 : RadoFeature(LevelFeature{source, level}));
  }
  const RadoRows rows{table.rows, borrow<std::uint8_t>(positive, table.rows, "positive"),
                      first_row};
  py::array_t<double> rados({n_rados, features.size()});
  double* const out = rados.mutable_data();
  std::size_t finite = 0;
  Reporter reporter;
  const double cells = static_cast<double>(features.size() * n_rados);
  run(n_threads, 0.01 * static_cast<double>(rows.size) * cells, [&](Team& team) {
    finite = make_rados(features, rows, seed, n_rados, out, [&] { reporter(0, 0.0); }, team);
  });
  return {rados, finite};
}

// A regulariser's name, its factor and its parameter: ridge takes a matrix, or none for the
// identity; slope takes one coefficient per feature.
using Term = std::tuple<std::string, double, std::optional<Array<double>>>;

Penalty make_penalty(const std::vector<Term>& terms, std::size_t features) {
  Penalty penalty;
  for (const auto& [name, factor, parameter] : terms) {
    if (!(factor >= 0.0)) throw py::value_error("a regularizer's factor must be at least 0");
    const std::size_t entries = name == regularizers::Ridge::name ? features * features : features;
    if (parameter && static_cast<std::size_t>(parameter->size()) != entries) {
      throw py::value_error(name + "'s parameter must have " + std::to_string(entries) +
                            " entries");
    }
    if (name == regularizers::Slope::name && !parameter) {
      throw py::value_error("slope needs its coefficients");
    }
    const double* const entry = parameter ? parameter->data() : nullptr;
    penalty.emplace_back(factor, make_regularizer(name, features, entry));
  }
  return penalty;
}

template <class T>
py::array_t<T> column(const std::vector<RadoRound>& rounds, T RadoRound::* member) {
  py::array_t<T> values(static_cast<py::ssize_t>(rounds.size()));
  std::transform(rounds.begin(), rounds.end(), values.mutable_data(),
                 [=](const RadoRound& round) { return round.*member; });
  return values;
}

py::dict boost(const Array<double>& rados, const std::vector<Term>& terms, std::size_t rounds,
               double gamma, const py::object& progress, int n_threads) {
  if (rados.ndim() != 2) throw py::value_error("rados must have shape (n_rados, n_features)");
  const auto n = static_cast<std::size_t>(rados.shape(0));
  const auto features = static_cast<std::size_t>(rados.shape(1));
  if (n == 0) throw py::value_error("rados must not be empty");
  Penalty penalty = make_penalty(terms, features);
  const RadoBoosting boosting{rados.data(), n, features, rounds, gamma, penalty};
  std::vector<RadoRound> rado_rounds;
  Reporter reporter(progress);
  run(n_threads, 0.05 * static_cast<double>(n * features), [&](Team& team) {
    rado_rounds = boost_rados(
        boosting, [&](std::size_t done, double log_loss) { reporter(done, log_loss); }, team);
  });
  using namespace py::literals;
  return py::dict("feature"_a = column(rado_rounds, &RadoRound::feature),
                  "edge"_a = column(rado_rounds, &RadoRound::edge),
                  "step"_a = column(rado_rounds, &RadoRound::step),
                  "penalty"_a = column(rado_rounds, &RadoRound::penalty),
                  "log_rado_loss"_a = column(rado_rounds, &RadoRound::log_loss));
}

}  // namespace
}  // namespace properboost::bindings

void bind_rado(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  m.def("make_rados", &bindings::make, "table"_a, "features"_a, "positive"_a, "first_row"_a,
        "seed"_a, "n_rados"_a, "n_threads"_a = 1);
  m.def("boost_rados", &bindings::boost, "rados"_a, "regularizers"_a, "n_estimators"_a,
        "gamma"_a = 1.0, "progress"_a = py::none(), "n_threads"_a = 1);
  m.def("regularizer_names", &regularizer_names);
}
