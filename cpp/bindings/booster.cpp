#include "properboost/rounds/booster.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "codes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/planning/row_screen.hpp"
#include "py_peers.hpp"
#include "reporter.hpp"
#include "trees.hpp"

namespace properboost::bindings {
namespace {

// Rows, and the arrays they are borrowed from.
struct PyRows {
  AnyCodes codes;
  std::shared_ptr<const Bins> bins;
  Codes borrowed;
  std::optional<Array<double>> weight, base;
  std::optional<Array<std::int64_t>> numbers;
  std::optional<Array<float>> labels;
  std::shared_ptr<PyPeers> peers;  // or null

  std::size_t size() const noexcept { return borrowed.rows; }
  std::size_t segments() const noexcept { return borrowed.segments.size() - 1; }

  Rows borrow_for(std::size_t n_models) const {
    std::optional<Base> from;
    if (base) {
      const auto models = static_cast<std::size_t>(base->ndim() == 2 ? base->shape(0) : 0);
      if ((models != 1 && models != n_models) ||
          static_cast<std::size_t>(base->shape(1)) != size()) {
        throw py::value_error("base must have shape (n_models or 1, n_rows)");
      }
      from = Base{base->data(), models == 1 ? 0 : size()};
    }
    SoftLabels soft;
    if (labels) {
      if (labels->ndim() != 2 || static_cast<std::size_t>(labels->shape(0)) != n_models ||
          static_cast<std::size_t>(labels->shape(1)) != size()) {
        throw py::value_error("labels must have shape (n_models, n_rows)");
      }
      soft.shares = labels->data();
    }
    return {borrowed, *bins,       RowSampleWeights(borrow(weight, size(), "weight")),
            from,     peers.get(), RowNumbers(borrow(numbers, size(), "numbers")),
            soft};
  }
};

PyRows make_rows(AnyCodes codes, std::shared_ptr<const Bins> bins,
                 const Array<std::int64_t>& segments, std::optional<Array<double>> weight,
                 std::optional<Array<double>> base, std::optional<Array<std::int64_t>> numbers,
                 std::optional<Array<float>> labels, const py::object& share, int n_threads) {
  Codes borrowed = borrow_codes(codes, segments, *bins, !share.is_none());
  borrow(weight, borrowed.rows, "weight");
  borrow(numbers, borrowed.rows, "numbers");
  run(n_threads, 0.1 * static_cast<double>(borrowed.rows * bins->size()),
      [&](Team& team) { check_codes(borrowed, *bins, team); });
  return {std::move(codes),    std::move(bins),
          std::move(borrowed), std::move(weight),
          std::move(base),     std::move(numbers),
          std::move(labels),   share.is_none() ? nullptr : std::make_shared<PyPeers>(share)};
}

// A model, and the objects it shares.
struct PyModel {
  std::shared_ptr<const Loss> loss;
  std::shared_ptr<const WeakLearner> learner;
  Model model;
};

void check_positive(const char* name, double value) {
  if (std::isfinite(value) && value > 0.0) return;
  throw py::value_error(std::string(name) + " must be finite and above 0; got " +
                        std::to_string(value));
}

PyModel make_model(std::shared_ptr<const Loss> loss, std::shared_ptr<const WeakLearner> learner,
                   const Array<std::int8_t>& roles, double gain, double learning_rate,
                   double prior) {
  if (roles.ndim() != 1) throw py::value_error("roles must have an entry per segment");
  check_positive("gain", gain);
  check_positive("learning_rate", learning_rate);
  if (prior != 0.0) check_positive("prior", prior);
  Model model{loss.get(), learner.get(),
              gain,       learning_rate,
              prior,      to_roles(roles.data(), static_cast<std::size_t>(roles.size()))};
  return {std::move(loss), std::move(learner), std::move(model)};
}

// Boosting, and the objects it borrows from.
class PyBoosting {
 public:
  PyBoosting(std::shared_ptr<const PyRows> rows, std::vector<std::shared_ptr<const PyModel>> models,
             std::shared_ptr<const Algorithm> algorithm, bool keep_rounds, bool risk_of_tables,
             int n_threads)
      : rows_(std::move(rows)),
        models_(std::move(models)),
        algorithm_(std::move(algorithm)),
        n_threads_(n_threads) {
    const VoteTargets& targets = algorithm_->targets();
    if (!targets.of_segment.empty() && targets.of_segment.size() != rows_->segments()) {
      throw py::value_error("targets must have an entry per segment");
    }
    std::vector<Model> engine_models;
    for (const auto& model : models_) {
      if (!model) throw py::type_error("models must be a list of Model; got None in it");
      if (model->model.roles.size() != rows_->segments()) {
        throw py::value_error("roles must have an entry per segment");
      }
      engine_models.push_back(model->model);
    }
    Rows borrowed = rows_->borrow_for(models_.size());
    const GilRelease release;
    boosting_ = std::make_unique<Boosting>(std::move(borrowed), std::move(engine_models),
                                           *algorithm_, keep_rounds, risk_of_tables);
  }

  void repeat(const std::vector<std::shared_ptr<const Rounds>>& rounds, std::size_t n_estimators) {
    std::vector<Rounds> rounds_of_models;
    for (const auto& of_model : rounds) {
      if (!of_model) throw py::type_error("rounds must be a list of Rounds; got None in it");
      check_features(of_model->trees, of_model->lines, *rows_->bins, "rounds");
      rounds_of_models.push_back(*of_model);
    }
    run(n_threads_, boosting_->longest_loop(n_estimators),
        [&](Team& team) { boosting_->repeat(rounds_of_models, n_estimators, team); });
  }

  void advance(std::size_t n, const std::optional<Array<std::int64_t>>& models, py::object progress,
               bool report_each, bool keep_others) {
    std::vector<std::size_t> which;
    if (models) {
      for (py::ssize_t i = 0; i < models->size(); ++i) which.push_back(checked(models->at(i)));
    } else {
      for (std::size_t m = 0; m < boosting_->size(); ++m) which.push_back(m);
    }
    Reporter reporter(std::move(progress), report_each);
    run(n_threads_, boosting_->longest_loop(n),
        [&](Team& team) { boosting_->advance(n, which, std::ref(reporter), team, keep_others); });
  }

  py::array_t<std::int64_t> n_estimators() const {
    std::vector<std::int64_t> counts;
    for (std::size_t m = 0; m < boosting_->size(); ++m) {
      counts.push_back(static_cast<std::int64_t>(boosting_->state(m).n_estimators));
    }
    return to_array(counts);
  }
  py::tuple memory() const {
    const Memory memory = boosting_->memory();
    return py::make_tuple(memory.permanent, memory.working);
  }
  bool separated(std::int64_t model) const { return boosting_->state(checked(model)).separated; }
  bool takes_turns(std::int64_t model) const {
    return boosting_->state(checked(model)).takes_turns;
  }
  py::array_t<double> curves(std::int64_t model) const {
    const FitState& state = boosting_->state(checked(model));
    const std::size_t n = state.log_loss.size();
    py::array_t<double> result({std::size_t{3}, std::size_t{3}, n});
    auto to = result.mutable_unchecked<3>();
    for (std::size_t t = 0; t < n; ++t) {
      const HeldOutMeans all{state.log_loss[t], state.error[t], state.brier[t]};
      const HeldOutMeans each[] = {all, state.of_class[t][0], state.of_class[t][1]};
      for (std::size_t k = 0; k < std::size(each); ++k) {
        to(0, k, t) = each[k].log_loss;
        to(1, k, t) = each[k].error;
        to(2, k, t) = each[k].brier;
      }
    }
    return result;
  }
  py::array_t<double> held_out(std::int64_t model) const {
    return to_array(boosting_->held_out(checked(model)));
  }
  py::array_t<double> raw(std::int64_t model) const {
    return to_array(boosting_->raw(checked(model)));
  }
  py::array_t<std::int64_t> code_counts() const {
    const std::vector<std::size_t> counts = boosting_->code_counts();
    return to_array(std::vector<std::int64_t>(counts.begin(), counts.end()));
  }
  std::size_t cohorts() const { return boosting_->cohorts(); }
  Rounds rounds(std::int64_t model, std::size_t target, std::size_t first) const {
    const std::vector<Rounds>& of_targets = boosting_->state(checked(model)).rounds;
    if (target >= of_targets.size()) {
      throw py::index_error("target must be below " + std::to_string(of_targets.size()));
    }
    return of_targets[target].from(std::min(first, of_targets[target].feature.size()));
  }

 private:
  std::size_t checked(std::int64_t model) const {
    if (model < 0 || static_cast<std::size_t>(model) >= boosting_->size()) {
      throw py::index_error("models must be among the " + std::to_string(boosting_->size()));
    }
    return static_cast<std::size_t>(model);
  }

  std::shared_ptr<const PyRows> rows_;
  std::vector<std::shared_ptr<const PyModel>> models_;
  std::shared_ptr<const Algorithm> algorithm_;
  int n_threads_;
  std::unique_ptr<Boosting> boosting_;
};

py::array_t<std::int64_t> sort_for_screens(const Array<std::int64_t>& numbers,
                                           const Array<std::int64_t>& segments) {
  const auto n = static_cast<std::size_t>(numbers.size());
  const std::vector<std::size_t> bounds = read_segments(segments, n);
  std::vector<std::int64_t> sorted(numbers.data(), numbers.data() + n);
  {
    const GilRelease release;
    properboost::sort_for_screens(sorted, bounds);
  }
  return to_array(sorted);
}

}  // namespace
}  // namespace properboost::bindings

void bind_booster(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost::bindings;
  properboost::bindings::make_class<PyRows, std::shared_ptr<PyRows>>(
      m, "Rows", "Rows to train on, sorted by segment.")
      .def(py::init(&make_rows), "codes"_a, py::arg("bins").none(false), "segments"_a,
           py::kw_only(), "weight"_a = py::none(), "base"_a = py::none(), "numbers"_a = py::none(),
           "labels"_a = py::none(), "share"_a = py::none(), "n_threads"_a = 1);
  properboost::bindings::make_class<PyModel, std::shared_ptr<PyModel>>(
      m, "Model", "What differs between models that are trained together.")
      .def(py::init(&make_model), py::arg("loss").none(false), py::arg("learner").none(false),
           "roles"_a, py::kw_only(), "gain"_a = 1.0, "learning_rate"_a = 1.0, "prior"_a = 0.0);
  properboost::bindings::make_class<PyBoosting>(
      m, "Boosting", "Models trained together over the same rows: lanes.")
      .def(py::init<std::shared_ptr<const PyRows>, std::vector<std::shared_ptr<const PyModel>>,
                    std::shared_ptr<const properboost::Algorithm>, bool, bool, int>(),
           py::arg("rows").none(false), "models"_a, py::arg("algorithm").none(false), py::kw_only(),
           "keep_rounds"_a = true, "risk_of_tables"_a = true, "n_threads"_a = 1)
      .def_property_readonly("n_estimators", &PyBoosting::n_estimators)
      .def_property_readonly("memory", &PyBoosting::memory)
      .def_property_readonly("code_counts", &PyBoosting::code_counts)
      .def_property_readonly("cohorts", &PyBoosting::cohorts)
      .def("repeat", &PyBoosting::repeat, "rounds"_a, "n_estimators"_a)
      .def("advance", &PyBoosting::advance, "n_estimators"_a, "models"_a = py::none(),
           "progress"_a = py::none(), py::kw_only(), "report_each"_a = false,
           "keep_others"_a = false)
      .def("separated", &PyBoosting::separated, "model"_a)
      .def("takes_turns", &PyBoosting::takes_turns, "model"_a)
      .def("curves", &PyBoosting::curves, "model"_a)
      .def("held_out", &PyBoosting::held_out, "model"_a)
      .def("raw", &PyBoosting::raw, "model"_a)
      .def("rounds", &PyBoosting::rounds, "model"_a, "target"_a = 0, "first"_a = 0);
  m.def("sort_for_screens", &properboost::bindings::sort_for_screens, "numbers"_a, "segments"_a);
}
