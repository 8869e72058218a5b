// Table of contents of properboost._core.
#include <pybind11/pybind11.h>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"
#include "properboost/data/table.hpp"

namespace py = pybind11;

void bind_losses(py::module_& m);
void bind_binning(py::module_& m);
void bind_algorithm(py::module_& m);
void bind_booster(py::module_& m);
void bind_ensemble(py::module_& m);
void bind_contrast(py::module_& m);
void bind_pairs(py::module_& m);
void bind_rado(py::module_& m);
void bind_scores(py::module_& m);
void bind_sparse(py::module_& m);
void bind_terms(py::module_& m);
void bind_tree(py::module_& m);

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled engine of properboost.";
  m.attr("__version__") = PROPERBOOST_VERSION;
  m.attr("has_openmp") = properboost::has_openmp();
  m.attr("instruction_set") = properboost::name(properboost::instruction_set());
  properboost::watch_forks();
  bind_losses(m);
  bind_binning(m);
  bind_algorithm(m);
  bind_booster(m);
  bind_contrast(m);
  bind_pairs(m);
  bind_ensemble(m);
  bind_tree(m);
  bind_terms(m);
  bind_rado(m);
  bind_scores(m);
  bind_sparse(m);
}
