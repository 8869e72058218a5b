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

// What one round of an earlier fit adds to the rows, as codes and a look-up table.
struct Repeated {
  const std::uint8_t* codes = nullptr;
  std::vector<double> table;
  Aligned<std::uint8_t> nodes;  // which are the codes, where the round added a tree
  Aligned<float> lines;
};

Repeated look_again(const Rounds& rounds, std::size_t t, const FitContext& fit, Team& team) {
  const Codes& codes = fit.rows.codes;
  const auto first = static_cast<std::size_t>(rounds.offsets[t]);
  const auto end = static_cast<std::size_t>(rounds.offsets[t + 1]);
  Repeated found;
  found.table.assign(rounds.values.begin() + static_cast<std::ptrdiff_t>(first),
                     rounds.values.begin() + static_cast<std::ptrdiff_t>(end));
  if (rounds.feature[t] != Rounds::kTree) {
    found.codes = codes.feature(static_cast<std::size_t>(rounds.feature[t]));
    return found;
  }
  found.nodes.resize(codes.rows);
  find_nodes(rounds.trees.part(first, end), codes, &fit.rows.bins, found.nodes.data(), team);
  found.codes = found.nodes.data();
  if (rounds.lines.empty()) return found;
  const NodeLines own = rounds.lines.part(first, end);
  found.lines.resize(codes.rows);
  evaluate(own, fit.packed, fit.rows.bins, found.codes, codes.rows, found.lines.data(), team);
  return found;
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
    std::vector<Repeated> found(models.size());
    std::vector<Move> proposed, corrected;
    for (std::size_t k = 0; k < models.size(); ++k) {
      const Rounds& own = rounds[models[k]];
      if (t >= own.feature.size() || (own.proposed[t] == 0.0 && own.taken[t] == 0.0)) continue;
      found[k] = look_again(own, t, fit, team);
      const auto move_by = [&](double step, std::vector<Move>& to) {
        if (step == 0.0) return;
        to.push_back({k, found[k].codes, found[k].table, step, found[k].table.size(),
                      found[k].lines.empty() ? nullptr : found[k].lines.data()});
      };
      move_by(own.proposed[t], proposed);
      move_by(own.taken[t] - own.proposed[t], corrected);
      cohort.stepper().repeat(k, own.taken[t]);
    }
    const std::size_t unit = margins.lanes_a_step();
    for (auto first = proposed.begin(); first != proposed.end();) {  // as a step begins
      const std::size_t own = first->lane / unit;
      const auto last = std::find_if(first, proposed.end(),
                                     [&](const Move& move) { return move.lane / unit != own; });
      margins.look_along({first, last}, team);
      first = last;
    }
    if (!proposed.empty()) margins.move(proposed, nothing, team);
    if (!corrected.empty()) margins.move(corrected, nothing, team);
  }
  margins.forget_weights();
}

}  // namespace properboost
