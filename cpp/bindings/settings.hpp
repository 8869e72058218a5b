// Settings that come from Python by their names.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace properboost::bindings {

namespace py = pybind11;

// A mapping from names to values, which are taken from it one after the other.
class Settings {
 public:
  // Copies the mapping.
  explicit Settings(const py::object& mapping) {
    if (!py::hasattr(mapping, "keys")) {
      throw py::type_error("settings must be a mapping; got " + std::string(py::repr(mapping)));
    }
    left_.attr("update")(mapping);
  }

  // Sets a variable to the value of this name, and takes the value away; without one the variable
  // stays as it is.
  template <class T>
  void take(const char* name, T& variable) {
    if (!left_.contains(name)) return;
    const py::object value = left_[name];
    // A bool is accepted as a number, anything as a bool, and an integral float as an integer.
    constexpr bool kIsBool = std::is_same_v<T, bool>;
    constexpr bool kIsInteger = std::is_integral_v<T> && !kIsBool;
    constexpr bool kIsNumber = std::is_arithmetic_v<T> && !kIsBool;
    const bool is_refused = (kIsNumber && PyBool_Check(value.ptr()) != 0) ||
                            (kIsInteger && PyIndex_Check(value.ptr()) == 0);
    py::detail::make_caster<T> caster;
    if (is_refused || !caster.load(value, !kIsBool)) {
      const std::string message = std::string(name) + " must be " + allowed(&variable) + "; got " +
                                  std::string(py::repr(value));
      if (kIsInteger && !is_refused) throw py::value_error(message);
      throw py::type_error(message);
    }
    variable = py::detail::cast_op<T>(std::move(caster));
    left_.attr("pop")(name);
  }

  // Throws if settings are left that no reader has taken.
  void require_none_left(const std::string& owner) const {
    for (const auto& [name, value] : left_) {
      throw py::type_error(owner + " has no " + std::string(py::repr(name)));
    }
  }

 private:
  static std::string allowed(const bool*) { return "a bool"; }
  static std::string allowed(const double*) { return "a number"; }
  static std::string allowed(const std::string*) { return "a string"; }
  static std::string allowed(const std::optional<std::string>*) { return "a string or None"; }
  static std::string allowed(const std::vector<std::int8_t>*) { return "a sequence of -1, 0 or 1"; }
  static std::string allowed(const std::vector<std::vector<std::uint32_t>>*) {
    return "a sequence of sequences of integers";
  }
  template <class T>
  static std::string allowed(const T*) {
    static_assert(std::is_unsigned_v<T>);
    return "an integer between 0 and " + std::to_string(std::numeric_limits<T>::max());
  }

  py::dict left_;
};

}  // namespace properboost::bindings
