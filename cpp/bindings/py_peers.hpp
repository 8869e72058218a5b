// Peers in Python: a function that adds up what it is given over all processes.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "held.hpp"
#include "properboost/core/peers.hpp"

namespace properboost::bindings {

namespace py = pybind11;

// Calls share(sums, most) with arrays of int64 and float64; it writes into them.
class PyPeers final : public Peers {
 public:
  explicit PyPeers(py::object share) : share_(std::move(share)) {}
  void share(std::vector<std::int64_t>& sums, std::vector<double>& most) override {
    const GilHold hold;
    py::array_t<std::int64_t> all(static_cast<py::ssize_t>(sums.size()), sums.data());
    py::array_t<double> largest(static_cast<py::ssize_t>(most.size()), most.data());
    call(share_.get(), all, largest);
    std::copy_n(all.data(), sums.size(), sums.begin());
    std::copy_n(largest.data(), most.size(), most.begin());
  }

 private:
  Held share_;
};

}  // namespace properboost::bindings
