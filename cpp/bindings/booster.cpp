#include "properboost/booster.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>

#include "arrays.hpp"
#include "properboost/learners/registry.hpp"
#include "properboost/responses/registry.hpp"
#include "properboost/steps/registry.hpp"

namespace properboost::bindings {
namespace {

template <class T>
using Itself = T;

// At most ten times a second: signals (Ctrl-C raises here) and the caller's progress report.
class Reporter {
 public:
  explicit Reporter(py::object callback) : callback_(std::move(callback)) {}

  void operator()(std::size_t rounds, double risk) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback_.is_none()) callback_(rounds, risk);
  }

 private:
  using Clock = std::chrono::steady_clock;
  py::object callback_;
  Clock::time_point last_ = Clock::now();
};

Codes borrow_codes(const Array<std::uint8_t>& codes, const Array<std::int64_t>& segments,
                   const Bins& bins) {
  if (codes.ndim() != 2 || static_cast<std::size_t>(codes.shape(0)) != bins.size()) {
    throw py::value_error("codes must have shape (n_features, n_rows)");
  }
  if (bins.size() == 0 || codes.shape(1) == 0) throw py::value_error("codes must not be empty");
  Codes result{codes.data(), static_cast<std::size_t>(codes.shape(1)), {}};
  for (py::ssize_t k = 0; k < segments.size(); ++k) {
    const auto offset = static_cast<std::size_t>(segments.at(k));
    if (k == 0 ? offset != 0 : offset < result.segments.back()) {
      throw py::value_error("segments must ascend from 0");
    }
    result.segments.push_back(offset);
  }
  if (result.segments.size() < 2 || result.segments.back() != result.rows) {
    throw py::value_error("segments must end at the number of rows");
  }
  return result;
}

void check_codes(const Codes& codes, const Bins& bins, Team& team) {
  std::vector<std::uint8_t> bad(bins.size(), 0);
  team.for_each(bins.size(), 0.1 * static_cast<double>(codes.rows * bins.size()),
                [&](std::size_t f) {
                  const std::uint8_t* code = codes.feature(f);
                  std::uint8_t largest = 0;
                  for (std::size_t i = 0; i < codes.rows; ++i)
                    largest = code[i] > largest ? code[i] : largest;
                  bad[f] = largest >= bins[f].width();
                });
  for (const std::uint8_t b : bad) {
    if (b != 0) throw std::invalid_argument("codes must be below their feature's width");
  }
}

Rounds train(const Array<std::uint8_t>& codes, const Bins& bins,
             const Array<std::int64_t>& segments, const std::vector<bool>& positive,
             const Loss& loss, double gain, std::size_t n_estimators, double learning_rate,
             const std::string& weak_learner, const std::string& response, const std::string& step,
             std::optional<double> prior, double smoothing, double l2,
             const std::optional<Array<double>>& weight, int n_threads, py::object progress) {
  const Codes rows = borrow_codes(codes, segments, bins);
  if (positive.size() + 1 != rows.segments.size()) {
    throw py::value_error("positive must have an entry a segment");
  }
  const auto learner_made =
      learners::Builtins::make<WeakLearner, Itself>("weak_learner", weak_learner, smoothing);
  const auto response_made =
      responses::Builtins::make<Response, BoundResponse>("response", response);
  const auto step_made = steps::Builtins::make<Step, Itself>("step", step);
  const Model model{loss,
                    *learner_made,
                    *response_made,
                    *step_made,
                    gain,
                    learning_rate,
                    prior.value_or(0.0),
                    l2,
                    n_estimators,
                    positive,
                    borrow(weight, rows.rows, "weight")};
  Rounds rounds;
  Reporter reporter(std::move(progress));
  {
    const py::gil_scoped_release release;
    const double n = static_cast<double>(rows.rows);
    const double nanoseconds = n * std::max(4.0, 0.4 * static_cast<double>(bins.size()));
    Team::run(n_threads, nanoseconds, [&](Team& team) {
      check_codes(rows, bins, team);
      rounds = boost(rows, bins, model, std::ref(reporter), team);
    });
  }
  return rounds;
}

}  // namespace
}  // namespace properboost::bindings

void bind_booster(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  m.def("weak_learner_names", &learners::Builtins::names);
  m.def("response_names", &responses::Builtins::names);
  m.def("step_names", &steps::Builtins::names);
  m.def("train", &bindings::train, "codes"_a, "bins"_a, "segments"_a, "positive"_a, "loss"_a,
        py::kw_only(), "gain"_a, "n_estimators"_a, "learning_rate"_a, "weak_learner"_a,
        "response"_a, "step"_a, "prior"_a.none(true), "smoothing"_a, "l2"_a,
        "weight"_a = py::none(), "n_threads"_a = 1, "progress"_a = py::none());
}
