// Borrowing NumPy arrays: checks that name the argument; a table is never copied.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/table.hpp"

namespace properboost::bindings {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// A contiguous array of n entries, or null for None.
template <class T>
const T* borrow(const std::optional<Array<T>>& array, std::size_t n, const char* argument) {
  if (!array) return nullptr;
  if (array->ndim() != 1 || static_cast<std::size_t>(array->shape(0)) != n) {
    throw py::value_error(std::string(argument) + " must have " + std::to_string(n) + " entries");
  }
  return array->data();
}

// pybind11 would copy the data without a check that memory is left.
template <class T>
py::array_t<T> to_array(const std::vector<T>& v) {
  py::array_t<T> array(static_cast<py::ssize_t>(v.size()));
  std::copy(v.begin(), v.end(), array.mutable_data());
  return array;
}

Table borrow_table(const py::object& table);
// A table that must have one column per feature of the bins.
Table borrow_table(const py::object& table, const Bins& bins);

}  // namespace properboost::bindings
