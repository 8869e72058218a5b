// Scores of raw predictions, for Python.
#include "arrays.hpp"
#include "gil.hpp"
#include "properboost/scores/ranking.hpp"

namespace properboost::bindings {
namespace {

py::tuple score(const Array<double>& raw, const Array<bool>& positive,
                const std::optional<Array<double>>& weight) {
  const auto n = static_cast<std::size_t>(raw.size());
  const double* const values = borrow<double>(raw, n, "raw");
  const bool* const signs = borrow<bool>(positive, n, "positive");
  const double* const weights = borrow<double>(weight, n, "weight");
  RankScores scores{};
  {
    const GilRelease release;
    scores = rank_scores(values, signs, weights, n);
  }
  return py::make_tuple(scores.auc, scores.average_precision);
}

}  // namespace
}  // namespace properboost::bindings

void bind_scores(pybind11::module_& m) {
  using namespace pybind11::literals;
  m.def("rank_scores", &properboost::bindings::score, "raw"_a, "positive"_a, "weight"_a);
}
