// A Python object that may be released on any thread.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

namespace properboost::bindings {

class Held {
 public:
  explicit Held(pybind11::object object) : object_(std::move(object)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  // NOLINTNEXTLINE(bugprone-exception-escape): the process cannot go on without the GIL
  ~Held() {
    const pybind11::gil_scoped_acquire acquire;
    object_ = pybind11::object();
  }
  const pybind11::object& get() const { return object_; }

 private:
  pybind11::object object_;
};

}  // namespace properboost::bindings
