#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>

#include "properboost/boosting/booster.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/pairs.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/impurities/registry.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/learners/registry.hpp"
#include "properboost/rado/boost.hpp"
#include "properboost/rado/rados.hpp"
#include "properboost/rado/regularizers/registry.hpp"
#include "properboost/responses/registry.hpp"
#include "properboost/steps/registry.hpp"
#include "properboost/trees/tree_grower.hpp"
#include "properboost/votes/registry.hpp"
#include "random.hpp"

namespace properboost::selftest {

namespace {

constexpr std::size_t kEstimators = 4;
constexpr std::size_t kClasses = 3;
constexpr std::size_t kFolds = 3;
constexpr double kShared = 1e9;  // nanoseconds: a team always gets its threads

// FNV-1a over the bits of numbers.  A NaN's bits depend on the processor, but not that it is one.
class Digest {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) {
      state_ = (state_ ^ (word >> shift & 0xff)) * 0x100000001b3u;
    }
  }
  void add(double x) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (!std::isnan(x)) std::memcpy(&bits, &x, sizeof bits);
    add(bits);
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(static_cast<std::uint64_t>(numbers.size()));
    for (const Number x : numbers) {
      if constexpr (std::is_floating_point_v<Number>) {
        add(static_cast<double>(x));
      } else {
        add(static_cast<std::uint64_t>(x));
      }
    }
  }
  void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }
  void add(const Cell& cell) {
    add(cell.positive);
    add(cell.negative);
  }
  void add(const Tree& tree) {
    add(tree.feature);
    add(tree.left);
    add(tree.saving);
    for (std::size_t node = 0; node < tree.size(); ++node) {
      for (const std::uint64_t word : tree.goes_left[node].bits) add(word);
      for (const std::uint64_t word : tree.goes_right[node].bits) add(word);
      add(tree.cell[node]);
    }
  }
  void add(const Rounds& rounds) {
    add(rounds.feature);
    add(rounds.cost);
    add(rounds.step);
    add(rounds.risk);
    add(rounds.offsets);
    add(rounds.values);
    add(rounds.trees);
  }
  void add(const FitState& state) {
    for (const Rounds& rounds : state.rounds) add(rounds);
    add(state.log_loss);
    add(state.error);
    add(state.brier);
    add(std::uint64_t{state.n_estimators});
    add(std::uint64_t{state.finished});
    add(std::uint64_t{state.separated});
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

template <class T>
Column column_of(const std::vector<T>& values, Type type) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T), type};
}

}  // namespace

// Rows of three classes in three folds, sorted by both; columns of several types, with missing
// values and categories, codes both few and many.
struct Problem {
  std::size_t rows;
  std::array<std::vector<double>, 3> numbers;
  std::array<std::vector<float>, 2> singles;
  std::vector<std::int16_t> counts;
  std::vector<std::uint8_t> levels;
  std::vector<std::int8_t> categories;
  std::vector<double> side_by_side;  // the same as `numbers`, row by row
  std::vector<double> weight, base;
  std::vector<std::uint8_t> positive;
  std::vector<std::size_t> segments{0};  // [class][fold]
  Table table, by_row;
  std::vector<FeatureBins> features;
  std::vector<std::uint8_t> codes;

  explicit Problem(std::size_t n) : rows(n) {
    Random random(7);
    constexpr std::size_t kColumns = 8;
    using Row = std::array<double, kColumns>;
    std::vector<std::vector<Row>> sorted(kClasses * kFolds);
    for (std::size_t i = 0; i < n; ++i) {
      Row x;
      for (double& value : x) value = random.next();
      const double raw = 3 * x[0] - 2 * x[1] * x[1] + (x[2] > 0.7 ? 1.0 : 0.0) +
                         (x[3] - 0.5) * (x[4] - 0.5) * 4 + x[7] + 1.5 * random.next();
      const std::size_t its_class = raw > 3.0 ? 2 : raw > 2.0 ? 1 : 0;
      sorted[its_class * kFolds + i % kFolds].push_back(x);
    }
    constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t s = 0; s < sorted.size(); ++s) {
      for (const Row& x : sorted[s]) {
        for (std::size_t f = 0; f < numbers.size(); ++f) {
          const double value = f == 1 && x[0] > 0.95 ? kMissing : x[f];
          numbers[f].push_back(value);
          side_by_side.push_back(value);
        }
        singles[0].push_back(static_cast<float>(x[3] * x[3] * 1e6));
        singles[1].push_back(static_cast<float>(std::floor(x[4] * 20)));
        counts.push_back(static_cast<std::int16_t>(x[5] * 4000 - 2000));
        levels.push_back(static_cast<std::uint8_t>(x[6] * x[6] * 3));
        categories.push_back(static_cast<std::int8_t>(x[7] * 9 - 1));  // -1: missing
        weight.push_back(0.5 + random.next());
        base.push_back(random.next() - 0.5);
        positive.push_back(s >= kFolds ? 1 : 0);
      }
      segments.push_back(weight.size());
    }
    table.rows = by_row.rows = n;
    for (const auto& values : numbers) table.columns.push_back(column_of(values, Type::f64));
    for (const auto& values : singles) table.columns.push_back(column_of(values, Type::f32));
    table.columns.push_back(column_of(counts, Type::i16));
    table.columns.push_back(column_of(levels, Type::u8));
    table.columns.push_back(column_of(categories, Type::i8));
    constexpr auto kStride = static_cast<std::ptrdiff_t>(3 * sizeof(double));
    for (std::size_t f = 0; f < numbers.size(); ++f) {
      by_row.columns.push_back(
          {reinterpret_cast<const char*>(side_by_side.data() + f), kStride, Type::f64});
    }
    Team team = Team::alone();
    const auto edges = find_edges(table, RowSampleWeights(), 40, n, 0, team);
    for (std::size_t f = 0; f + 1 < kColumns; ++f) features.emplace_back(edges[f]);
    features.emplace_back(8);
    features[0] = FeatureBins(find_edges(table, RowSampleWeights(), 255, n, 0, team)[0]);
    codes.resize(kColumns * n);
    bins().encode(table, RowOrder{}, n, codes.data(), team);
  }

  Bins bins() const { return Bins(features); }
  Codes borrow() const { return {codes.data(), rows, segments}; }
  // The first class against the others; the rows of one fold are held out, or of none.
  static std::vector<Role> roles(std::size_t fold) {
    std::vector<Role> result;
    for (std::size_t k = 0; k < kClasses; ++k) {
      for (std::size_t s = 0; s < kFolds; ++s) {
        const int held = s == fold ? 2 : 1;
        result.push_back(static_cast<Role>(k == 0 ? -held : held));
      }
    }
    return result;
  }
};

namespace {

using Sizes = std::initializer_list<std::size_t>;
using SharedProblem = std::shared_ptr<const Problem>;

struct Choice {
  std::string learner = "histogram", response = "real", step = "guarded", selection = "greedy";
  std::string loss = "glog";
  std::string criterion = {};
  LearnerOptions options = {};
  double l2 = 0.0;
  double prior = 0.0;
  std::size_t models = 1;
  bool weighted = true, from_base = false, keep_rounds = true;

  Choice() {
    options.limits.leaves = 12;
    options.literals = 3;
  }
};

bool grows(const std::string& learner) { return learner == "tree" || learner == "monomial"; }

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

std::unique_ptr<Loss> loss_of(const std::string& name) {
  if (name == "table") return make_table();
  if (name == "called") {
    return make_called_loss(make_table(), std::make_shared<Called>(), nullptr);
  }
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.3;
  return make_loss(name, parameters);
}

std::unique_ptr<WeakLearner> learner_of(const Choice& choice) {
  LearnerOptions options = choice.options;
  if (!choice.criterion.empty()) {
    options.criterion =
        impurities::Builtins::make<Criterion, BoundImpurity>("criterion", choice.criterion, 0.0);
  }
  return learners::Builtins::make<WeakLearner>("weak_learner", choice.learner, options);
}

// A case's name.
template <class... Parts>
std::string join(const std::string& first, const Parts&... parts) {
  std::string name = first;
  ((name += '-', name += parts), ...);
  return name;
}

std::vector<std::size_t> count_up(std::size_t n) {
  std::vector<std::size_t> all;
  for (std::size_t m = 0; m < n; ++m) all.push_back(m);
  return all;
}

void advance(Boosting& boosting, std::size_t estimators, const Run& run) {
  Team::run(run.threads, kShared, [&](Team& team) {
    boosting.advance(
        estimators, count_up(boosting.size()), [&](std::size_t, double) { run.progress(); }, team);
  });
}

// What boosting found, after two calls.
std::uint64_t digest_of(Boosting& boosting, const Run& run) {
  advance(boosting, kEstimators / 2, run);
  advance(boosting, kEstimators - kEstimators / 2, run);
  Digest digest;
  for (std::size_t m = 0; m < boosting.size(); ++m) {
    digest.add(boosting.state(m));
    digest.add(boosting.held_out(m));
    digest.add(boosting.raw(m));
  }
  digest.add(boosting.code_counts());
  return digest.value();
}

std::uint64_t boost(const Problem& problem, const Choice& choice, const Run& run) {
  const std::unique_ptr<Loss> loss = loss_of(choice.loss);
  const std::unique_ptr<WeakLearner> learner = learner_of(choice);
  const std::shared_ptr<const Step> step = steps::Builtins::make<Step>("step", choice.step);
  const AdditiveBoosting algorithm(
      {selections::Builtins::make<Selection>("selection", choice.selection),
       responses::Builtins::make<Response, BoundResponse>("response", choice.response), step},
      choice.l2);
  const bool solved = step->solves() != Solved::kNone;
  std::vector<Model> models;
  for (std::size_t m = 0; m < choice.models; ++m) {
    const double part = static_cast<double>(m % 5);
    models.push_back({loss.get(), learner.get(), 0.5 + part, solved ? 1.0 : 0.7 + 0.1 * part,
                      choice.prior, Problem::roles(m % 4 == 0 ? kFolds : m % 4 - 1)});
  }
  const Bins bins = problem.bins();
  Rows rows{problem.borrow(), bins};
  if (choice.weighted) rows.sample_weight = RowSampleWeights(problem.weight.data());
  if (choice.from_base) rows.base = Base{problem.base.data(), 0};
  Boosting boosting(rows, models, algorithm, choice.keep_rounds);
  return digest_of(boosting, run);
}

struct VoteChoice {
  std::string vote, step, learner;
  VoteCriterion criterion = VoteCriterion::kGini;
  VoteWeighting weighting = {};
};

std::uint64_t boost_votes(const Problem& problem, const VoteChoice& choice, const Run& run) {
  const std::unique_ptr<Loss> loss = make_loss("exponential", {});
  Choice tree;
  tree.learner = choice.learner;
  const std::unique_ptr<WeakLearner> learner = learner_of(tree);
  const bool labels = choice.vote == "labels";
  VoteTargets targets{kClasses, {}};
  std::vector<Role> roles;
  for (std::size_t k = 0; k < kClasses; ++k) {
    for (std::size_t s = 0; s < kFolds; ++s) {
      // Each fold answers for one label.
      targets.of_segment.push_back(static_cast<std::uint16_t>(labels ? s : k));
      roles.push_back(labels && s != k ? Role::kNegative : Role::kPositive);
    }
  }
  const VoteBoosting algorithm(
      steps::ForVotes::make<Step>("step", choice.step),
      votes::Builtins::make<Vote>("vote", choice.vote, kClasses, choice.criterion), targets, 1.0,
      choice.weighting);
  const Bins bins = problem.bins();
  Boosting boosting({problem.borrow(), bins, RowSampleWeights(problem.weight.data())},
                    {{loss.get(), learner.get(), 1.0, 0.8, 0.0, roles}}, algorithm);
  return digest_of(boosting, run);
}

std::uint64_t grow_tree(const Problem& problem, const std::string& phi, const TreeLimits& limits,
                        const Run& run) {
  const Bins bins = problem.bins();
  const Codes codes = problem.borrow();
  const RowSampleWeights weight(problem.weight.data());
  const std::vector<float> ones(problem.rows, 1.0f);
  const auto criterion =
      impurities::Builtins::make<Criterion, BoundImpurity>("phi", phi, phi == "mu" ? 0.5 : 1.0);
  Digest digest;
  Team::run(run.threads, kShared, [&](Team& team) {
    const PackedCodes packed(codes, bins.size(), team);
    TreeGrower grower(codes, packed, bins, Slots::of_classes(Problem::roles(kFolds)));
    const Tree tree = grower.grow({ones.data(), ones.data(), weight}, *criterion, Regularizers{},
                                  limits, 0, run.progress, team);
    digest.add(tree);
    std::vector<std::uint8_t> nodes(problem.rows);
    grower.find_nodes(tree, nodes.data(), team);
    digest.add(nodes);
    std::vector<std::int64_t> found(problem.rows);
    find_nodes(tree, problem.codes.data(), problem.rows, found.data(), team);
    digest.add(found);
    for (const Cell& cell : grower.weigh(tree, weight, team)) digest.add(cell);
  });
  return digest.value();
}

std::uint64_t bin(const Problem& problem, bool weighted, int max_bins, std::size_t sample,
                  const Run& run) {
  const RowSampleWeights weight(weighted ? problem.weight.data() : nullptr);
  Digest digest;
  Team::run(run.threads, kShared, [&](Team& team) {
    for (const Table* table : {&problem.table, &problem.by_row}) {
      std::vector<FeatureBins> features;
      for (const auto& edges : find_edges(*table, weight, max_bins, sample, 3, team)) {
        digest.add(edges);
        features.emplace_back(edges);
      }
      const Bins bins(features);
      std::vector<std::uint8_t> codes(bins.size() * table->rows);
      bins.encode(*table, RowOrder{}, table->rows, codes.data(), team);
      digest.add(codes);
      digest.add(weigh_codes(codes.data(), table->rows, bins, weight, team));
    }
  });
  return digest.value();
}

// A pair whose levels divide both features' codes evenly.
FeaturePair make_pair(const Bins& bins, std::size_t first, std::size_t second) {
  constexpr std::size_t kMostLevels = 12;
  FeaturePair pair{first, second, 0, {}, {}};
  const auto levels = [&](std::size_t f) {
    return std::min<std::size_t>(kMostLevels, static_cast<std::size_t>(bins[f].width()));
  };
  pair.cells = levels(first) * levels(second);
  pair.first_level.fill(FeaturePair::kUnseen);
  pair.second_level.fill(FeaturePair::kUnseen);
  for (const std::size_t f : {first, second}) {
    const auto width = static_cast<std::size_t>(bins[f].width());
    for (std::size_t b = 0; b < width; ++b) {
      const std::size_t level = b * levels(f) / width;
      if (f == first) pair.first_level[b] = static_cast<std::uint16_t>(level * levels(second));
      if (f == second) pair.second_level[b] = static_cast<std::uint16_t>(level);
    }
  }
  return pair;
}

std::vector<FeaturePair> some_pairs(const Bins& bins) {
  return {make_pair(bins, 3, 4), make_pair(bins, 0, 7), make_pair(bins, 5, 6)};
}

std::uint64_t encode_some_pairs(const Problem& problem, const Run& run) {
  const Bins bins = problem.bins();
  const std::vector<FeaturePair> pairs = some_pairs(bins);
  std::vector<std::uint8_t> codes(pairs.size() * problem.rows);
  Team::run(run.threads, kShared, [&](Team& team) {
    encode_pairs(pairs, problem.codes.data(), problem.rows, codes.data(), team);
  });
  Digest digest;
  digest.add(codes);
  return digest.value();
}

std::uint64_t find_pairs(const Problem& problem, const Run& run) {
  const Bins bins = problem.bins();
  std::vector<std::uint8_t> levels(problem.codes.size());
  for (std::size_t f = 0; f < bins.size(); ++f) {
    const auto width = static_cast<std::size_t>(bins[f].width());
    for (std::size_t i = 0; i < problem.rows; ++i) {
      const std::size_t level = problem.codes[f * problem.rows + i] * kLevels / width;
      levels[f * problem.rows + i] = static_cast<std::uint8_t>(level);
    }
  }
  std::vector<float> gradient, variance;
  for (std::size_t i = 0; i < problem.rows; ++i) {
    gradient.push_back(static_cast<float>(problem.base[i]));
    variance.push_back(static_cast<float>(0.25 * problem.weight[i]));
  }
  Digest digest;
  Team::run(run.threads, kShared, [&](Team& team) {
    digest.add(find_strengths(levels.data(), bins.size(), problem.rows, gradient.data(),
                              variance.data(), 1.25, run.progress, team));
  });
  return digest.value();
}

std::uint64_t predict_tables(const Problem& problem, std::size_t models, const Run& run) {
  const Bins bins = problem.bins();
  const std::vector<FeaturePair> pairs = some_pairs(bins);
  std::size_t width = bins.total_width();
  for (const FeaturePair& pair : pairs) width += pair.width();
  Random random(7);
  std::vector<double> tables(models * width), out(models * problem.rows);
  for (double& entry : tables) entry = random.next() - 0.5;
  Team::run(run.threads, kShared, [&](Team& team) {
    predict_raw(problem.table, bins, pairs, tables.data(), models, out.data(), team);
  });
  Digest digest;
  digest.add(out);
  return digest.value();
}

std::uint64_t predict_trees(const Problem& problem, const Run& run) {
  const Bins bins = problem.bins();
  const std::unique_ptr<Loss> loss = make_loss("glog", {});
  Choice choice;
  choice.learner = "tree";
  const std::unique_ptr<WeakLearner> learner = learner_of(choice);
  const AdditiveBoosting algorithm({std::make_shared<selections::Greedy>(),
                                    std::make_shared<BoundResponse<responses::Newton>>(),
                                    std::make_shared<steps::Unit>()});
  Boosting boosting({problem.borrow(), bins},
                    {{loss.get(), learner.get(), 1.0, 0.3, 0.0, Problem::roles(kFolds)}},
                    algorithm);
  advance(boosting, kEstimators, run);
  const Rounds& rounds = boosting.state(0).rounds[0];
  Forest forest{rounds.trees, {}, rounds.values};
  for (const std::int64_t root : rounds.offsets) {
    forest.roots.push_back(static_cast<std::size_t>(root));
  }
  std::vector<double> out(2 * problem.rows);
  Team::run(run.threads, kShared, [&](Team& team) {
    predict_raw(problem.table, bins, {&forest, &forest}, out.data(), team);
  });
  Digest digest;
  digest.add(out);
  return digest.value();
}

std::uint64_t boost_rados(const Problem& problem, const std::string& regularizer, const Run& run) {
  std::vector<RadoFeature> features{ConstantFeature{}};
  for (const std::size_t f : Sizes{0, 3, 4, 5}) {  // without missing values
    features.emplace_back(NumberFeature{&problem.table.columns[f]});
  }
  for (const std::int64_t level : {0, 3}) {
    features.emplace_back(LevelFeature{&problem.table.columns[7], level});
  }
  constexpr std::size_t kRados = 200, kRounds = 20;
  std::vector<double> rados(kRados * features.size());
  std::vector<double> slope;
  for (std::size_t k = features.size(); k > 0; --k) slope.push_back(static_cast<double>(k));
  Penalty penalty;
  if (!regularizer.empty()) {
    penalty.emplace_back(
        0.01, regularizers::Builtins::make<Regularizer>(
                  "regularizer", regularizer, features.size(),
                  static_cast<const double*>(regularizer == "slope" ? slope.data() : nullptr)));
  }
  Digest digest;
  Team::run(run.threads, kShared, [&](Team& team) {
    const RadoRows rows{problem.rows, problem.positive.data(), 5};
    digest.add(
        std::uint64_t{make_rados(features, rows, 11, kRados, rados.data(), run.progress, team)});
    digest.add(rados);
    const RadoBoosting boosting{rados.data(), kRados, features.size(), kRounds, 0.9, penalty};
    const auto progress = [&](std::size_t, double) { run.progress(); };
    for (const RadoRound& round : properboost::boost_rados(boosting, progress, team)) {
      digest.add(std::uint64_t(static_cast<std::uint32_t>(round.feature)));
      for (const double x : {round.edge, round.step, round.penalty, round.log_loss}) digest.add(x);
    }
  });
  return digest.value();
}

// Rows of 11 classes, from no shift and from near ones; their scores grow apart.
std::uint64_t evaluate_joint_loss(const std::string& form, const std::string& name) {
  constexpr std::size_t n = 300;
  constexpr std::size_t classes = 11;
  const std::unique_ptr<Loss> loss = loss_of(name);
  const auto joint = make_joint_loss(form, *loss);
  Random random(5);
  std::vector<float> scores;
  for (std::size_t entry = 0; entry < n * classes; ++entry) {
    const auto size = static_cast<double>(entry % n);
    scores.push_back(static_cast<float>(size * size / 3000.0 * (random.next() - 0.5)));
  }
  std::vector<float> shift(n, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> weights(scores.size());
  std::vector<float> curvatures(scores.size());
  std::vector<float> losses(n);
  Digest digest;
  for (std::size_t own = 0; own < 3; ++own) {
    joint->evaluate({classes, n, own, scores.data(), shift.data(), weights.data(),
                     curvatures.data(), losses.data()});
    digest.add(weights);
    digest.add(curvatures);
    digest.add(losses);
    for (float& score : scores) score += static_cast<float>(random.next());
  }
  const std::vector<double> rows(scores.begin(), scores.end());
  std::vector<double> found(rows.size());
  joint->log_probabilities(rows.data(), classes, n, found.data());
  digest.add(found);
  joint->losses(rows.data(), classes, n, 1, found.data());
  digest.add(found);
  return digest.value();
}

}  // namespace

std::vector<Case> make_cases(std::size_t rows) {
  const SharedProblem problem = std::make_shared<Problem>(rows);
  std::vector<Case> cases;
  const auto add = [&](std::string name, auto task) {
    cases.push_back({std::move(name), [problem, task = std::move(task)](const Run& run) {
                       return task(*problem, run);
                     }});
  };
  const auto add_boosting = [&](const std::string& name, const Choice& choice) {
    add(name, [choice](const Problem& p, const Run& run) { return boost(p, choice, run); });
  };

  for (const bool weighted : {false, true}) {
    for (const int max_bins : {2, 30, 255}) {
      const std::string name =
          std::string("bins-") + (weighted ? "weighted-" : "") + std::to_string(max_bins);
      add(name, [=](const Problem& p, const Run& run) {
        return bin(p, weighted, max_bins, p.rows, run);
      });
    }
  }
  add("bins-of-a-sample",
      [](const Problem& p, const Run& run) { return bin(p, true, 255, p.rows / 3, run); });

  for (const std::string& learner : learners::Builtins::names()) {
    for (const std::string& selection : selections::Builtins::names()) {
      if (grows(learner) && selection == "cyclic") continue;
      for (const std::string& response : responses::Builtins::names()) {
        for (const std::string& step : steps::Builtins::names()) {
          Choice choice;
          choice.learner = learner;
          choice.selection = selection;
          choice.response = response;
          choice.step = step;
          add_boosting(join(learner, selection, response, step), choice);
        }
      }
    }
  }

  std::vector<std::string> losses = loss_names();
  losses.insert(losses.end(), {"table", "called"});
  for (const std::string& loss : losses) {
    for (const std::string& learner : learners::Builtins::names()) {
      Choice choice;
      choice.loss = loss;
      choice.learner = learner;
      add_boosting(join(loss, learner), choice);
      choice.response = "newton";
      choice.l2 = 1.0;
      add_boosting(join(loss, learner, "newton"), choice);
    }
    Choice choice;
    choice.loss = loss;
    choice.models = 5;
    add_boosting(join(loss, "lanes"), choice);
  }

  for (const std::size_t models : Sizes{3, 8, 19}) {
    for (const std::string& selection : selections::Builtins::names()) {
      for (const std::string& response : responses::Builtins::names()) {
        Choice choice;
        choice.models = models;
        choice.selection = selection;
        choice.response = response;
        const std::string name = join("lanes", std::to_string(models), selection, response);
        add_boosting(name, choice);
      }
      Choice choice;
      choice.models = models;
      choice.selection = selection;
      choice.keep_rounds = false;
      add_boosting(join("lanes", std::to_string(models), selection, "scores"), choice);
    }
  }
  {
    Choice choice;
    choice.models = 5;
    choice.learner = "tree";
    add_boosting("lanes-5-trees", choice);
  }

  for (const std::string& learner : learners::Builtins::names()) {
    for (const std::string& criterion : impurities::Builtins::names()) {
      Choice choice;
      choice.learner = learner;
      choice.criterion = criterion;
      add_boosting(join("criterion", criterion, learner), choice);
    }
    Choice choice;
    choice.learner = learner;
    choice.weighted = false;
    choice.from_base = true;
    choice.prior = 0.01;
    add_boosting("base-" + learner, choice);
    choice.options.smoothing = 0.1;
    choice.options.subsample = 0.5;
    choice.options.limits.max_features = 0.5;
    choice.options.limits.child_weight = 30.0;
    choice.options.seed = 17;
    add_boosting("options-" + learner, choice);
  }
  {
    Choice choice;
    choice.learner = "tree";
    choice.options.limits.directions = {1, -1, 0, 0, 0, 0, 0, 0};
    add_boosting("directions-tree", choice);
  }

  for (const std::string& vote : votes::Builtins::names()) {
    for (const std::string& step : steps::ForVotes::names()) {
      for (const std::string& learner : learners::Builtins::names()) {
        for (const auto& [criterion, name] :
             {std::pair{VoteCriterion::kGini, "gini"}, std::pair{VoteCriterion::kError, "error"}}) {
          const VoteChoice choice{vote, step, learner, criterion};
          add(join("votes", vote, step, learner, name),
              [choice](const Problem& p, const Run& run) { return boost_votes(p, choice, run); });
        }
      }
    }
    for (const auto& [weighting, name] :
         {std::pair{VoteWeighting{0.5, 0.0}, "damping"}, {VoteWeighting{0.0, 2.0}, "mistrust"}}) {
      const VoteChoice choice{vote, "line_search", "stump", VoteCriterion::kGini, weighting};
      add(join("votes", vote, name),
          [choice](const Problem& p, const Run& run) { return boost_votes(p, choice, run); });
    }
  }

  for (const std::string& name : losses) {
    if (!loss_of(name)->canonical()) continue;
    for (const std::string& form : joint_loss_names()) {
      if (form == "softmax" && name != "glog") continue;
      add(join("joint", form, name),
          [form, name](const Problem&, const Run&) { return evaluate_joint_loss(form, name); });
    }
  }

  for (const std::string& phi : impurities::Builtins::names()) {
    add("tree-" + phi, [phi](const Problem& p, const Run& run) {
      return grow_tree(p, phi, {64, TreeLimits::kUnlimited, 1.0}, run);
    });
  }
  add("pairs-codes", encode_some_pairs);
  add("pairs-strengths", find_pairs);
  for (const std::size_t models : Sizes{1, 3}) {
    add("prediction-" + std::to_string(models),
        [models](const Problem& p, const Run& run) { return predict_tables(p, models, run); });
  }
  add("prediction-trees", predict_trees);
  std::vector<std::string> penalties = regularizers::Builtins::names();
  penalties.emplace_back();
  for (const std::string& penalty : penalties) {
    add("rados" + (penalty.empty() ? "" : "-" + penalty),
        [penalty](const Problem& p, const Run& run) { return boost_rados(p, penalty, run); });
  }
  return cases;
}

}  // namespace properboost::selftest
