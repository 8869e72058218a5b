// Cases of boosting: every weak learner with every response and step, losses, lanes, votes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "case_list.hpp"
#include "choices.hpp"
#include "digest.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"
#include "properboost/impurities/impurity.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/planning/row_screen.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/booster.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/votes/vote.hpp"

namespace properboost::selftest {

namespace {

using Sizes = std::initializer_list<std::size_t>;

constexpr std::size_t kEstimators = 4;

struct Choice {
  std::string learner = "table", response = "real", step = "guarded", selection = "greedy";
  std::string loss = "glog";
  std::string criterion = {};
  LearnerChoice fields = usual_choice();
  double l2 = 0.0;
  double prior = 0.0;
  std::size_t models = 1;
  bool weighted = true, from_base = false, keep_rounds = true;
  bool unordered = false;  // the bins of all features are categories
  std::size_t screening = 0;
};

bool grows(const std::string& learner) { return learner == "tree" || learner == "rule"; }

std::unique_ptr<WeakLearner> make_learner(const Choice& choice) {
  LearnerChoice fields = choice.fields;
  if (!choice.criterion.empty()) {
    fields.options.criterion = make_impurity("criterion", choice.criterion, 0.0);
  }
  return learner_of(choice.learner, fields);
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

// The digest of the fitted rounds after two calls.
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

Bins without_order(const Bins& bins) {
  std::vector<FeatureBins> categories;
  for (std::size_t f = 0; f < bins.size(); ++f) {
    categories.emplace_back(std::min(bins[f].bins(), kMaxCodes - 2));
  }
  return Bins(std::move(categories));
}

std::uint64_t boost(const Problem& problem, const Choice& choice, const Run& run) {
  const std::unique_ptr<Loss> loss = loss_of(choice.loss);
  const std::unique_ptr<WeakLearner> learner = make_learner(choice);
  const std::shared_ptr<const Step> step = make_step(choice.step);
  const AdditiveBoosting algorithm(
      {make_selection(choice.selection), make_response(choice.response), step, choice.screening},
      choice.l2);
  const bool solved = step->solves() != Solved::kNone;
  std::vector<Model> models;
  for (std::size_t m = 0; m < choice.models; ++m) {
    const double part = static_cast<double>(m % 5);
    models.push_back({loss.get(), learner.get(), 0.5 + part, solved ? 1.0 : 0.7 + 0.1 * part,
                      choice.prior, Problem::roles(m % 4 == 0 ? kFolds : m % 4 - 1)});
  }
  const Bins bins = choice.unordered                   ? without_order(problem.bins())
                    : choice.fields.tree.linear_leaves ? problem.bins_with_means()
                                                       : problem.bins();
  Rows rows{problem.borrow(), bins};
  if (choice.weighted) rows.sample_weight = RowSampleWeights(problem.weight.data());
  if (choice.from_base) rows.base = Base{problem.base.data(), 0};
  std::vector<std::int64_t> numbers(problem.rows);
  if (choice.screening > 0) {
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    sort_for_screens(numbers, rows.codes.segments);
    rows.numbers = RowNumbers(numbers.data());
  }
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
  const std::unique_ptr<WeakLearner> learner = learner_of(choice.learner);
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
  const VoteBoosting algorithm(make_vote_step(choice.step),
                               properboost::make_vote(choice.vote, kClasses, choice.criterion),
                               targets, 1.0, choice.weighting);
  const Bins bins = problem.bins();
  Boosting boosting({problem.borrow(), bins, RowSampleWeights(problem.weight.data())},
                    {{loss.get(), learner.get(), 1.0, 0.8, 0.0, roles}}, algorithm);
  return digest_of(boosting, run);
}

void add_lone_and_lanes(CaseList& list) {
  const auto add_case = [&](const std::string& name, const Choice& choice) {
    list.add(name, [choice](const Problem& p, const Run& run) { return boost(p, choice, run); });
  };

  for (const std::string& learner : weak_learner_names()) {
    for (const std::string& selection : selection_names()) {
      if (grows(learner) && selection == "cyclic") continue;
      for (const std::string& response : response_names()) {
        for (const std::string& step : step_names()) {
          Choice choice;
          choice.learner = learner;
          choice.selection = selection;
          choice.response = response;
          choice.step = step;
          add_case(join(learner, selection, response, step), choice);
        }
      }
    }
  }

  for (const std::string& loss : all_losses()) {
    for (const std::string& learner : weak_learner_names()) {
      Choice choice;
      choice.loss = loss;
      choice.learner = learner;
      add_case(join(loss, learner), choice);
      choice.response = "newton";
      choice.l2 = 1.0;
      add_case(join(loss, learner, "newton"), choice);
    }
    Choice choice;
    choice.loss = loss;
    choice.models = 5;
    add_case(join(loss, "lanes"), choice);
  }

  for (const std::size_t models : Sizes{3, 8, 19}) {
    for (const std::string& selection : selection_names()) {
      for (const std::string& response : response_names()) {
        Choice choice;
        choice.models = models;
        choice.selection = selection;
        choice.response = response;
        const std::string name = join("lanes", std::to_string(models), selection, response);
        add_case(name, choice);
      }
      Choice choice;
      choice.models = models;
      choice.selection = selection;
      choice.keep_rounds = false;
      add_case(join("lanes", std::to_string(models), selection, "scores"), choice);
    }
  }
  {
    Choice choice;
    choice.models = 5;
    choice.learner = "tree";
    add_case("lanes-5-trees", choice);
  }

  for (const std::string& learner : weak_learner_names()) {
    for (const std::string& criterion : impurity_names()) {
      Choice choice;
      choice.learner = learner;
      choice.criterion = criterion;
      add_case(join("criterion", criterion, learner), choice);
    }
    Choice choice;
    choice.learner = learner;
    choice.weighted = false;
    choice.from_base = true;
    choice.prior = 0.01;
    add_case("base-" + learner, choice);
    choice.fields.table.smoothing = 0.1;
    choice.fields.set_grown(&GrownFields::subsample, 0.5);
    choice.fields.set_grown(&GrownFields::max_features, 0.5);
    choice.fields.set_grown(&GrownFields::min_child_weight, 30.0);
    choice.fields.options.seed = 17;
    add_case("options-" + learner, choice);
  }
  {
    Choice choice;
    choice.fields.table.smoothing = 12.0;
    add_case("diffused-table", choice);
  }
  for (const std::string& response : response_names()) {
    for (const std::size_t cells : Sizes{2, 3, 6}) {
      Choice choice;
      choice.response = response;
      choice.fields.table.max_cells = cells;
      choice.fields.table.smoothing = cells == 6 ? 0.1 : 0.0;
      choice.models = cells == 3 ? 5 : 1;
      choice.selection = cells == 2 ? "unbiased" : "greedy";
      add_case(join("cells", std::to_string(cells), response), choice);
    }
  }
  for (const std::string response : {"real", "newton", "exact"}) {
    for (const std::string& selection : selection_names()) {
      Choice choice;
      choice.response = response;
      choice.selection = selection;
      choice.fields.table.max_cells = 6;
      choice.fields.table.min_saving = 0.5;
      choice.models = selection == "cyclic" ? 5 : 1;
      choice.unordered = selection == "unbiased";
      add_case(join("careful-cells", selection, response), choice);
    }
  }
  for (const std::string response : {"real", "newton", "exact"}) {
    for (const std::string learner : {"table", "stump"}) {
      Choice choice;
      choice.unordered = true;
      choice.learner = learner;
      choice.response = response;
      choice.selection = "unbiased";
      choice.fields.table.max_cells = response == "newton" ? 4 : 0;
      choice.models = response == "newton" ? 5 : 1;
      add_case(join("categories", learner, response), choice);
    }
  }
  for (const std::string response : {"real", "newton", "exact"}) {
    for (const std::string learner : {"table", "stump"}) {
      Choice choice;
      choice.learner = learner;
      choice.response = response;
      choice.selection = "unbiased";
      choice.screening = 200;
      add_case(join("screens", learner, response), choice);
    }
  }
  {
    Choice choice;
    choice.learner = "tree";
    choice.fields.options.directions = {1, -1, 0, 0, 0, 0, 0, 0};
    add_case("directions-tree", choice);
  }
  for (const std::string learner : {"table", "stump", "rule"}) {
    for (const std::string& response : response_names()) {
      Choice choice;
      choice.learner = learner;
      choice.response = response;
      choice.fields.options.directions = {1, -1, -1, 1, 0, 1, -1, 1};
      choice.models = response == "real" ? 5 : 1;
      choice.selection = response == "newton" ? "unbiased" : "greedy";
      choice.fields.table.max_cells = response == "sign" ? 4 : 0;
      choice.fields.table.smoothing = response == "exact" ? 0.1 : 0.0;
      add_case(join("directions", learner, response), choice);
    }
  }
  for (const std::string learner : {"tree", "rule"}) {
    Choice choice;
    choice.learner = learner;
    choice.fields.options.allows_for_chance = true;
    add_case("chance-" + learner, choice);
  }

  Choice by_level;
  by_level.learner = "tree";
  by_level.fields.tree.grow_policy = "symmetric";
  by_level.fields.tree.max_depth = 5;
  for (const std::string& response : response_names()) {
    Choice choice = by_level;
    choice.response = response;
    add_case("levels-" + response, choice);
    choice.models = 5;
    choice.fields.options.allows_for_chance = true;
    choice.fields.set_grown(&GrownFields::max_features, 0.5);
    choice.fields.set_grown(&GrownFields::min_child_weight, 30.0);
    choice.fields.set_grown(&GrownFields::subsample, 0.5);
    choice.fields.options.seed = 17;
    add_case(join("levels", response, "options"), choice);
  }
  for (const std::string response : {"real", "newton"}) {
    for (const bool levels : {false, true}) {
      Choice choice;
      if (levels) choice = by_level;
      choice.learner = "tree";
      choice.response = response;
      choice.fields.tree.linear_leaves = true;
      choice.fields.tree.linear_l2 = 3.0;
      add_case(join("lines", response, levels ? "levels" : "best"), choice);
      choice.models = 5;
      choice.fields.set_grown(&GrownFields::subsample, 0.5);
      choice.fields.set_grown(&GrownFields::max_features, 0.5);
      add_case(join("lines", response, levels ? "levels" : "best", "options"), choice);
    }
  }
  by_level.fields.options.directions = {1, -1, 0, 0, 0, 0, 0, 0};
  by_level.fields.tree.max_depth = TreeGrower::kMostLevels;
  add_case("levels-directions", by_level);
}

void add_votes(CaseList& list) {
  for (const std::string& vote : vote_names()) {
    for (const std::string& step : vote_step_names()) {
      for (const std::string& learner : weak_learner_names()) {
        for (const auto& [criterion, name] :
             {std::pair{VoteCriterion::kGini, "gini"}, std::pair{VoteCriterion::kError, "error"}}) {
          const VoteChoice choice{vote, step, learner, criterion};
          list.add(
              join("votes", vote, step, learner, name),
              [choice](const Problem& p, const Run& run) { return boost_votes(p, choice, run); });
        }
      }
    }
    for (const auto& [weighting, name] :
         {std::pair{VoteWeighting{0.5, 0.0}, "damping"}, {VoteWeighting{0.0, 2.0}, "mistrust"}}) {
      const VoteChoice choice{vote, "line_search", "stump", VoteCriterion::kGini, weighting};
      list.add(join("votes", vote, name),
               [choice](const Problem& p, const Run& run) { return boost_votes(p, choice, run); });
    }
  }
}

}  // namespace

void add_boosting(CaseList& list) {
  add_lone_and_lanes(list);
  add_votes(list);
}

}  // namespace properboost::selftest
