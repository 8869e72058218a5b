#include "choices.hpp"

#include <cstddef>
#include <map>

#include "properboost/learners/learner.hpp"

namespace properboost::selftest {

namespace {

class Called final : public MarginFunction {
 public:
  void operator()(const float* u, float* out, std::size_t n) const override {
    for (std::size_t i = 0; i < n; ++i) out[i] = u[i] > 0.0f ? 1.0f / (1.0f + u[i]) : 1.0f;
  }
};

// Loss "table": a look-up table of weights 1 / (1 + u) on the right, which mirror on the left.
std::unique_ptr<Loss> make_table() {
  LossTable table{1.0, 0.0, {}, {}, {}, {}};
  for (const double z : loss_knots()) {
    const double tail = 0.5 / (1.0 + z), slope = -0.5 / ((1.0 + z) * (1.0 + z));
    table.right.push_back(tail);
    table.right_slope.push_back(slope);
    table.left.push_back(1.0 - tail);
    table.left_slope.push_back(-slope);
  }
  return make_tabulated_loss("table", table);
}

}  // namespace

std::unique_ptr<Loss> loss_of(const std::string& name) {
  if (name == "table") return make_table();
  if (name == "called") {
    return make_called_loss(make_table(), std::make_shared<Called>(), nullptr);
  }
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.3;
  return make_loss(name, parameters);
}

std::vector<std::string> all_losses() {
  std::vector<std::string> names = loss_names();
  names.insert(names.end(), {"table", "called"});
  return names;
}

LearnerOptions usual_options() {
  LearnerOptions options;
  options.limits.leaves = 12;
  options.literals = 3;
  return options;
}

std::unique_ptr<WeakLearner> learner_of(const std::string& name, const LearnerOptions& options) {
  return make_weak_learner(name, options);
}

}  // namespace properboost::selftest
