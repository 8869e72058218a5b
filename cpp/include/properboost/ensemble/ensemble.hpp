// The ensemble.  Rounds are what is stored; an additive model collapses to one look-up table per
// feature, and a prediction takes one look-up per feature for any number of rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/pairs.hpp"
#include "properboost/data/table.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class Team;

// What boosting found, one entry per round, in units of the raw prediction.
struct Rounds {
  static constexpr std::int32_t kTree = -1;

  std::vector<std::int32_t> feature;  // kTree: the look-up table is over a tree's nodes
  std::vector<double> cost;           // with the papers' sign
  std::vector<double> step;
  std::vector<double> risk;  // mean training loss after the round
  // How far margins at gain 1 moved along the look-up table, before the step was corrected and
  // after: a model that goes on repeats both moves, to the bit.  Steps that are solved for have
  // none.
  std::vector<double> proposed, taken;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> values;  // round t's are values[offsets[t]] to values[offsets[t + 1]]

  Tree trees;       // one after the other; their cells hold the training rows' weight
  NodeLines lines;  // of their nodes, if leaves have any

  void push_back(std::int32_t of_feature, double its_cost, double its_step, double its_risk,
                 const double* table, std::size_t width, const Tree& tree,
                 const NodeLines& of_nodes = {}, double its_proposed = 0.0,
                 double its_taken = 0.0) {
    feature.push_back(of_feature);
    cost.push_back(its_cost);
    step.push_back(its_step);
    risk.push_back(its_risk);
    proposed.push_back(its_proposed);
    taken.push_back(its_taken);
    values.insert(values.end(), table, table + width);
    offsets.push_back(static_cast<std::int64_t>(values.size()));
    trees.append(tree);
    lines.append(of_nodes);
  }
  // Returns the rounds from this one on.
  Rounds from(std::size_t t) const {
    Rounds found;
    const auto take = [](const auto& own, std::int64_t begin, auto& to) {
      to.assign(own.begin() + begin, own.end());
    };
    const auto first = static_cast<std::int64_t>(t);
    take(feature, first, found.feature);
    take(cost, first, found.cost);
    take(step, first, found.step);
    take(risk, first, found.risk);
    take(proposed, first, found.proposed);
    take(taken, first, found.taken);
    take(values, offsets[t], found.values);
    take(offsets, first, found.offsets);
    for (std::int64_t& offset : found.offsets) offset -= offsets[t];
    const auto begin = static_cast<std::size_t>(offsets[t]);
    if (trees.size() > 0) found.trees = trees.part(begin, values.size());
    if (!lines.empty()) found.lines = lines.part(begin, values.size());
    return found;
  }
  // Keeps the first n rounds.
  void resize(std::size_t n) {
    feature.resize(n);
    cost.resize(n);
    step.resize(n);
    risk.resize(n);
    proposed.resize(n);
    taken.resize(n);
    offsets.resize(n + 1);
    values.resize(static_cast<std::size_t>(offsets.back()));
    if (trees.size() > 0) trees.resize(values.size());
    if (!lines.empty()) lines.resize(values.size());
  }
};

// out[row * models + m] = the sum, over features and pairs, of model m's shape function at the
// row's code.  `tables` holds each model's features and then pairs side by side: tables[m * width +
// bins.offset(f) + code].
void predict_raw(const Table& table, const Bins& bins, const std::vector<FeaturePair>& pairs,
                 const double* tables, std::size_t models, double* out, Team& team);

}  // namespace properboost
