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
// ten times per second; or whenever estimators have been added, if `each` is set.
class Reporter {
 public:
  explicit Reporter(py::object callback = py::none(), bool each = false)
      : callback_(std::move(callback)), each_(each) {}

  void operator()(std::size_t estimators, double risk) {
    const auto now = Clock::now();
    const bool late = now - last_ >= std::chrono::milliseconds(100);
    const bool more = each_ && estimators > done_;
    if (!late && !more) return;
    done_ = estimators;
    if (late) {
      last_ = now;
      check_signals();
    }
    if (callback_.is_none() || (each_ && !more)) return;
    const GilHold hold;
    call(callback_, estimators, risk);
  }

 private:
  using Clock = std::chrono::steady_clock;
  py::object callback_;
  bool each_;
  std::size_t done_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace properboost::bindings
