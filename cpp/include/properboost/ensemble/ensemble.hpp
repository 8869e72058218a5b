// The ensemble.  It is stored as rounds; an additive model collapses to one look-up table per
// feature, and a prediction takes one look-up per feature for any number of rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class Bins;
class Team;
struct FeaturePair;
struct Table;

// The fitted rounds, one entry per round, in units of the raw prediction.
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
                 const NodeLines& of_nodes = {}, double its_proposed = 0.0, double its_taken = 0.0);
  // Returns the rounds from this one on.
  Rounds from(std::size_t t) const;
  // Keeps the first n rounds.
  void resize(std::size_t n);
};

// out[row * models + m] = the sum, over features and pairs, of model m's shape function at the
// row's code.  `tables` holds each model's features and then pairs side by side: tables[m * width +
// bins.offset(f) + code].
void predict_raw(const Table& table, const Bins& bins, const std::vector<FeaturePair>& pairs,
                 const double* tables, std::size_t models, double* out, Team& team);

}  // namespace properboost
