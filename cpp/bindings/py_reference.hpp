// A Python object that may be released on any thread.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "gil.hpp"

namespace properboost::bindings {

class PyReference {
 public:
  explicit PyReference(pybind11::object object) : object_(std::move(object)) {}
  PyReference(const PyReference&) = delete;
  PyReference& operator=(const PyReference&) = delete;
  // pybind11 throws where it has no record of the interpreter; the maker of an object has one.
  ~PyReference() {  // NOLINT(bugprone-exception-escape)
    PyObject* const object = object_.release().ptr();
    if (is_python_ending()) return;  // Python frees nothing any more
    std::optional<pybind11::gil_scoped_acquire> acquire;
    stay([&acquire] { acquire.emplace(); });
    stay([object] { Py_DECREF(object); });
  }
  const pybind11::object& get() const { return object_; }

 private:
  pybind11::object object_;
};

}  // namespace properboost::bindings
