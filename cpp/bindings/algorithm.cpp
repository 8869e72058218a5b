// What every round does: weak learners, votes and algorithms, each by its name.
#include "properboost/rounds/algorithm.hpp"

#include <pybind11/stl.h>

#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/learners/smoothing.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/votes/vote.hpp"

namespace properboost::bindings {
namespace {

namespace py = pybind11;

void check_between(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  std::ostringstream message;
  message << name << " must be between " << low << " and " << high << "; got " << value;
  throw py::value_error(message.str());
}

std::shared_ptr<WeakLearner> make_learner(
    const std::string& name, double smoothing, std::size_t max_cells, double min_saving,
    std::size_t max_leaves, std::size_t max_depth, double min_child_weight, double max_features,
    std::vector<std::int8_t> directions, std::size_t max_literals, double subsample,
    std::uint64_t seed, const std::optional<std::string>& criterion, bool allows_for_chance,
    bool by_level, bool linear_leaves, double linear_l2, double linear_rows,
    double min_relative_decrease) {
  // A cell's number is a byte, and so is that of no cell.
  if (max_cells == 1 || max_cells > 255) {
    throw py::value_error("max_cells must be between 2 and 255, or 0");
  }
  // A node's number is a byte.
  if (max_leaves < 1 || 2 * max_leaves - 1 > TreeGrower::kMostNodes) {
    throw py::value_error("max_leaves must be between 1 and 128");
  }
  if (max_literals < 1 || 2 * max_literals + 1 > TreeGrower::kMostNodes) {
    throw py::value_error("max_literals must be between 1 and 127");
  }
  if (max_depth < 1) throw py::value_error("max_depth must be at least 1");
  if (by_level && max_depth > TreeGrower::kMostLevels) {
    throw py::value_error("max_depth must be at most 7 where trees grow by level");
  }
  check_between("min_saving", min_saving, 0.0, std::numeric_limits<double>::max());
  check_between("smoothing", smoothing, 0.0, learners::Smoothing::kMost);
  check_between("max_features", max_features, 0.0, 1.0);
  check_between("subsample", subsample, 0.0, 1.0);
  check_between("linear_l2", linear_l2, 0.0, std::numeric_limits<double>::max());
  check_between("linear_rows", linear_rows, 0.0, std::numeric_limits<double>::max());
  if (linear_leaves && name != "tree") {
    throw py::value_error("linear_leaves must be false unless weak_learner is 'tree'");
  }
  check_between("min_child_weight", min_child_weight, 0.0, std::numeric_limits<double>::max());
  check_between("min_relative_decrease", min_relative_decrease, 0.0, 1.0);
  for (const std::int8_t direction : directions) {
    if (direction < -1 || direction > 1) throw py::value_error("directions must be -1, 0 or 1");
  }
  std::optional<std::shared_ptr<const Criterion>> impurity;
  if (criterion) {
    impurity = make_impurity("criterion", *criterion, 0.0);
  }
  TreeLimits limits{max_leaves, max_depth, min_child_weight, max_features};
  limits.chance = allows_for_chance ? 2.0 : 0.0;
  limits.by_level = by_level;
  limits.least_decrease = min_relative_decrease;
  if (by_level) limits.leaves = std::size_t{1} << max_depth;
  const LearnerOptions options{std::move(impurity),
                               smoothing,
                               max_cells,
                               min_saving,
                               std::move(limits),
                               max_literals,
                               subsample,
                               seed,
                               std::move(directions),
                               LineLimits{linear_leaves, linear_l2, linear_rows}};
  return make_weak_learner(name, options);
}

std::shared_ptr<Vote> make_vote(const std::string& name, std::size_t targets,
                                const std::string& criterion) {
  if (criterion != "gini" && criterion != "error") {
    throw py::value_error("criterion must be 'gini' or 'error'; got '" + criterion + "'");
  }
  if (targets < 2 || targets > 32'767) {
    throw py::value_error("targets must be between 2 and 32767; got " + std::to_string(targets));
  }
  return properboost::make_vote(name, targets,
                                criterion == "gini" ? VoteCriterion::kGini : VoteCriterion::kError);
}

std::shared_ptr<AdditiveBoosting> make_additive(const std::string& selection,
                                                const std::string& response,
                                                const std::string& step, double l2,
                                                std::size_t classes, const std::string& joint_loss,
                                                std::size_t lanes, bool shared_trees,
                                                std::size_t screening) {
  if (lanes < 1 || lanes > kMostLanes) throw py::value_error("lanes must be between 1 and 16");
  return std::make_shared<AdditiveBoosting>(
      Choices{make_selection(selection), make_response(response), make_step(step), screening}, l2,
      Coupling{classes, joint_loss, lanes, shared_trees});
}

std::shared_ptr<VoteBoosting> make_voting(std::shared_ptr<const Vote> vote,
                                          std::vector<std::uint16_t> targets,
                                          const std::string& step, double rho, double damping,
                                          double mistrust) {
  for (const std::uint16_t target : targets) {
    if (target >= vote->targets)
      throw py::value_error("targets must be below the vote's number of targets");
  }
  if (targets.empty()) throw py::value_error("targets must have an entry per segment");
  check_between("rho", rho, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
  check_between("damping", damping, 0.0, 1.0);
  check_between("mistrust", mistrust, 0.0, std::numeric_limits<double>::max());
  VoteTargets of_segments{vote->targets, std::move(targets)};
  return std::make_shared<VoteBoosting>(make_vote_step(step), std::move(vote),
                                        std::move(of_segments), rho,
                                        VoteWeighting{damping, mistrust});
}

}  // namespace
}  // namespace properboost::bindings

void bind_algorithm(pybind11::module_& m) {
  namespace py = pybind11;
  using namespace py::literals;
  using namespace properboost;
  m.def("weak_learner_names", &weak_learner_names);
  m.def("response_names", &response_names);
  m.def("step_names", &step_names);
  m.def("vote_step_names", &vote_step_names);
  m.def("vote_names", &vote_names);
  m.def("selection_names", &selection_names);
  properboost::bindings::make_class<WeakLearner, std::shared_ptr<WeakLearner>>(
      m, "WeakLearner", "A weak learner with its options.")
      .def(py::init(&bindings::make_learner), "name"_a, py::kw_only(), "smoothing"_a = 0.0,
           "max_cells"_a = 0, "min_saving"_a = 0.0, "max_leaves"_a = 31,
           "max_depth"_a = TreeLimits::kUnlimited, "min_child_weight"_a = 0.0,
           "max_features"_a = 1.0, "directions"_a = std::vector<std::int8_t>(),
           "max_literals"_a = 2, "subsample"_a = 1.0, "seed"_a = 0, "criterion"_a = py::none(),
           "allows_for_chance"_a = false, "by_level"_a = false, "linear_leaves"_a = false,
           "linear_l2"_a = 0.0, "linear_rows"_a = 0.0, "min_relative_decrease"_a = 0.0);
  properboost::bindings::make_class<Vote, std::shared_ptr<Vote>>(
      m, "Vote", "How a weak classifier votes in a cell.")
      .def(py::init(&bindings::make_vote), "name"_a, "targets"_a, "criterion"_a = "gini");
  // NOLINTNEXTLINE(bugprone-unused-raii): making it registers the class
  properboost::bindings::make_class<Algorithm, std::shared_ptr<Algorithm>>(
      m, "Algorithm", "What every round does.");
  properboost::bindings::make_class<AdditiveBoosting, Algorithm, std::shared_ptr<AdditiveBoosting>>(
      m, "AdditiveBoosting", "Adds look-up tables and trees.")
      .def(py::init(&bindings::make_additive), py::kw_only(), "selection"_a = "greedy",
           "response"_a = "real", "step"_a = "guarded", "l2"_a = 0.0, "classes"_a = 1,
           "joint_loss"_a = "", "lanes"_a = kMostLanes, "shared_trees"_a = false,
           "screening"_a = 0);
  properboost::bindings::make_class<VoteBoosting, Algorithm, std::shared_ptr<VoteBoosting>>(
      m, "VoteBoosting", "Adds weak classifiers that vote.")
      .def(py::init(&bindings::make_voting), py::arg("vote").none(false), "targets"_a,
           py::kw_only(), "step"_a = "adaptive", "rho"_a = 1.0, "damping"_a = 0.0,
           "mistrust"_a = 0.0);
}
