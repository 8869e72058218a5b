// Peers in Python: a function that sums its arguments over all processes.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/core/peers.hpp"
#include "py_reference.hpp"

namespace properboost::bindings {

namespace py = pybind11;

// Calls function(sums, most) with arrays of int64 and float64; it writes into them.
class PyPeers final : public Peers {
 public:
  explicit PyPeers(py::object function) : function_(std::move(function)) {}
  void all_reduce(std::vector<std::int64_t>& sums, std::vector<double>& most) override {
    const GilHold hold;
    py::array_t<std::int64_t> all(static_cast<py::ssize_t>(sums.size()), sums.data());
    py::array_t<double> largest(static_cast<py::ssize_t>(most.size()), most.data());
    call(function_.get(), all, largest);
    std::copy_n(all.data(), sums.size(), sums.begin());
    std::copy_n(largest.data(), most.size(), most.begin());
  }

 private:
  PyReference function_;
};

}  // namespace properboost::bindings
