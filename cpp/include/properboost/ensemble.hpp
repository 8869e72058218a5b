// The ensemble: rounds are the truth; an additive model collapses to one table a feature, and a
// prediction is one look-up a feature whatever the number of rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/parallel.hpp"
#include "properboost/table.hpp"

namespace properboost {

// What boosting found, a row a round, in units of the raw prediction.
struct Rounds {
  std::vector<std::int32_t> feature;
  std::vector<double> score;  // of the search, with the papers' sign
  std::vector<double> step;
  std::vector<double> risk;  // mean training loss after the round
  std::vector<std::int64_t> offsets{0};
  std::vector<double> values;  // round t's table is values[offsets[t]] to values[offsets[t + 1]]

  void push_back(std::size_t of_feature, double its_score, double its_step, double its_risk,
                 const std::vector<double>& table) {
    feature.push_back(static_cast<std::int32_t>(of_feature));
    score.push_back(its_score);
    step.push_back(its_step);
    risk.push_back(its_risk);
    values.insert(values.end(), table.begin(), table.end());
    offsets.push_back(static_cast<std::int64_t>(values.size()));
  }
  // Keeps the first n.
  void resize(std::size_t n) {
    feature.resize(n);
    score.resize(n);
    step.resize(n);
    risk.resize(n);
    offsets.resize(n + 1);
    values.resize(static_cast<std::size_t>(offsets.back()));
  }
};

// out[row * models + m] = sum over features of model m's table at the row's code.  `tables` holds
// each model's features side by side: tables[m * bins.total_width() + bins.offset(f) + code].
void score(const Table& table, const Bins& bins, const double* tables, std::size_t models,
           double* out, Team& team);

}  // namespace properboost
