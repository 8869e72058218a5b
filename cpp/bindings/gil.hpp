// Python's lock: released while the engine computes, held for calls of Python, and neither where
// the interpreter ends meanwhile.
//
// A thread that requests the lock then never gets it.  Python 3.14 stops it where it is; an earlier
// version ends it by unwinding its stack.  That must not happen: a destructor on the way may not
// throw, and std::terminate ends the process; a reference on the way is dropped without the lock.
// So such a thread stops at its request, as from 3.14 on.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#if defined(__GLIBCXX__) || defined(__GLIBCPP__)
#include <cxxabi.h>
#endif

namespace properboost::bindings {

namespace py = pybind11;

// Calls code that may request the lock, and does not return if that ends the thread.  `body` should
// hold nothing that has a destructor: it would be skipped.
template <class Body>
decltype(auto) stay(Body&& body) {
#if defined(__GLIBCXX__) || defined(__GLIBCPP__)
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
#else
  return body();  // other libraries end a thread without unwinding
#endif
}

inline bool is_python_ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

namespace detail {

// Whether it is this thread that ends the interpreter, and computes meanwhile: an object's __del__
// may predict.  Only such a thread has had the lock when the end had begun.
inline bool& ends_python() noexcept {
  thread_local bool flag = false;
  return flag;
}

}  // namespace detail

// Gives up the lock, which the caller has, for a scope.
class GilRelease {
 public:
  GilRelease() {
    detail::ends_python() = is_python_ending();
    // pybind11's record of the thread must be made with the lock.
    py::detail::get_internals();
    state_ = PyEval_SaveThread();
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() {
    stay([state = state_] { PyEval_RestoreThread(state); });
  }

 private:
  PyThreadState* state_ = nullptr;
};

// Takes the lock for a scope, unless the caller has it.  Once the interpreter ends this is an error
// on other threads than the one that ends it: the work that they serve ends, too.
class GilHold {
 public:
  GilHold() {
    if (is_python_ending() && !detail::ends_python()) {
      throw std::runtime_error("Python is ending: its functions can be called no more");
    }
    stay([this] { acquire_.emplace(); });
  }
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;
  ~GilHold() = default;

 private:
  std::optional<py::gil_scoped_acquire> acquire_;
};

// Calls a Python function; the caller has the lock, which Python may give up and take again.
template <class... Arguments>
py::object call(const py::object& function, const Arguments&... arguments) {
  const py::tuple all = py::make_tuple(arguments...);
  PyObject* const returned = stay([&] { return PyObject_CallObject(function.ptr(), all.ptr()); });
  if (returned == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(returned);
}

}  // namespace properboost::bindings
