// Loss for Python: arrays of any shape in, the same shape out.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "classes.hpp"
#include "margin_functions.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/losses/loss.hpp"
#include "run.hpp"

namespace py = pybind11;

namespace {

using properboost::JointLoss;
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
    const properboost::bindings::GilRelease release;
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

py::object find_probabilities(const Loss& loss, const Array<double>& in) {
  return filled(in, [&loss](const double* from, double* to, std::size_t n) {
    loss.probabilities_in_double(from, to, n);
  });
}

// The joint form of a loss, which lives as long.
std::shared_ptr<JointLoss> make_joint(const std::string& name, const std::shared_ptr<Loss>& loss) {
  const auto made = properboost::make_joint_loss(name, *loss);
  return {made.get(), [made, loss](JointLoss*) {}};
}

struct Shape {
  std::size_t n, classes;
};

Shape check_scores(const Array<double>& scores, std::size_t true_class = 0) {
  if (scores.ndim() != 2 || scores.shape(1) < 2) {
    throw py::value_error("scores must have the shape (rows, classes), with 2 classes or more");
  }
  const Shape shape{static_cast<std::size_t>(scores.shape(0)),
                    static_cast<std::size_t>(scores.shape(1))};
  if (true_class >= shape.classes) {
    throw py::value_error("true_class must be below the number of classes, " +
                          std::to_string(shape.classes) + "; got " + std::to_string(true_class));
  }
  return shape;
}

// Returns weights, curvatures, losses and shifts, as the engine computes them.
py::tuple evaluate(const JointLoss& loss, const Array<double>& scores, std::size_t true_class,
                   const std::optional<properboost::bindings::Array<float>>& shift) {
  const auto [n, classes] = check_scores(scores, true_class);
  const float* const last = properboost::bindings::borrow(shift, n, "shift");
  const auto turned = [n = n, classes = classes](auto* to, const auto* from, auto place) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < classes; ++k) place(to, from, i * classes + k, k * n + i);
    }
  };
  std::vector<float> by_class(n * classes);
  std::vector<float> weights(n * classes);
  std::vector<float> curvatures(n * classes);
  std::vector<float> losses(n);
  std::vector<float> shifts(n, std::numeric_limits<float>::quiet_NaN());
  if (last != nullptr) shifts.assign(last, last + n);
  turned(by_class.data(), scores.data(), [](float* to, const double* from, auto row, auto column) {
    to[column] = static_cast<float>(from[row]);
  });
  {
    const properboost::bindings::GilRelease release;
    loss.evaluate({classes, n, true_class, by_class.data(), shifts.data(), weights.data(),
                   curvatures.data(), losses.data()});
  }
  const auto by_row = [&turned, &scores](const std::vector<float>& from) {
    py::array_t<float> to({scores.shape(0), scores.shape(1)});
    turned(to.mutable_data(), from.data(),
           [](float* out, const float* in, auto row, auto column) { out[row] = in[column]; });
    return to;
  };
  using properboost::bindings::to_array;
  return py::make_tuple(by_row(weights), by_row(curvatures), to_array(losses), to_array(shifts));
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
            const auto of_weight = make_margin_function(weight, base->name(), "weight");
            const auto of_loss = make_margin_function(loss, base->name(), "loss");
            const properboost::bindings::GilRelease release;
            return std::shared_ptr<Loss>(properboost::make_called_loss(base, of_weight, of_loss));
          },
          "base"_a, "weight"_a, "loss"_a = py::none())
      .def_property_readonly("name", &Loss::name)
      .def_property_readonly("convex", &Loss::convex)
      .def_property_readonly("canonical", &Loss::canonical)
      .def("loss", &each<&Loss::loss>, "u"_a)
      .def("weight", &each<&Loss::weight>, "u"_a)
      .def("curvature", &each<&Loss::curvature>, "u"_a)
      .def("probability", &find_probabilities, "u"_a)
      .def("density", &each<&Loss::density>, "u"_a)
      .def("link", &each<&Loss::link>, "p"_a)
      .def("minimum_risk", &each<&Loss::minimum_risk>, "p"_a)
      .def("engine_loss", &block<&Loss::losses>, "u"_a)
      .def("engine_weight", &block<&Loss::weights>, "u"_a)
      .def("engine_curvature", &block<&Loss::curvatures>, "u"_a)
      .def("engine_probability", &block<&Loss::probabilities>, "u"_a);

  m.def("joint_loss_names", &properboost::joint_loss_names);
  properboost::bindings::make_class<JointLoss, std::shared_ptr<JointLoss>>(
      m, "JointLoss", "The loss of a row over all its classes; scores are raw predictions / gain.")
      .def(py::init(&make_joint), "name"_a, "loss"_a)
      .def_property_readonly("name", &JointLoss::name)
      .def_property_readonly("remembers_shifts", &JointLoss::remembers_shifts)
      .def("evaluate", &evaluate, "scores"_a, "true_class"_a, "shift"_a = py::none())
      .def(
          "log_probabilities",
          [](const JointLoss& loss, const Array<double>& scores, int n_threads) {
            constexpr std::size_t kRows = 256;  // of a task; each is worked out by itself
            const auto [n, classes] = check_scores(scores);
            py::array_t<double> out({scores.shape(0), scores.shape(1)});
            const double* const from = scores.data();
            double* const to = out.mutable_data();
            const std::size_t tasks = (n + kRows - 1) / kRows;
            const double nanoseconds = 100.0 * static_cast<double>(n * classes);
            properboost::bindings::run(
                n_threads, nanoseconds, [&, n = n, classes = classes](properboost::Team& team) {
                  team.for_each(tasks, nanoseconds, [&](std::size_t task) {
                    const std::size_t first = task * kRows;
                    loss.log_probabilities(from + first * classes, classes,
                                           std::min(kRows, n - first), to + first * classes);
                  });
                });
            return out;
          },
          "scores"_a, "n_threads"_a = 1)
      .def(
          "losses",
          [](const JointLoss& loss, const Array<double>& scores, std::size_t true_class) {
            const auto [n, classes] = check_scores(scores, true_class);
            py::array_t<double> out(static_cast<py::ssize_t>(n));
            const double* const from = scores.data();
            double* const to = out.mutable_data();
            {
              const properboost::bindings::GilRelease release;
              loss.losses(from, classes, n, true_class, to);
            }
            return out;
          },
          "scores"_a, "true_class"_a);
}
