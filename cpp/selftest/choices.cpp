#include "choices.hpp"

#include <cstddef>
#include <map>
#include <variant>

#include "properboost/learners/learner.hpp"

namespace properboost::selftest {

namespace {

class CalledFunction final : public MarginFunction {
 public:
  void operator()(const float* u, float* out, std::size_t n) const override {
    for (std::size_t i = 0; i < n; ++i) out[i] = u[i] > 0.0f ? 1.0f / (1.0f + u[i]) : 1.0f;
  }
};

// Loss "tabulated": a table of weights 1 / (1 + u) on the right, which mirror on the left.
std::unique_ptr<Loss> make_table() {
  LossTable table{1.0, 0.0, {}, {}, {}, {}};
  for (const double z : loss_knots()) {
    const double tail = 0.5 / (1.0 + z), slope = -0.5 / ((1.0 + z) * (1.0 + z));
    table.right.push_back(tail);
    table.right_slope.push_back(slope);
    table.left.push_back(1.0 - tail);
    table.left_slope.push_back(-slope);
  }
  return make_tabulated_loss("tabulated", table);
}

}  // namespace

std::unique_ptr<Loss> loss_of(const std::string& name) {
  if (name == "tabulated") return make_table();
  if (name == "called") {
    return make_called_loss(make_table(), std::make_shared<CalledFunction>(), nullptr);
  }
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.3;
  return make_loss(name, parameters);
}

std::vector<std::string> all_losses() {
  std::vector<std::string> names = loss_names();
  names.insert(names.end(), {"tabulated", "called"});
  return names;
}

LearnerChoice usual_choice() {
  LearnerChoice choice;
  choice.set_grown(&GrownFields::min_child_weight, 0.0);
  choice.set_grown(&GrownFields::max_features, 1.0);
  choice.tree.max_leaf_nodes = 12;
  choice.rule.max_conditions = 3;
  return choice;
}

std::unique_ptr<WeakLearner> learner_of(const std::string& name, const LearnerChoice& choice) {
  LearnerFields fields = weak_learner_fields(name);
  if (std::holds_alternative<TableFields>(fields)) fields = choice.table;
  if (std::holds_alternative<TreeFields>(fields)) fields = choice.tree;
  if (std::holds_alternative<RuleFields>(fields)) fields = choice.rule;
  return make_weak_learner(fields, choice.options);
}

}  // namespace properboost::selftest
