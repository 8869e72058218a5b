// Running the engine: releases the GIL, handles Ctrl-C, and reports a lack of threads.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <string>

#include "gil.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"
#include "properboost/core/watch.hpp"

namespace properboost::bindings {

namespace py = pybind11;

// Runs pending signal handlers; Ctrl-C raises here.
inline void check_signals() {
  const GilHold hold;
  if (stay(PyErr_CheckSignals) != 0) throw py::error_already_set();
}

inline unsigned long find_main_thread() {
  const py::object main = call(py::module_::import("threading").attr("main_thread"));
  PyObject* const number = stay([&main] { return PyObject_GetAttrString(main.ptr(), "ident"); });
  if (number == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(number).cast<unsigned long>();
}

// Whether signals are this thread's affair: Python handles them on its main thread only.
inline bool is_main_thread() {
  // Looked up once: it takes microseconds, and a prediction of a row some tens.  Not a static
  // object: a thread that holds the lock would wait for another's initialisation.
  static std::atomic<unsigned long> known{0};
  unsigned long number = known.load(std::memory_order_relaxed);
  // In a forked child it may be another one.
  if (number == 0 || properboost::detail::forked().load(std::memory_order_relaxed)) {
    if (is_python_ending()) return false;  // nothing can be imported, and no signal is heard
    number = find_main_thread();
    known.store(number, std::memory_order_relaxed);
  }
  return number == PyThread_get_thread_ident();
}

// Runs program(team) without the GIL, which the caller holds.
template <class Program>
void run(int n_threads, double nanoseconds, Program&& program) {
  const std::function<void()> check = is_main_thread() ? check_signals : nullptr;
  int missing = 0;
  {
    const GilRelease release;
    missing = Team::run(n_threads, nanoseconds, program, Watch(check));
  }
  if (missing == 0) return;
  const std::string message = "the system would not start " + std::to_string(missing) +
                              " of the threads that n_jobs asks for; results are the same, later";
  const int failed =
      stay([&message] { return PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1); });
  if (failed != 0) throw py::error_already_set();
}

}  // namespace properboost::bindings
