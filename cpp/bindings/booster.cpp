#include "properboost/boosting/booster.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codes.hpp"
#include "properboost/impurities/registry.hpp"
#include "properboost/learners/registry.hpp"
#include "properboost/responses/registry.hpp"
#include "properboost/steps/registry.hpp"
#include "properboost/trees/tree_grower.hpp"
#include "properboost/votes/registry.hpp"
#include "reporter.hpp"

namespace properboost::bindings {
namespace {

template <class T>
using Itself = T;

std::shared_ptr<WeakLearner> make_learner(const std::string& name, double smoothing,
                                          std::size_t max_leaves, std::size_t max_depth,
                                          double min_child_weight, double max_features,
                                          std::vector<std::int8_t> directions,
                                          std::size_t max_literals, double subsample,
                                          std::uint64_t seed,
                                          const std::optional<std::string>& criterion) {
  // A node's number is a byte.
  if (max_leaves < 1 || 2 * max_leaves - 1 > TreeGrower::kMostNodes) {
    throw py::value_error("max_leaves must be between 1 and 128");
  }
  if (max_literals < 1 || 2 * max_literals + 1 > TreeGrower::kMostNodes) {
    throw py::value_error("max_literals must be between 1 and 127");
  }
  std::shared_ptr<const Criterion> impurity;
  if (criterion) {
    impurity = impurities::Builtins::make<Criterion, BoundImpurity>("criterion", *criterion, 0.0);
  }
  const LearnerOptions options{
      std::move(impurity),
      smoothing,
      {max_leaves, max_depth, min_child_weight, max_features, std::move(directions)},
      max_literals,
      subsample,
      seed};
  return learners::Builtins::make<WeakLearner, Itself>("weak_learner", name, options);
}

std::shared_ptr<Vote> make_vote(const std::string& name, std::size_t groups,
                                const std::string& criterion) {
  if (criterion != "gini" && criterion != "error") {
    throw py::value_error("criterion must be 'gini' or 'error'; got '" + criterion + "'");
  }
  if (groups < 2 || groups > 32'767) throw py::value_error("groups must be between 2 and 32767");
  return votes::Builtins::make<Vote, Itself>(
      "vote", name, groups, criterion == "gini" ? VoteCriterion::kGini : VoteCriterion::kError);
}

// Boosting, with what it borrows.
class Borrowed {
 public:
  Borrowed(Array<std::uint8_t> codes, std::shared_ptr<const Bins> bins,
           const Array<std::int64_t>& segments, const Array<std::int8_t>& roles,
           std::vector<std::shared_ptr<const Loss>> losses,
           std::vector<std::shared_ptr<const WeakLearner>> learners, const Array<double>& gain,
           const Array<double>& learning_rate, const Array<double>& prior,
           const std::string& selection, const std::string& response, const std::string& step,
           double l2, std::optional<Array<double>> weight, std::optional<Array<double>> base,
           bool keep_rounds, std::shared_ptr<const Vote> vote,
           const std::vector<std::uint16_t>& groups, double rho, double damping, double mistrust,
           int n_threads)
      : codes_(std::move(codes)),
        bins_(std::move(bins)),
        weight_(std::move(weight)),
        base_(std::move(base)),
        losses_(std::move(losses)),
        learners_(std::move(learners)),
        selection_(selections::Builtins::make<Selection, Itself>("selection", selection)),
        response_(responses::Builtins::make<Response, BoundResponse>("response", response)),
        step_(vote ? steps::ForVotes::make<Step, Itself>("step", step)
                   : steps::Builtins::make<Step, Itself>("step", step)),
        vote_(std::move(vote)),
        n_threads_(n_threads) {
    const Codes rows = borrow_codes(codes_, segments, *bins_);
    const auto n = static_cast<py::ssize_t>(losses_.size());
    if (roles.ndim() != 2 || roles.shape(0) != n ||
        roles.shape(1) + 1 != static_cast<py::ssize_t>(rows.segments.size())) {
      throw py::value_error("roles must have shape (n_models, n_segments)");
    }
    const double* gains = borrow<double>(gain, losses_.size(), "gain");
    const double* rates = borrow<double>(learning_rate, losses_.size(), "learning_rate");
    const double* priors = borrow<double>(prior, losses_.size(), "prior");
    if (learners_.size() != losses_.size()) {
      throw py::value_error("learners must have an entry a model");
    }
    std::vector<Model> models;
    for (std::size_t m = 0; m < losses_.size(); ++m) {
      models.push_back({losses_[m].get(), learners_[m].get(), gains[m], rates[m], priors[m],
                        to_roles(roles.data(static_cast<py::ssize_t>(m), 0),
                                 static_cast<std::size_t>(roles.shape(1)))});
    }
    Settings settings{selection_.get(), response_.get(), step_.get(), l2, keep_rounds};
    if (vote_) {
      electorate_ = {vote_.get(), checked_groups(groups, rows.segments.size() - 1)};
      settings.electorate = &electorate_;
      settings.rho = rho;
      settings.weighting = {damping, mistrust};
    }
    const double* weights = borrow(weight_, rows.rows, "weight");
    Base from;
    if (base_) {
      if (base_->ndim() != 2 || (base_->shape(0) != 1 && base_->shape(0) != n) ||
          static_cast<std::size_t>(base_->shape(1)) != rows.rows) {
        throw py::value_error("base must have shape (n_models or 1, n_rows)");
      }
      from = {base_->data(), base_->shape(0) == 1 ? 0 : rows.rows};
    }
    const py::gil_scoped_release release;
    Team::run(n_threads_, 0.1 * static_cast<double>(rows.rows * bins_->size()),
              [&](Team& team) { check_codes(rows, *bins_, team); });
    boosting_ =
        std::make_unique<Boosting>(rows, *bins_, std::move(models), settings, weights, from);
  }

  void advance(std::size_t n, const std::optional<Array<std::int64_t>>& models,
               py::object progress) {
    std::vector<std::size_t> which;
    if (models) {
      for (py::ssize_t i = 0; i < models->size(); ++i) which.push_back(checked(models->at(i)));
    } else {
      for (std::size_t m = 0; m < boosting_->size(); ++m) which.push_back(m);
    }
    Reporter reporter(std::move(progress));
    const py::gil_scoped_release release;
    Team::run(n_threads_, boosting_->longest_loop(n),
              [&](Team& team) { boosting_->advance(n, which, std::ref(reporter), team); });
  }

  std::size_t size() const { return boosting_->size(); }
  py::array_t<std::int64_t> n_estimators() const {
    std::vector<std::int64_t> counts;
    for (std::size_t m = 0; m < boosting_->size(); ++m) {
      counts.push_back(static_cast<std::int64_t>(boosting_->course(m).n_estimators));
    }
    return to_array(counts);
  }
  bool separated(std::int64_t model) const { return boosting_->course(checked(model)).separated; }
  py::array_t<double> curves(std::int64_t model) const {
    const Course& course = boosting_->course(checked(model));
    const std::vector<double>* const each[] = {&course.log_loss, &course.error, &course.brier};
    py::array_t<double> result({std::size(each), course.log_loss.size()});
    for (std::size_t i = 0; i < std::size(each); ++i) {
      std::copy(each[i]->begin(), each[i]->end(),
                result.mutable_data(static_cast<py::ssize_t>(i), 0));
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
  Rounds rounds(std::int64_t model, std::size_t group) const {
    return boosting_->course(checked(model)).rounds.at(group);
  }

 private:
  std::vector<std::uint16_t> checked_groups(const std::vector<std::uint16_t>& groups,
                                            std::size_t segments) const {
    if (groups.size() != segments) throw py::value_error("groups must have an entry a segment");
    for (const std::uint16_t group : groups) {
      if (group >= vote_->groups) throw py::value_error("groups must be below the vote's");
    }
    return groups;
  }

  std::size_t checked(std::int64_t model) const {
    if (model < 0 || static_cast<std::size_t>(model) >= boosting_->size()) {
      throw py::index_error("models must be among the " + std::to_string(boosting_->size()));
    }
    return static_cast<std::size_t>(model);
  }

  Array<std::uint8_t> codes_;
  std::shared_ptr<const Bins> bins_;
  std::optional<Array<double>> weight_, base_;
  std::vector<std::shared_ptr<const Loss>> losses_;
  std::vector<std::shared_ptr<const WeakLearner>> learners_;
  std::unique_ptr<Selection> selection_;
  std::unique_ptr<Response> response_;
  std::unique_ptr<Step> step_;
  std::shared_ptr<const Vote> vote_;
  Electorate electorate_;
  int n_threads_;
  std::unique_ptr<Boosting> boosting_;
};

}  // namespace
}  // namespace properboost::bindings

void bind_booster(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  m.def("weak_learner_names", &learners::Builtins::names);
  m.def("response_names", &responses::Builtins::names);
  m.def("step_names", &steps::Builtins::names);
  m.def("vote_step_names", &steps::ForVotes::names);
  m.def("vote_names", &votes::Builtins::names);
  m.def("selection_names", &selections::Builtins::names);
  using bindings::Array;
  using bindings::Borrowed;
  py::class_<WeakLearner, std::shared_ptr<WeakLearner>>(m, "WeakLearner", "What a round may add.")
      .def(py::init(&bindings::make_learner), "name"_a, py::kw_only(), "smoothing"_a = 0.0,
           "max_leaves"_a = 31, "max_depth"_a = TreeLimits::kUnlimited, "min_child_weight"_a = 0.0,
           "max_features"_a = 1.0, "directions"_a = std::vector<std::int8_t>(),
           "max_literals"_a = 2, "subsample"_a = 1.0, "seed"_a = 0, "criterion"_a = py::none());
  py::class_<Vote, std::shared_ptr<Vote>>(m, "Vote", "What a weak classifier says in a cell.")
      .def(py::init(&bindings::make_vote), "name"_a, "groups"_a, "criterion"_a = "gini");
  py::class_<Borrowed>(m, "Boosting", "Models trained together over the same codes: lanes.")
      .def(py::init<Array<std::uint8_t>, std::shared_ptr<const Bins>, const Array<std::int64_t>&,
                    const Array<std::int8_t>&, std::vector<std::shared_ptr<const Loss>>,
                    std::vector<std::shared_ptr<const WeakLearner>>, const Array<double>&,
                    const Array<double>&, const Array<double>&, const std::string&,
                    const std::string&, const std::string&, double, std::optional<Array<double>>,
                    std::optional<Array<double>>, bool, std::shared_ptr<const Vote>,
                    const std::vector<std::uint16_t>&, double, double, double, int>(),
           "codes"_a, "bins"_a, "segments"_a, "roles"_a, "losses"_a, "learners"_a, py::kw_only(),
           "gain"_a, "learning_rate"_a, "prior"_a, "selection"_a, "response"_a, "step"_a, "l2"_a,
           "weight"_a = py::none(), "base"_a = py::none(), "keep_rounds"_a = true,
           "vote"_a = py::none(), "groups"_a = std::vector<std::uint16_t>(), "rho"_a = 1.0,
           "damping"_a = 0.0, "mistrust"_a = 0.0, "n_threads"_a = 1)
      .def_property_readonly("n_models", &Borrowed::size)
      .def_property_readonly("n_estimators", &Borrowed::n_estimators)
      .def_property_readonly("code_counts", &Borrowed::code_counts)
      .def("advance", &Borrowed::advance, "n_estimators"_a, "models"_a = py::none(),
           "progress"_a = py::none())
      .def("separated", &Borrowed::separated, "model"_a)
      .def("curves", &Borrowed::curves, "model"_a)
      .def("held_out", &Borrowed::held_out, "model"_a)
      .def("raw", &Borrowed::raw, "model"_a)
      .def("rounds", &Borrowed::rounds, "model"_a, "group"_a = 0);
}
