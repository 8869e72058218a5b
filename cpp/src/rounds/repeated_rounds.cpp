#include "properboost/rounds/repeated_rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/steps/line_search_oracle.hpp"
#include "properboost/trees/growing/tree_grower.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {
namespace {

// One round of an earlier fit, as codes and a look-up table.
struct RepeatedRound {
  const std::uint8_t* codes = nullptr;
  std::vector<double> table;
  WholeFeature feature;
  Aligned<std::uint8_t> nodes;  // which are the codes, where the round added a tree
  Aligned<float> lines;
};

RepeatedRound restore_round(const Rounds& rounds, std::size_t t, const FitContext& fit,
                            Team& team) {
  const Codes& codes = fit.rows.codes;
  const auto first = static_cast<std::size_t>(rounds.offsets[t]);
  const auto end = static_cast<std::size_t>(rounds.offsets[t + 1]);
  RepeatedRound repeated;
  repeated.table.assign(rounds.values.begin() + static_cast<std::ptrdiff_t>(first),
                        rounds.values.begin() + static_cast<std::ptrdiff_t>(end));
  if (rounds.feature[t] != Rounds::kTree) {
    repeated.codes = repeated.feature.of(codes, static_cast<std::size_t>(rounds.feature[t]));
    return repeated;
  }
  repeated.nodes.resize(codes.rows);
  find_nodes(rounds.trees.part(first, end), codes, &fit.rows.bins, repeated.nodes.data(), team);
  repeated.codes = repeated.nodes.data();
  if (rounds.lines.empty()) return repeated;
  const NodeLines node_lines = rounds.lines.part(first, end);
  repeated.lines.resize(codes.rows);
  evaluate(node_lines, fit.packed, fit.rows.bins, repeated.codes, codes.rows, repeated.lines.data(),
           team);
  return repeated;
}

}  // namespace

void check_repeated(const std::vector<Rounds>& rounds, const FitContext& fit) {
  const Bins& bins = fit.rows.bins;
  if (rounds.size() != fit.models.size()) {
    throw std::invalid_argument("repeat needs the rounds of every model");
  }
  if (fit.algorithm.step().solves() != Solved::kNone || fit.algorithm.targets().count > 1) {
    throw std::invalid_argument("repeat must not be of steps that are solved for, nor of votes");
  }
  for (std::size_t m = 0; m < rounds.size(); ++m) {
    if (fit.states[m].n_estimators > 0) {
      throw std::invalid_argument("repeat must come before the first advance");
    }
    for (std::size_t t = 0; t < rounds[m].feature.size(); ++t) {
      const std::int32_t f = rounds[m].feature[t];
      const auto width = static_cast<std::size_t>(rounds[m].offsets[t + 1] - rounds[m].offsets[t]);
      const auto wide = [&](std::size_t j) { return static_cast<std::size_t>(bins[j].width()); };
      const auto j = static_cast<std::size_t>(f);
      const bool fits = f == Rounds::kTree ? any_grows_trees(fit.models) && width > 0 &&
                                                 width <= TreeGrower::kMostNodes
                                           : j < bins.size() && width == wide(j);
      if (!fits) throw std::invalid_argument("repeat must be of rounds over these features");
    }
  }
}

void repeat_rounds(const std::vector<Rounds>& rounds, const FitContext& fit, Cohort& cohort,
                   Team& team) {
  const Lanes& models = cohort.models();
  MovingMargins& margins = cohort.margins();
  std::size_t longest = 0;
  for (const std::size_t m : models) longest = std::max(longest, rounds[m].feature.size());
  const std::vector<PassRequest> nothing(cohort.batches().size());
  for (std::size_t t = 0; t < longest; ++t) {
    std::vector<RepeatedRound> repeated(models.size());
    std::vector<Move> proposed, corrected;
    for (std::size_t k = 0; k < models.size(); ++k) {
      const Rounds& model_rounds = rounds[models[k]];
      if (t >= model_rounds.feature.size() ||
          (model_rounds.proposed[t] == 0.0 && model_rounds.taken[t] == 0.0))
        continue;
      repeated[k] = restore_round(model_rounds, t, fit, team);
      const auto move_by = [&](double step, std::vector<Move>& to) {
        if (step == 0.0) return;
        to.push_back({k, repeated[k].codes, repeated[k].table, step, repeated[k].table.size(),
                      repeated[k].lines.empty() ? nullptr : repeated[k].lines.data()});
      };
      move_by(model_rounds.proposed[t], proposed);
      move_by(model_rounds.taken[t] - model_rounds.proposed[t], corrected);
      cohort.stepper().repeat(k, model_rounds.taken[t]);
    }
    const std::size_t unit = margins.lanes_a_step();
    for (auto first = proposed.begin(); first != proposed.end();) {  // as a step begins
      const std::size_t first_unit = first->lane / unit;
      const auto last = std::find_if(
          first, proposed.end(), [&](const Move& move) { return move.lane / unit != first_unit; });
      margins.look_along({first, last}, team);
      first = last;
    }
    if (!proposed.empty()) margins.move(proposed, nothing, team);
    if (!corrected.empty()) margins.move(corrected, nothing, team);
  }
  margins.forget_weights();
}

}  // namespace properboost
