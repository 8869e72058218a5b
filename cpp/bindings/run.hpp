// Running the engine: the GIL is released, Ctrl-C is heard, and a lack of threads is told.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>

#include "properboost/core/parallel.hpp"

namespace properboost::bindings {

namespace py = pybind11;

// Runs what signals ask for; Ctrl-C raises here.
inline void check_signals() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Whether signals are this thread's affair: Python handles them on its main thread only.
inline bool is_main_thread() {
  const py::object main = py::module_::import("threading").attr("main_thread")();
  return main.attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

// Runs program(team) without the GIL, which the caller holds.
template <class Program>
void run(int n_threads, double nanoseconds, Program&& program) {
  const std::function<void()> check = is_main_thread() ? check_signals : nullptr;
  int missing = 0;
  {
    const py::gil_scoped_release release;
    missing = Team::run(n_threads, nanoseconds, program, check);
  }
  if (missing == 0) return;
  const std::string message = "the system would not start " + std::to_string(missing) +
                              " of the threads that n_jobs asks for; results are the same, later";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace properboost::bindings
