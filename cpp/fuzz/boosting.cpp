// Boosting small problems of any shape, by any algorithm: the results are finite, or an error
// explains why not; and they do not depend on threads, nor on which features are sparse.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <variant>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/booster.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/votes/vote.hpp"
#include "tables.hpp"

using namespace properboost;
using namespace properboost::fuzz;

namespace {

std::unique_ptr<Loss> read_loss(Bytes& bytes) {
  const std::string name = bytes.pick(loss_names());
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.49 * bytes.share() + 0.01;
  return make_loss(name, parameters);
}

// Fields of all weak learners are read, whichever it is: so other bytes keep their meaning.
std::unique_ptr<WeakLearner> read_learner(Bytes& bytes, std::size_t features) {
  LearnerOptions options;
  if (bytes.below(3) == 2) {
    options.criterion = make_impurity("criterion", bytes.pick(impurity_names()), 0.0);
  }
  TableFields table;
  TreeFields tree;
  RuleFields rule;
  table.smoothing = 0.25 * bytes.share();
  if (table.smoothing > 0.2) table.smoothing *= 100.0;  // refused with some responses
  tree.max_leaf_nodes = bytes.between(1, TreeLimits::kMostLeaves);
  tree.max_depth = bytes.between(1, 10);
  tree.min_child_weight = bytes.flip() ? bytes.power_of_ten(-3, 3) : 0.0;
  tree.max_features = options.max_features = bytes.share();
  if (bytes.below(4) == 3) {
    for (std::size_t f = 0; f < features; ++f) {
      options.directions.push_back(static_cast<std::int8_t>(static_cast<int>(bytes.below(3)) - 1));
    }
  }
  rule.max_conditions = bytes.between(1, 127);
  tree.subsample = bytes.share();
  options.seed = bytes.below(256);
  if (bytes.below(4) == 3) table.max_cells = bytes.between(2, 255);
  if (bytes.below(2) == 1) table.min_saving = static_cast<double>(bytes.below(256)) / 64.0;
  if (bytes.below(4) == 3) {
    tree.grow_policy = "symmetric";
    tree.max_depth = std::min(tree.max_depth, TreeGrower::kMostLevels);
  }
  if (bytes.below(4) == 3) options.min_relative_decrease = bytes.share();
  static_cast<GrownFields&>(rule) = tree;
  LearnerFields fields = weak_learner_fields(bytes.pick(weak_learner_names()));
  if (std::holds_alternative<TableFields>(fields)) fields = table;
  if (std::holds_alternative<TreeFields>(fields)) fields = tree;
  if (std::holds_alternative<RuleFields>(fields)) fields = rule;
  return make_weak_learner(fields, options);
}

// A random algorithm: votes, or an additive one and its l2.
struct AlgorithmDraw {
  std::unique_ptr<Algorithm> votes;
  Choices choices;
  double l2 = 0.0;
};

AlgorithmDraw read_algorithm(Bytes& bytes, std::size_t segments) {
  if (bytes.below(3) == 2) {
    VoteTargets targets{bytes.between(2, 5), {}};
    for (std::size_t s = 0; s < segments; ++s) {
      targets.of_segment.push_back(static_cast<std::uint16_t>(bytes.below(targets.count)));
    }
    const std::string vote = bytes.pick(vote_names());
    const VoteCriterion criterion = bytes.flip() ? VoteCriterion::kGini : VoteCriterion::kError;
    const std::string step = bytes.pick(vote_step_names());
    const double rho = bytes.power_of_ten(-3, 3);
    const double damping = bytes.flip() ? bytes.share() : 0.0;
    const double mistrust = bytes.flip() ? bytes.power_of_ten(-3, 3) : 0.0;
    return {std::make_unique<VoteBoosting>(make_vote_step(step),
                                           properboost::make_vote(vote, targets.count, criterion),
                                           targets, rho, VoteWeighting{damping, mistrust}),
            {}};
  }
  const std::string selection = bytes.pick(selection_names());
  const std::string response = bytes.pick(response_names());
  const std::string step = bytes.pick(step_names());
  return {nullptr,
          {make_selection(selection), make_response(response), make_step(step)},
          bytes.flip() ? bytes.power_of_ten(-6, 6) : 0.0};
}

// Makes each model a joint one of several classes, if the input draws one.
Coupling couple(Bytes& bytes, std::vector<Model>& models) {
  Coupling coupling;
  if (bytes.below(4) != 3) return coupling;
  coupling.classes = bytes.between(2, 36);
  coupling.joint_loss = bytes.pick(joint_loss_names());
  coupling.lanes = bytes.flip() ? bytes.between(1, kMostLanes) : kMostLanes;
  std::vector<Model> joint;
  for (const Model& model : models) {
    std::vector<std::size_t> class_of;
    for (std::size_t s = 0; s < model.roles.size(); ++s) {
      class_of.push_back(bytes.below(coupling.classes));
    }
    for (std::size_t k = 0; k < coupling.classes; ++k) {
      joint.push_back(model);
      for (std::size_t s = 0; s < model.roles.size(); ++s) {
        Role& role = joint.back().roles[s];
        const bool is_of_class = class_of[s] == k;
        if (learns(role)) role = is_of_class ? Role::kPositive : Role::kNegative;
        if (is_held_out(role)) role = is_of_class ? Role::kHeldOutPositive : Role::kHeldOutNegative;
      }
    }
  }
  models = std::move(joint);
  return coupling;
}

void check(const Rounds& rounds, std::size_t features) {
  const std::size_t n = rounds.feature.size();
  require(rounds.cost.size() == n && rounds.step.size() == n && rounds.risk.size() == n &&
              rounds.offsets.size() == n + 1,
          "an entry per round");
  require(all_finite(rounds.values) && all_finite(rounds.step) && all_finite(rounds.risk),
          "rounds are finite");
  require(rounds.offsets.back() == static_cast<std::int64_t>(rounds.values.size()), "offsets");
  for (std::size_t t = 0; t < n; ++t) {
    const std::int32_t f = rounds.feature[t];
    require(f == Rounds::kTree || static_cast<std::size_t>(f) < features, "a feature's position");
    if (f != Rounds::kTree) continue;
    const auto root = static_cast<std::size_t>(rounds.offsets[t]);
    const auto end = static_cast<std::size_t>(rounds.offsets[t + 1]);
    require(end <= rounds.trees.size(), "a value per node");
    for (std::size_t node = root; node < end; ++node) {
      if (rounds.trees.is_leaf(node)) continue;
      const auto child = static_cast<std::size_t>(rounds.trees.left[node]);
      require(child > node - root && child + 1 < end - root, "children follow their parents");
    }
  }
}

bool same(const Rounds& a, const Rounds& b) {
  return fuzz::same(a.feature, b.feature) && fuzz::same(a.cost, b.cost) &&
         fuzz::same(a.step, b.step) && fuzz::same(a.risk, b.risk) && fuzz::same(a.values, b.values);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t features = bytes.between(1, 5);
  const std::size_t rows = bytes.below(16) == 15 ? bytes.between(1, 9000) : bytes.between(1, 200);
  const Bins bins = read_all_bins(bytes, features);
  const std::vector<std::uint8_t> codes = read_codes(bytes, bins, rows);
  const std::vector<std::size_t> segments = read_segments(bytes, rows);
  std::vector<double> weights, base;
  if (bytes.flip()) {
    const int octaves = static_cast<int>(bytes.below(40));
    for (std::size_t i = 0; i < rows; ++i) {
      weights.push_back(std::ldexp(1.0 + bytes.unit(),
                                   static_cast<int>(bytes.content_below(40)) % (octaves + 1) - 20));
    }
  }
  const std::size_t n_models = bytes.below(4) == 3 ? bytes.between(1, 18) : 1;
  if (bytes.below(4) == 3) {
    const double scale = bytes.power_of_ten(-3, 3);
    for (std::size_t i = 0; i < rows; ++i) base.push_back(scale * (bytes.unit() - 0.5));
  }
  AlgorithmDraw drawn = read_algorithm(bytes, segments.size() - 1);
  const std::unique_ptr<Loss> loss = read_loss(bytes);
  const std::unique_ptr<WeakLearner> learner = read_learner(bytes, features);
  std::vector<Model> models;
  for (std::size_t m = 0; m < n_models; ++m) {
    const double gain = bytes.power_of_ten(-3, 3);
    const double rate = bytes.flip() ? bytes.power_of_ten(-3, 1) : 1.0;
    const double prior = bytes.flip() ? bytes.power_of_ten(-9, 1) : 0.0;
    models.push_back(
        {loss.get(), learner.get(), gain, rate, prior, read_roles(bytes, segments.size() - 1)});
  }
  const bool keep_rounds = bytes.below(4) != 3;
  const std::size_t estimators = bytes.between(1, 5);
  std::unique_ptr<Algorithm> algorithm = std::move(drawn.votes);
  std::size_t coupled = 1;
  if (!algorithm) {
    const Coupling coupling = couple(bytes, models);
    coupled = coupling.classes;
    algorithm = std::make_unique<AdditiveBoosting>(drawn.choices, drawn.l2, coupling);
  }
  std::vector<std::size_t> all(models.size());
  std::iota(all.begin(), all.end(), std::size_t{0});

  const SparseForm sparse(codes, rows, bytes.below(2));
  const auto boost = [&](int threads, bool is_sparse) -> std::unique_ptr<Boosting> {
    const Codes dense{codes.data(), rows, segments};
    Rows input{is_sparse ? sparse.borrow(rows, segments) : dense, bins};
    if (!weights.empty()) input.sample_weight = RowSampleWeights(weights.data());
    if (!base.empty()) input.base = Base{base.data(), 0};
    try {
      auto boosting = std::make_unique<Boosting>(input, models, *algorithm, keep_rounds);
      for (int call = 0; call < 2; ++call) {
        on_threads(threads, [&](Team& team) { boosting->advance(estimators, all, {}, team); });
      }
      return boosting;
    } catch (const std::invalid_argument&) {
      return nullptr;
    }
  };
  const std::unique_ptr<Boosting> alone = boost(1, false);
  const std::unique_ptr<Boosting> shared = boost(3, false);
  const std::unique_ptr<Boosting> by_entries = boost(2, true);
  require((alone == nullptr) == (shared == nullptr), "errors do not depend on threads");
  require(alone != nullptr || by_entries == nullptr, "errors do not depend on sparse features");
  if (!alone) return 0;
  for (std::size_t m = 0; m < models.size(); ++m) {
    const FitState& a = alone->state(m);
    const FitState& b = shared->state(m);
    require(all_finite(alone->raw(m)) && all_finite(alone->held_out(m)), "finite predictions");
    require(fuzz::same(alone->raw(m), shared->raw(m)), "predictions do not depend on threads");
    const FitState& first = alone->state(m / coupled * coupled);
    require(a.n_estimators == first.n_estimators && a.finished == first.finished,
            "the classes of a joint model go on together");
    require(fuzz::same(a.log_loss, b.log_loss) && fuzz::same(a.brier, b.brier),
            "scores do not depend on threads");
    for (std::size_t target = 0; target < a.rounds.size(); ++target) {
      check(a.rounds[target], features);
      require(same(a.rounds[target], b.rounds[target]), "rounds do not depend on threads");
      require(!by_entries || same(a.rounds[target], by_entries->state(m).rounds[target]),
              "rounds do not depend on which features are sparse");
    }
  }
  return 0;
}
