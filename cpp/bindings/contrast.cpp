// How unlikely statistics are by chance, for Python.
#include "properboost/learners/contrast.hpp"

#include <utility>

#include "arrays.hpp"
#include "properboost/learners/evidence.hpp"
#include "properboost/trees/best_cut.hpp"

namespace properboost::bindings {
namespace {

py::array_t<double> deviates(const Array<double>& chi_square, const Array<double>& freedom) {
  const auto n = static_cast<std::size_t>(chi_square.size());
  const double* const sums = borrow<double>(chi_square, n, "chi_square");
  const double* const means = borrow<double>(freedom, n, "freedom");
  py::array_t<double> result(chi_square.size());
  for (std::size_t k = 0; k < n; ++k) {
    result.mutable_data()[k] = Contrast{sums[k], means[k]}.deviate();
  }
  return result;
}

std::pair<double, double> evidence(const Array<double>& positive, const Array<double>& negative,
                                   bool ordered) {
  const auto n = static_cast<std::size_t>(positive.size());
  const Contrast contrast = find_evidence(borrow<double>(positive, n, "positive"),
                                          borrow<double>(negative, n, "negative"), n, ordered);
  return {contrast.chi_square, contrast.freedom};
}

double freedom(std::size_t cells, bool ordered) { return freedom_of_best_cut(cells, ordered); }

}  // namespace
}  // namespace properboost::bindings

void bind_contrast(pybind11::module_& m) {
  using namespace pybind11::literals;
  using namespace properboost;
  m.def("normal_deviates", &bindings::deviates, "chi_square"_a, "freedom"_a);
  m.def("find_evidence", &bindings::evidence, "positive"_a, "negative"_a, "ordered"_a);
  m.def("freedom_of_best_cut", &bindings::freedom, "cells"_a, "ordered"_a);
}
