#include "margin_functions.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "py_reference.hpp"

namespace properboost::bindings {
namespace {

namespace py = pybind11;

// A C function; `owner` keeps it alive.  Called without the GIL, on any thread.
template <class Call>
class NativeFunction final : public MarginFunction {
 public:
  NativeFunction(py::object owner, Call call) : owner_(std::move(owner)), call_(call) {}
  void operator()(const float* u, float* out, std::size_t n) const override {
    stay([&] { call_(u, out, n); });  // it may call Python in its turn
  }

 private:
  PyReference owner_;
  Call call_;
};

template <class Call>
std::shared_ptr<const MarginFunction> native(const py::object& owner, Call call) {
  return std::make_shared<NativeFunction<Call>>(owner, call);
}

using Block = void (*)(const float*, float*, std::intptr_t, void*);
using Scalar = double (*)(double);
using ScalarWithData = double (*)(double, void*);

// "const" and blanks are ignored, and all integers of a pointer's size are one type.
std::string normalize(std::string signature) {
  for (const char* word : {"const", " "}) {
    for (std::size_t at; (at = signature.find(word)) != std::string::npos;) {
      signature.erase(at, std::string(word).size());
    }
  }
  std::vector<const char*> integers = {"Py_ssize_t", "ssize_t", "npy_intp", "ptrdiff_t"};
  if (sizeof(long long) == sizeof(std::intptr_t)) integers.push_back("longlong");
  if (sizeof(std::int64_t) == sizeof(std::intptr_t)) integers.push_back("int64_t");
  if (sizeof(long) == sizeof(std::intptr_t)) {
    integers.push_back("longint");
    integers.push_back("long");
  }
  if (sizeof(int) == sizeof(std::intptr_t)) integers.push_back("int");
  for (const char* type : integers) {
    const std::string argument = std::string(",") + type + ",";
    const std::size_t at = signature.find(argument);
    if (at != std::string::npos) signature.replace(at, argument.size(), ",intptr_t,");
  }
  return signature;
}

std::shared_ptr<const MarginFunction> from_capsule(const py::object& owner,
                                                   const py::handle& capsule,
                                                   const std::string& name,
                                                   const std::string& what) {
  const char* const capsule_name = PyCapsule_GetName(capsule.ptr());
  if (capsule_name == nullptr) {
    PyErr_Clear();
    throw py::value_error("loss '" + name + "': its " + what + " function has no signature");
  }
  void* const pointer = PyCapsule_GetPointer(capsule.ptr(), capsule_name);
  if (pointer == nullptr) throw py::error_already_set();
  void* const data = PyCapsule_GetContext(capsule.ptr());
  if (data == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  const std::string signature = normalize(capsule_name);
  if (signature == "void(float*,float*,intptr_t,void*)") {
    const auto call = reinterpret_cast<Block>(pointer);
    return native(owner, [call, data](const float* u, float* out, std::size_t n) {
      call(u, out, static_cast<std::intptr_t>(n), data);
    });
  }
  if (signature == "double(double)") {
    const auto call = reinterpret_cast<Scalar>(pointer);
    return native(owner, [call](const float* u, float* out, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<float>(call(static_cast<double>(u[i])));
      }
    });
  }
  if (signature == "double(double,void*)") {
    const auto call = reinterpret_cast<ScalarWithData>(pointer);
    return native(owner, [call, data](const float* u, float* out, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<float>(call(static_cast<double>(u[i]), data));
      }
    });
  }
  throw py::value_error(
      "loss '" + name + "': its " + what + " function has the signature '" + capsule_name +
      "'; allowed are 'void (const float *, float *, intptr_t, void *)', which fills the second "
      "array from the first, 'double (double)' and 'double (double, void *)'");
}

class PythonFunction final : public MarginFunction {
 public:
  PythonFunction(py::object function, std::string name, std::string what)
      : function_(std::move(function)), name_(std::move(name)), what_(std::move(what)) {}

  void operator()(const float* u, float* out, std::size_t n) const override {
    const GilHold hold;
    try {
      const py::array_t<double> values = call(u, n);
      std::transform(values.data(), values.data() + n, out, narrow);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
      std::ostringstream message;
      message << "loss '" << name_ << "': its " << what_ << " function raised "
              << py::str(error.type().attr("__name__")).cast<std::string>() << where(u, n);
      py::raise_from(error, PyExc_RuntimeError, message.str().c_str());
      throw py::error_already_set();
    }
  }

 private:
  // A finite double must not become an infinite float.
  static float narrow(double value) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return static_cast<float>(std::isfinite(value) ? std::clamp(value, -kLargest, kLargest)
                                                   : value);
  }

  py::array_t<double> call(const float* u, std::size_t n) const {
    py::array_t<double> margins(static_cast<py::ssize_t>(n));
    std::copy_n(u, n, margins.mutable_data());
    const py::object returned = bindings::call(function_.get(), margins);
    using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;
    const auto values = stay([&returned] { return Values::ensure(returned); });
    if (!values || values.ndim() != 1 || values.shape(0) != static_cast<py::ssize_t>(n)) {
      if (!values) PyErr_Clear();
      throw py::value_error("loss '" + name_ + "': its " + what_ +
                            " function must return an array of the shape it was given");
    }
    return values;
  }

  // The first margin for which the function fails on its own, if there is one.
  std::string where(const float* u, std::size_t n) const {
    if (n == 0) return " of no margins";
    std::ostringstream place;
    place << " at u = margin / gain = ";
    // By halves: a call may take long.
    std::size_t first = 0;
    for (std::size_t size = n; size > 1;) {
      const std::size_t half = size / 2;
      const bool in_first = fails(u + first, half);
      first += in_first ? 0 : half;
      size = in_first ? half : size - half;
    }
    if (fails(u + first, 1)) {
      place << u[first];
    } else {
      const auto [least, most] = std::minmax_element(u, u + n);
      place << "from " << *least << " to " << *most;
    }
    return place.str();
  }

  bool fails(const float* u, std::size_t n) const {
    try {
      call(u, n);
      return false;
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
      return true;
    } catch (const py::builtin_exception&) {
      return false;  // it returned something, if of another shape
    }
  }

  PyReference function_;
  std::string name_, what_;
};

}  // namespace

std::shared_ptr<const MarginFunction> make_margin_function(const py::object& function,
                                                           const std::string& name,
                                                           const std::string& what) {
  if (function.is_none()) return nullptr;
  // scipy's object is a tuple that forbids indexing; the first entry is the capsule.
  if (PyTuple_Check(function.ptr()) && PyTuple_Size(function.ptr()) > 0) {
    const py::handle first = PyTuple_GetItem(function.ptr(), 0);
    if (PyCapsule_CheckExact(first.ptr())) return from_capsule(function, first, name, what);
  }
  return std::make_shared<PythonFunction>(function, name, what);
}

}  // namespace properboost::bindings
