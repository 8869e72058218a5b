// Bindings of the parts of a round: weak learners, votes and algorithms, each by its name.
#include "properboost/rounds/algorithm.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "classes.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/learners/fields.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/learners/smoothing.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/votes/vote.hpp"
#include "settings.hpp"

namespace properboost::bindings {
namespace {

namespace py = pybind11;

void check_between(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  std::ostringstream message;
  message << name << " must be between " << low << " and " << high << "; got " << value;
  throw py::value_error(message.str());
}

void check_at_least_0(const char* name, double value) {
  check_between(name, value, 0.0, std::numeric_limits<double>::max());
}

void check(const TableFields& fields) {
  // A cell's number is a byte, and so is that of no cell.
  if (fields.max_cells == 1 || fields.max_cells > 255) {
    throw py::value_error("max_cells must be between 2 and 255, or 0");
  }
  check_at_least_0("min_saving", fields.min_saving);
  check_between("smoothing", fields.smoothing, 0.0, learners::Smoothing::kMost);
}

void check(const StumpFields& /*fields*/) {}

void check(const GrownFields& fields) {
  check_at_least_0("min_child_weight", fields.min_child_weight);
  check_between("max_features", fields.max_features, 0.0, 1.0);
  check_between("subsample", fields.subsample, 0.0, 1.0);
}

void check(const TreeFields& fields) {
  check(static_cast<const GrownFields&>(fields));
  const TreeLimits limits(fields);
  if (fields.grow_policy != "best_first" && !limits.by_level()) {
    throw py::value_error("grow_policy must be 'best_first' or 'symmetric'; got '" +
                          fields.grow_policy + "'");
  }
  // A node's number is a byte.
  if (fields.max_leaf_nodes > TreeLimits::kMostLeaves) {
    throw py::value_error("max_leaf_nodes must be between 1 and 128, or 0");
  }
  if (limits.by_level() && limits.depth > TreeGrower::kMostLevels) {
    throw py::value_error("max_depth must be at most 7 where trees grow by level");
  }
  check_at_least_0("linear_l2", fields.linear_l2);
}

void check(const RuleFields& fields) {
  check(static_cast<const GrownFields&>(fields));
  if (fields.max_conditions < 1 || fields.max_conditions > (TreeGrower::kMostNodes - 1) / 2) {
    throw py::value_error("max_conditions must be between 1 and 127");
  }
}

void check(const LearnerOptions& options) {
  check_between("min_relative_decrease", options.min_relative_decrease, 0.0, 1.0);
  check_between("max_features", options.max_features, 0.0, 1.0);
  for (const std::int8_t direction : options.directions) {
    if (direction < -1 || direction > 1) throw py::value_error("directions must be -1, 0 or 1");
  }
  for (const std::vector<std::uint32_t>& set : options.interactions.sets) {
    if (!std::is_sorted(set.begin(), set.end())) {
      throw py::value_error("interaction_sets must have features in ascending order");
    }
  }
}

LearnerOptions take_options(Settings& settings) {
  LearnerOptions options;
  settings.take("seed", options.seed);
  settings.take("directions", options.directions);
  settings.take("interaction_limit", options.interactions.most);
  settings.take("interaction_sets", options.interactions.sets);
  settings.take("allows_for_chance", options.allows_for_chance);
  settings.take("min_relative_decrease", options.min_relative_decrease);
  settings.take("max_features", options.max_features);
  std::optional<std::string> criterion;
  settings.take("criterion", criterion);
  if (criterion) options.criterion = make_impurity("criterion", *criterion, 0.0);
  check(options);
  return options;
}

std::shared_ptr<WeakLearner> make_learner(const py::object& mapping) {
  Settings settings(mapping);
  std::string name;
  settings.take("name", name);
  LearnerFields fields = weak_learner_fields(name);
  // The learner's fields come first: a tree's max_features is a field, not an option.
  std::visit(
      [&](auto& of_learner) {
        of_learner.visit([&](const char* key, auto& member) { settings.take(key, member); });
        check(of_learner);
      },
      fields);
  const LearnerOptions options = take_options(settings);
  settings.require_none_left("a weak learner '" + name + "'");
  return make_weak_learner(fields, options);
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
      .def(py::init(&bindings::make_learner), "settings"_a);
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
