#include "sparse.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "codes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/spans.hpp"
#include "run.hpp"

namespace properboost::bindings {
namespace {

// Checks the bounds of the entries of columns, and returns the number of columns.
std::size_t count_columns(const Array<std::int64_t>& starts, py::ssize_t entries) {
  const py::ssize_t n = starts.size();
  bool ascend = starts.ndim() == 1 && n > 1 && starts.at(0) == 0 && starts.at(n - 1) == entries;
  for (py::ssize_t f = 0; ascend && f + 1 < n; ++f) ascend = starts.at(f) <= starts.at(f + 1);
  if (!ascend) throw py::value_error("starts must ascend from 0 to the number of entries");
  return static_cast<std::size_t>(n - 1);
}

PySparseTable make_table(std::size_t rows, Array<std::int64_t> starts,
                         Array<std::int32_t> entry_rows, py::array values) {
  if (values.ndim() != 1 || entry_rows.ndim() != 1 || values.size() != entry_rows.size()) {
    throw py::value_error("rows and values must have an entry each per entry");
  }
  const std::size_t columns = count_columns(starts, entry_rows.size());
  if (!(values.flags() & py::array::c_style)) throw py::value_error("values must be contiguous");
  SparseTable borrowed{rows, columns, starts.data(), entry_rows.data(),
                       borrow_table(py::make_tuple(values)).columns.front()};
  for (std::size_t f = 0; f < columns; ++f) {
    std::int64_t last = -1;
    for (std::int64_t k = borrowed.starts[f]; k < borrowed.starts[f + 1]; ++k) {
      const std::int64_t row = borrowed.entry_rows[k];
      if (row <= last || row >= static_cast<std::int64_t>(rows)) {
        throw py::value_error("rows must ascend in each column, below the number of rows");
      }
      last = row;
    }
  }
  return {rows, std::move(starts), std::move(entry_rows), std::move(values), borrowed};
}

py::tuple find_edges_and_spans(const PySparseTable& table,
                               const std::optional<Array<double>>& weight, int max_bins,
                               const Array<std::int64_t>& order, int n_threads) {
  const RowSampleWeights w(borrow(weight, table.rows, "weight"));
  const std::vector<std::int64_t> rows(order.data(), order.data() + order.size());
  for (const std::int64_t row : rows) {
    if (row < 0 || static_cast<std::size_t>(row) >= table.rows) {
      throw py::value_error("order must hold row numbers of the table");
    }
  }
  std::vector<std::vector<double>> edges;
  std::vector<Span> spans;
  run(n_threads, 20.0 * static_cast<double>(table.borrowed.entries()), [&](Team& team) {
    edges = find_edges(table.borrowed, rows, w, max_bins, team);
    spans = find_spans(table.borrowed, w, team);
  });
  py::list of_columns;
  for (const auto& column : edges) of_columns.append(to_array(column));
  std::vector<double> ends;
  for (const Span& span : spans) ends.insert(ends.end(), {span.low, span.high});
  return py::make_tuple(of_columns, to_array(ends).reshape({spans.size(), std::size_t{2}}));
}

// The codes of entries, and of 0 in each column.
py::tuple encode(const PySparseTable& table, const Bins& bins, int n_threads) {
  if (bins.size() != table.borrowed.columns) {
    throw py::value_error("bins must have a feature per column of the table");
  }
  py::array_t<std::uint8_t> codes(static_cast<py::ssize_t>(table.borrowed.entries()));
  py::array_t<std::uint8_t> of_zero(static_cast<py::ssize_t>(bins.size()));
  std::uint8_t* const out = codes.mutable_data();
  std::uint8_t* const zero_out = of_zero.mutable_data();
  run(n_threads, 3.0 * static_cast<double>(table.borrowed.entries()),
      [&](Team& team) { bins.encode(table.borrowed, out, zero_out, team); });
  return py::make_tuple(codes, of_zero);
}

PySparseCodes make_codes(Array<std::uint8_t> dense, Array<std::int64_t> place,
                         Array<std::int64_t> starts, Array<std::int32_t> rows,
                         Array<std::uint8_t> codes, Array<std::uint8_t> common) {
  if (dense.ndim() != 2) throw py::value_error("dense must have shape (n_dense, n_rows)");
  if (rows.size() != codes.size()) throw py::value_error("rows and codes must be of entries");
  const auto features = static_cast<py::ssize_t>(count_columns(starts, rows.size()));
  if (place.size() != features || common.size() != features) {
    throw py::value_error("place and common must have an entry per feature");
  }
  for (py::ssize_t f = 0; f < features; ++f) {
    if (place.at(f) < -1 || place.at(f) >= dense.shape(0)) {
      throw py::value_error("place must be -1, or below the number of dense features");
    }
  }
  for (py::ssize_t k = 0; k < rows.size(); ++k) {
    if (rows.at(k) < 0 || rows.at(k) >= dense.shape(1)) {
      throw py::value_error("rows must be below the number of rows");
    }
  }
  return {std::move(dense), std::move(place), std::move(starts),
          std::move(rows),  std::move(codes), std::move(common)};
}

py::array_t<std::uint8_t> lay_out_features(const PySparseCodes& codes,
                                           const Array<std::int64_t>& features, int n_threads) {
  const Codes borrowed = codes.borrow();
  for (py::ssize_t i = 0; i < features.size(); ++i) {
    if (features.at(i) < 0 || static_cast<std::size_t>(features.at(i)) >= codes.features()) {
      throw py::value_error("features must be below the number of features");
    }
  }
  const auto n = static_cast<std::size_t>(features.size());
  py::array_t<std::uint8_t> result({n, borrowed.rows});
  std::uint8_t* const out = result.mutable_data();
  const std::int64_t* const wanted = features.data();
  run(n_threads, 0.1 * static_cast<double>(n * borrowed.rows), [&](Team& team) {
    team.for_each(n, 0.1 * static_cast<double>(n * borrowed.rows), [&](std::size_t i) {
      lay_out(borrowed, static_cast<std::size_t>(wanted[i]), out + i * borrowed.rows);
    });
  });
  return result;
}

}  // namespace
}  // namespace properboost::bindings

void bind_sparse(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using properboost::bindings::PySparseCodes;
  using properboost::bindings::PySparseTable;
  properboost::bindings::make_class<PySparseTable>(m, "SparseTable",
                                                   "Columns with entries of some rows.")
      .def(py::init(&properboost::bindings::make_table), "n_rows"_a, "starts"_a, "rows"_a,
           "values"_a)
      .def("find_edges_and_spans", &properboost::bindings::find_edges_and_spans, "weight"_a,
           "max_bins"_a, "order"_a, "n_threads"_a = 1)
      .def("encode", &properboost::bindings::encode, "bins"_a, "n_threads"_a = 1);
  properboost::bindings::make_class<PySparseCodes, std::shared_ptr<PySparseCodes>>(
      m, "SparseCodes", "Codes of features of which some have entries of some rows.")
      .def(py::init(&properboost::bindings::make_codes), "dense"_a, "place"_a, "starts"_a, "rows"_a,
           "codes"_a, "common"_a)
      .def("lay_out", &properboost::bindings::lay_out_features, "features"_a, "n_threads"_a = 1);
}
