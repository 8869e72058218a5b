// Reporting back during a long run: signals, and the caller's progress report.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstddef>
#include <utility>

#include "run.hpp"

namespace properboost::bindings {

namespace py = pybind11;

// Checks for signals (Ctrl-C raises here) and calls the progress report, unless it is None, at most
// ten times per second.
class Reporter {
 public:
  explicit Reporter(py::object callback = py::none()) : callback_(std::move(callback)) {}

  void operator()(std::size_t estimators, double risk) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    check_signals();
    if (callback_.is_none()) return;
    const py::gil_scoped_acquire acquire;
    callback_(estimators, risk);
  }

 private:
  using Clock = std::chrono::steady_clock;
  py::object callback_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace properboost::bindings
