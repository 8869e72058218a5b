// Cases of single stages: bins, joint losses, single trees, pairs, predictions, rados.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "case_list.hpp"
#include "choices.hpp"
#include "digest.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/data/pairs.hpp"
#include "properboost/data/row_sample.hpp"
#include "properboost/data/table.hpp"
#include "properboost/ensemble/contributions.hpp"
#include "properboost/ensemble/ensemble.hpp"
#include "properboost/ensemble/forest.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/rado/boost.hpp"
#include "properboost/rado/rados.hpp"
#include "properboost/rado/regularizers/regularizer.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/booster.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/slots.hpp"
#include "random.hpp"

namespace properboost::selftest {

namespace {

using Sizes = std::initializer_list<std::size_t>;

std::uint64_t grow_tree(const Problem& problem, const std::string& phi, const TreeLimits& limits,
                        const Run& run) {
  const Bins bins = problem.bins();
  const Codes codes = problem.borrow();
  const RowSampleWeights weight(problem.weight.data());
  const std::vector<float> ones(problem.rows, 1.0f);
  const auto criterion = make_impurity("phi", phi, phi == "mu" ? 0.5 : 1.0);
  Digest digest;
  Team::run(run.threads, kShared, [&](Team& team) {
    const PackedCodes packed(codes, bins.size(), team);
    const Slots slots = Slots::of_classes(Problem::roles(kFolds));
    TreeGrower grower(codes, packed, bins);
    const Tree tree = grower.grow(slots, {ones.data(), ones.data(), weight, {}}, *criterion,
                                  Regularizers{}, limits, 0, run.progress, team);
    digest.add(tree);
    std::vector<std::uint8_t> nodes(problem.rows);
    grower.find_nodes(tree, nodes.data(), team);
    digest.add(nodes);
    std::vector<std::int64_t> nodes_of_codes(problem.rows);
    find_nodes(tree, codes, &bins, nodes_of_codes.data(), team);
    digest.add(nodes_of_codes);
    const double total = weight.sum(0, problem.rows);
    for (const Cell& cell : grower.weigh(tree, slots, weight, nullptr, total, team))
      digest.add(cell);
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
      const auto rows = sample_rows(table->rows, weight, sample, 3);
      for (const auto& edges : find_edges(*table, rows, weight, max_bins, team)) {
        digest.add(edges);
        features.emplace_back(edges);
      }
      const Bins bins(features);
      std::vector<std::uint8_t> codes(bins.size() * table->rows);
      bins.encode(*table, RowOrder{}, table->rows, codes.data(), team);
      digest.add(codes);
      const Codes all{codes.data(), table->rows, {0, table->rows}};
      digest.add(weigh_codes(all, bins, {0}, 1, weight, team));
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

std::vector<FeaturePair> three_pairs(const Bins& bins) {
  return {make_pair(bins, 3, 4), make_pair(bins, 0, 7), make_pair(bins, 5, 6)};
}

std::uint64_t encode_three_pairs(const Problem& problem, const Run& run) {
  const Bins bins = problem.bins();
  const std::vector<FeaturePair> pairs = three_pairs(bins);
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
    for (const Interaction& interaction :
         find_interactions(levels.data(), bins.size(), problem.rows, gradient.data(),
                           variance.data(), 1.25, run.progress, team)) {
      digest.add(interaction.chi_square);
      digest.add(interaction.freedom);
    }
  });
  return digest.value();
}

std::uint64_t predict_tables(const Problem& problem, std::size_t models, const Run& run) {
  const Bins bins = problem.bins();
  const std::vector<FeaturePair> pairs = three_pairs(bins);
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

// A few rounds of trees.
Rounds boost_trees(const Problem& problem, const Bins& bins, const LearnerChoice& choice,
                   const Run& run) {
  const std::unique_ptr<Loss> loss = make_loss("glog", {});
  const std::unique_ptr<WeakLearner> learner = learner_of("tree", choice);
  const AdditiveBoosting algorithm(
      {make_selection("greedy"), make_response("newton"), make_step("unit")});
  Boosting boosting({problem.borrow(), bins},
                    {{loss.get(), learner.get(), 1.0, 0.3, 0.0, Problem::roles(kFolds)}},
                    algorithm);
  constexpr std::size_t kTrees = 4;
  Team::run(run.threads, kShared, [&](Team& team) {
    boosting.advance(kTrees, {0}, [&](std::size_t, double) { run.progress(); }, team);
  });
  return boosting.state(0).rounds[0];
}

std::shared_ptr<Forest> make_forest(const Rounds& rounds) {
  auto forest = std::make_shared<Forest>(Forest{rounds.trees, {}, rounds.values, rounds.lines});
  for (const std::int64_t root : rounds.offsets) {
    forest->roots.push_back(static_cast<std::size_t>(root));
  }
  return forest;
}

std::uint64_t predict_trees(const Problem& problem, const LearnerChoice& choice, const Run& run) {
  const Bins bins = problem.bins();
  const auto forest = make_forest(boost_trees(problem, bins, choice, run));
  std::vector<double> out(2 * problem.rows);
  const ForestScores scores(bins, {forest, forest});
  Team::run(run.threads, kShared,
            [&](Team& team) { scores.predict_raw(problem.table, out.data(), team); });
  Digest digest;
  digest.add(out);
  return digest.value();
}

std::uint64_t explain_trees(const Problem& problem, const LearnerChoice& choice, const Run& run) {
  const Bins bins = problem.bins_with_means();
  const Rounds rounds = boost_trees(problem, bins, choice, run);
  std::vector<double> weights, out(problem.rows * bins.size());
  for (const Cell& cell : rounds.trees.cell) weights.push_back(cell.weight());
  double baseline = 0.0;
  Team::run(run.threads, kShared, [&](Team& team) {
    baseline = add_contributions(*make_forest(rounds), weights.data(), bins, problem.borrow(),
                                 out.data(), team);
  });
  Digest digest;
  digest.add(baseline);
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
        0.01, make_regularizer(
                  regularizer, features.size(),
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
  for (std::size_t true_class = 0; true_class < 3; ++true_class) {
    joint->evaluate({classes, n, true_class, scores.data(), shift.data(), weights.data(),
                     curvatures.data(), losses.data()});
    digest.add(weights);
    digest.add(curvatures);
    digest.add(losses);
    for (float& score : scores) score += static_cast<float>(random.next());
  }
  const std::vector<double> rows(scores.begin(), scores.end());
  std::vector<double> outputs(rows.size());
  joint->log_probabilities(rows.data(), classes, n, outputs.data());
  digest.add(outputs);
  joint->losses(rows.data(), classes, n, 1, outputs.data());
  digest.add(outputs);
  return digest.value();
}

}  // namespace

void add_stages(CaseList& list) {
  for (const bool weighted : {false, true}) {
    for (const int max_bins : {2, 30, 255}) {
      const std::string name =
          std::string("bins-") + (weighted ? "weighted-" : "") + std::to_string(max_bins);
      list.add(name, [=](const Problem& p, const Run& run) {
        return bin(p, weighted, max_bins, p.rows, run);
      });
    }
  }
  list.add("bins-of-a-sample",
           [](const Problem& p, const Run& run) { return bin(p, true, 255, p.rows / 3, run); });

  for (const std::string& name : all_losses()) {
    if (!loss_of(name)->canonical()) continue;
    for (const std::string& form : joint_loss_names()) {
      if (form == "softmax" && name != "glog") continue;
      list.add(join("joint", form, name), [form, name](const Problem&, const Run&) {
        return evaluate_joint_loss(form, name);
      });
    }
  }

  for (const std::string& phi : impurity_names()) {
    list.add("tree-" + phi, [phi](const Problem& p, const Run& run) {
      return grow_tree(p, phi, {64, TreeLimits::kUnlimited, 1.0}, run);
    });
  }
  list.add("pairs-codes", encode_three_pairs);
  list.add("pairs-strengths", find_pairs);
  for (const std::size_t models : Sizes{1, 3}) {
    list.add("prediction-" + std::to_string(models),
             [models](const Problem& p, const Run& run) { return predict_tables(p, models, run); });
  }
  LearnerChoice choice = usual_choice();
  list.add("prediction-trees",
           [choice](const Problem& p, const Run& run) { return predict_trees(p, choice, run); });
  choice.tree.grow_policy = "symmetric";
  choice.tree.max_depth = 5;
  list.add("prediction-levels",
           [choice](const Problem& p, const Run& run) { return predict_trees(p, choice, run); });
  for (const bool lines : {false, true}) {
    for (const char* const policy : {"best_first", "symmetric"}) {
      choice.tree.grow_policy = policy;
      choice.tree.linear_leaves = lines;
      list.add(
          join("contributions", policy, lines ? "lines" : "constants"),
          [choice](const Problem& p, const Run& run) { return explain_trees(p, choice, run); });
    }
  }
  std::vector<std::string> penalties = regularizer_names();
  penalties.emplace_back();
  for (const std::string& penalty : penalties) {
    list.add("rados" + (penalty.empty() ? "" : "-" + penalty),
             [penalty](const Problem& p, const Run& run) { return boost_rados(p, penalty, run); });
  }
}

}  // namespace properboost::selftest
