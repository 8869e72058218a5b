#include "properboost/data/binning.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "classes.hpp"
#include "codes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/bin_means.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/row_sample.hpp"
#include "properboost/data/spans.hpp"
#include "properboost/data/table.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "py_peers.hpp"
#include "run.hpp"

namespace properboost::bindings {
namespace {

Type type_of(const py::dtype& dtype) {
  if (dtype.byteorder() == '>') throw py::type_error("a column must have native byte order");
  const auto size = dtype.itemsize();
  switch (dtype.kind()) {
    case 'f':
      if (size == 4) return Type::f32;
      if (size == 8) return Type::f64;
      break;
    case 'b': return Type::u8;
    case 'i':
      return size == 1 ? Type::i8 : size == 2 ? Type::i16 : size == 4 ? Type::i32 : Type::i64;
    case 'u':
      return size == 1 ? Type::u8 : size == 2 ? Type::u16 : size == 4 ? Type::u32 : Type::u64;
    default: break;
  }
  throw py::type_error("a column must be float32, float64, an integer or bool; got " +
                       std::string(py::str(dtype)));
}

}  // namespace

Table borrow_table(const py::object& object) {
  Table table;
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    if (array.ndim() != 2) throw py::value_error("a table must be two-dimensional");
    table.rows = static_cast<std::size_t>(array.shape(0));
    const Type type = type_of(array.dtype());
    const char* data = static_cast<const char*>(array.data());
    for (py::ssize_t f = 0; f < array.shape(1); ++f) {
      table.columns.push_back({data + f * array.strides(1), array.strides(0), type});
    }
    return table;
  }
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(object)) {
    const auto column = py::cast<py::array>(item);
    if (column.ndim() != 1) throw py::value_error("a column must be one-dimensional");
    const auto rows = static_cast<std::size_t>(column.shape(0));
    if (!table.columns.empty() && rows != table.rows) {
      throw py::value_error("columns must have the same length");
    }
    table.rows = rows;
    table.columns.push_back(
        {static_cast<const char*>(column.data()), column.strides(0), type_of(column.dtype())});
  }
  return table;
}

Table borrow_table(const py::object& object, const Bins& bins) {
  Table table = borrow_table(object);
  if (table.columns.size() != bins.size()) {
    throw py::value_error("the table has " + std::to_string(table.columns.size()) +
                          " columns; the bins have " + std::to_string(bins.size()));
  }
  return table;
}

namespace {

Bins make_bins(const py::sequence& features,
               const std::optional<std::vector<std::vector<double>>>& means) {
  std::vector<FeatureBins> bins;
  if (means && means->size() != features.size()) {
    throw py::value_error("means must have an entry per feature");
  }
  for (const py::handle feature : features) {
    if (py::isinstance<py::int_>(feature)) {
      bins.emplace_back(py::cast<int>(feature));
    } else if (py::isinstance<py::tuple>(feature)) {
      const auto [rows, columns, ordered_rows, ordered_columns] =
          py::cast<std::tuple<int, int, int, int>>(feature);
      bins.emplace_back(Grid{rows, columns, ordered_rows, ordered_columns});
    } else {
      bins.emplace_back(py::cast<std::vector<double>>(feature),
                        means ? (*means)[bins.size()] : std::vector<double>());
    }
  }
  return Bins(std::move(bins));
}

py::array_t<std::int64_t> widths(const Bins& bins) {
  std::vector<std::int64_t> result;
  for (std::size_t f = 0; f < bins.size(); ++f) result.push_back(bins[f].width());
  return to_array(result);
}

// Rows of a table, and their number: all, or those of an order.
std::pair<RowOrder, std::size_t> borrow_order(const std::optional<Array<std::int64_t>>& order,
                                              const Table& table) {
  if (!order) return {RowOrder{}, table.rows};
  const auto n = static_cast<std::size_t>(order->size());
  const RowOrder rows{borrow(order, n, "order")};
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.rows[i] < 0 || static_cast<std::size_t>(rows.rows[i]) >= table.rows) {
      throw py::value_error("order must hold row numbers of the table");
    }
  }
  return {rows, n};
}

py::array_t<std::uint8_t> encode(const Bins& bins, const py::object& object,
                                 const std::optional<Array<std::int64_t>>& order, int n_threads) {
  const Table table = borrow_table(object, bins);
  const auto [rows, n] = borrow_order(order, table);
  py::array_t<std::uint8_t> codes({bins.size(), n});
  std::uint8_t* out = codes.mutable_data();
  run(n_threads, 3.0 * static_cast<double>(n * bins.size()),
      [&, from = rows, size = n](Team& team) { bins.encode(table, from, size, out, team); });
  return codes;
}

py::list to_list(const std::vector<std::vector<double>>& of_features) {
  py::list result;
  for (const auto& values : of_features) result.append(to_array(values));
  return result;
}

py::list average(const Bins& bins, const py::object& object,
                 const std::optional<Array<std::int64_t>>& order,
                 const std::optional<Array<double>>& weight, int n_threads) {
  const Table table = borrow_table(object, bins);
  const auto [rows, n] = borrow_order(order, table);
  const RowSampleWeights w(borrow(weight, n, "weight"));
  std::vector<std::vector<double>> means;
  run(n_threads, 8.0 * static_cast<double>(n * bins.size()),
      [&, from = rows, size = n](Team& team) {
        means = find_bin_means(table, bins, from, size, w, team);
      });
  return to_list(means);
}

py::array_t<double> weigh(const Bins& bins, const AnyCodes& codes,
                          const Array<std::int64_t>& segments, const Array<std::int64_t>& group_of,
                          std::size_t groups, const std::optional<Array<double>>& weight,
                          int n_threads, const py::object& share) {
  const Codes borrowed = borrow_codes(codes, segments, bins, true);
  const std::size_t rows = borrowed.rows;
  const RowSampleWeights w(borrow(weight, rows, "weight"));
  std::vector<int> group_of_segment;
  for (py::ssize_t s = 0; s < group_of.size(); ++s) {
    const std::int64_t group = group_of.at(s);
    if (group < -1 || group >= static_cast<std::int64_t>(groups)) {
      throw py::value_error("group_of must be -1, or below groups");
    }
    group_of_segment.push_back(static_cast<int>(group));
  }
  if (group_of_segment.size() + 1 != borrowed.segments.size()) {
    throw py::value_error("group_of must have an entry for each segment");
  }
  std::vector<double> code_weights;
  const std::unique_ptr<PyPeers> peers =
      share.is_none() ? nullptr : std::make_unique<PyPeers>(share);
  run(n_threads, 0.5 * static_cast<double>(rows * bins.size()), [&](Team& team) {
    team.join(peers.get());
    code_weights = weigh_codes(borrowed, bins, group_of_segment, groups, w, team);
  });
  return to_array(code_weights).reshape({groups, bins.total_width()});
}

// Sums, and the bins that they borrow.
struct PyBinSums {
  PyBinSums(std::shared_ptr<Bins> of, double largest) : bins(std::move(of)), sums(*bins, largest) {}
  void add(const py::object& object, const std::optional<Array<std::int64_t>>& order,
           const std::optional<Array<double>>& weight, int n_threads) {
    const Table table = borrow_table(object, *bins);
    const auto [rows, n] = borrow_order(order, table);
    const RowSampleWeights w(borrow(weight, n, "weight"));
    run(n_threads, 8.0 * static_cast<double>(n * bins->size()),
        [&, from = rows, size = n](Team& team) { sums.add(table, from, size, w, team); });
  }
  py::list find_means() const { return to_list(sums.means()); }
  py::array_t<std::int64_t> digits() const { return to_array(sums.digits()); }
  void add_digits(const Array<std::int64_t>& digits) {
    const std::vector<std::int64_t> added(digits.data(), digits.data() + digits.size());
    if (added.size() != sums.digits().size()) throw py::value_error("digits must be of these bins");
    sums.add_digits(added);
  }

  std::shared_ptr<Bins> bins;
  BinSums sums;
};

py::array_t<std::int64_t> add_to_sample(RowSample& sample, std::size_t n,
                                        const std::optional<Array<double>>& weight) {
  const RowSampleWeights w(borrow(weight, n, "weight"));
  std::vector<std::int64_t> rows;
  {
    const GilRelease release;
    rows = sample.add(n, w);
  }
  return to_array(rows);
}

py::array_t<std::int64_t> list_sample(const RowSample& sample) { return to_array(sample.rows()); }

py::list find(const py::object& object, const std::optional<Array<double>>& weight, int max_bins,
              const std::optional<Array<std::int64_t>>& order, int n_threads) {
  const Table table = borrow_table(object);
  const RowSampleWeights w(borrow(weight, table.rows, "weight"));
  const auto [row_order, n] = borrow_order(order, table);
  std::vector<std::int64_t> rows;
  if (order) rows.assign(row_order.rows, row_order.rows + n);
  std::vector<std::vector<double>> edges;
  run(n_threads, 20.0 * static_cast<double>(n * table.columns.size()), [&](Team& team) {
    if (!order) rows = sample_rows(table.rows, w, std::max<std::size_t>(1, table.rows), 0);
    edges = find_edges(table, rows, w, max_bins, team);
  });
  return to_list(edges);
}

py::array_t<double> spans(const py::object& object, const std::optional<Array<double>>& weight,
                          int n_threads) {
  const Table table = borrow_table(object);
  const RowSampleWeights w(borrow(weight, table.rows, "weight"));
  std::vector<Span> column_spans;
  run(n_threads, 0.5 * static_cast<double>(table.rows * table.columns.size()),
      [&](Team& team) { column_spans = find_spans(table, w, team); });
  std::vector<double> ends;
  for (const Span& span : column_spans) ends.insert(ends.end(), {span.low, span.high});
  return to_array(ends).reshape({column_spans.size(), std::size_t{2}});
}

}  // namespace
}  // namespace properboost::bindings

void bind_binning(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using properboost::Bins;
  properboost::bindings::make_class<Bins, std::shared_ptr<Bins>>(m, "Bins")
      .def(py::init(&properboost::bindings::make_bins), "features"_a, "means"_a = py::none())
      .def_property_readonly("n_features", &Bins::size)
      .def_property_readonly("widths", &properboost::bindings::widths)
      .def("encode", &properboost::bindings::encode, "table"_a, "order"_a = py::none(),
           "n_threads"_a = 1)
      .def("find_means", &properboost::bindings::average, "table"_a, "order"_a = py::none(),
           "weight"_a = py::none(), "n_threads"_a = 1)
      .def("weigh", &properboost::bindings::weigh, "codes"_a, "segments"_a, "group_of"_a,
           "groups"_a, "weight"_a = py::none(), "n_threads"_a = 1, "share"_a = py::none());
  using properboost::bindings::PyBinSums;
  properboost::bindings::make_class<PyBinSums>(m, "BinSums")
      .def(py::init<std::shared_ptr<Bins>, double>(), "bins"_a, "largest_weight"_a = 1.0)
      .def("add", &PyBinSums::add, "table"_a, "order"_a = py::none(), "weight"_a = py::none(),
           "n_threads"_a = 1)
      .def("find_means", &PyBinSums::find_means)
      .def_property_readonly("digits", &PyBinSums::digits)
      .def("add_digits", &PyBinSums::add_digits, "digits"_a);
  using properboost::RowSample;
  properboost::bindings::make_class<RowSample>(m, "RowSample")
      .def(py::init<std::size_t, std::uint64_t>(), "size"_a, "seed"_a = 0)
      .def("add", &properboost::bindings::add_to_sample, "n_rows"_a, "weight"_a = py::none())
      .def_property_readonly("rows", &properboost::bindings::list_sample);
  m.def("find_edges", &properboost::bindings::find, "table"_a, "weight"_a = py::none(),
        "max_bins"_a = 255, "order"_a = py::none(), "n_threads"_a = 1);
  m.def("find_spans", &properboost::bindings::spans, "table"_a, "weight"_a = py::none(),
        "n_threads"_a = 1);
}
