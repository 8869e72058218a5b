// Loss for Python: arrays of any shape in, the same shape out.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "classes.hpp"
#include "margin_functions.hpp"
#include "properboost/losses/loss.hpp"

namespace py = pybind11;

namespace {

using properboost::Loss;

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

// An array shaped like `in`, filled by fill(in, out, n) without the GIL; a number gives a number.
template <class T, class Fill>
py::object filled(const Array<T>& in, Fill fill) {
  py::array_t<T> out(std::vector<py::ssize_t>(in.shape(), in.shape() + in.ndim()));
  const T* from = in.data();
  T* to = out.mutable_data();
  const auto n = static_cast<std::size_t>(in.size());
  {
    py::gil_scoped_release released;
    fill(from, to, n);
  }
  if (in.ndim() == 0) return py::float_(static_cast<double>(*to));
  return std::move(out);
}

template <double (Loss::*function)(double) const noexcept>
py::object each(const Loss& loss, const Array<double>& in) {
  return filled(in, [&loss](const double* from, double* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] = (loss.*function)(from[i]);
  });
}

template <void (Loss::*function)(const float*, float*, std::size_t) const>
py::object block(const Loss& loss, const Array<float>& in) {
  return filled(
      in, [&loss](const float* from, float* to, std::size_t n) { (loss.*function)(from, to, n); });
}

}  // namespace

void bind_losses(py::module_& m) {
  using namespace pybind11::literals;
  using Parameters = std::map<std::string, double>;

  m.def("loss_names", &properboost::loss_names);
  m.def("loss_knots", [] { return properboost::bindings::to_array(properboost::loss_knots()); });
  m.def(
      "call_margin_function",
      [](const py::object& function, const std::string& name, const std::string& what,
         const Array<float>& u) {
        const auto made = properboost::bindings::make_margin_function(function, name, what);
        return filled(
            u, [&made](const float* from, float* to, std::size_t n) { (*made)(from, to, n); });
      },
      "function"_a, "name"_a, "what"_a, "u"_a);
  properboost::bindings::make_class<Loss, std::shared_ptr<Loss>>(
      m, "Loss", "One margin loss at gain 1; u = v / gain.")
      .def(py::init([](const std::string& name, const Parameters& parameters) {
             return std::shared_ptr<Loss>(properboost::make_loss(name, parameters));
           }),
           "name"_a, "parameters"_a = Parameters())
      .def_static(
          "tabulated",
          [](const std::string& name, double scale, double beyond, std::vector<double> right,
             std::vector<double> right_slope, std::vector<double> left,
             std::vector<double> left_slope) {
            return std::shared_ptr<Loss>(properboost::make_tabulated_loss(
                name, {scale, beyond, std::move(right), std::move(right_slope), std::move(left),
                       std::move(left_slope)}));
          },
          "name"_a, py::kw_only(), "scale"_a, "beyond"_a, "right"_a, "right_slope"_a, "left"_a,
          "left_slope"_a)
      .def_static(
          "called",
          [](const std::shared_ptr<Loss>& base, const py::object& weight, const py::object& loss) {
            using properboost::bindings::make_margin_function;
            return std::shared_ptr<Loss>(properboost::make_called_loss(
                base, make_margin_function(weight, base->name(), "weight"),
                make_margin_function(loss, base->name(), "loss")));
          },
          "base"_a, "weight"_a, "loss"_a = py::none())
      .def_property_readonly("name", &Loss::name)
      .def_property_readonly("convex", &Loss::convex)
      .def_property_readonly("canonical", &Loss::canonical)
      .def("loss", &each<&Loss::loss>, "u"_a)
      .def("weight", &each<&Loss::weight>, "u"_a)
      .def("curvature", &each<&Loss::curvature>, "u"_a)
      .def("probability", &each<&Loss::probability>, "u"_a)
      .def("density", &each<&Loss::density>, "u"_a)
      .def("link", &each<&Loss::link>, "p"_a)
      .def("minimum_risk", &each<&Loss::minimum_risk>, "p"_a)
      .def("engine_loss", &block<&Loss::losses>, "u"_a)
      .def("engine_weight", &block<&Loss::weights>, "u"_a)
      .def("engine_curvature", &block<&Loss::curvatures>, "u"_a)
      .def("engine_probability", &block<&Loss::probabilities>, "u"_a);
}
