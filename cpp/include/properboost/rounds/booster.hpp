// The booster, the only file that depends on the order of the stages.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/soft_labels.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/rounds/fit_context.hpp"
#include "properboost/rounds/fit_state.hpp"
#include "properboost/rounds/memory.hpp"
#include "properboost/rounds/model.hpp"

namespace properboost {

class Team;

// Called on the calling thread after each estimator, with the number of estimators done over all
// models and one model's training risk (without rounds, its held-out log loss); may throw.
using Progress = std::function<void(std::size_t, double)>;

// The rows as the caller passes them.
struct Rows {
  Codes codes;
  const Bins& bins;
  RowSampleWeights sample_weight = {};  // all positive
  std::optional<Base> base = {};        // or else models start from 0
  Peers* peers = nullptr;               // hold other rows of the same segments
  RowNumbers numbers = {};
  SoftLabels labels = {};  // of rows that are positive in every model
};

// Models trained together over the same rows, a batch of lanes at a time.
class Boosting {
 public:
  // Everything that rows, models and the algorithm refer to must outlive it.  Without `keep_rounds`
  // it keeps only the held-out curves; without `risk_of_tables`, the risk of a round is that after
  // its estimator, which costs less where that has many.
  Boosting(Rows rows, std::vector<Model> models, const Algorithm& algorithm,
           bool keep_rounds = true, bool risk_of_tables = true);
  ~Boosting();

  // Repeats the moves of `n_estimators` estimators of an earlier fit, whose rounds these are by
  // model: later rounds have the same bits as there, if rows and models are the same.  Only before
  // the first advance, and not for steps that are solved for.
  void repeat(const std::vector<Rounds>& rounds, std::size_t n_estimators, Team& team);

  // Boosts these models by n more estimators each, or until no round lowers their risk.  Others are
  // done, unless they are kept to go on later.
  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team, bool keep_others = false);

  std::size_t size() const noexcept;
  // Groups of models that advance in step; progress is called from one of them.
  std::size_t cohorts() const noexcept;
  const FitState& state(std::size_t model) const noexcept;
  // The memory to boost all models, as long as none of them has been advanced.
  Memory memory() const;
  // An estimate, in nanoseconds, of the longest loop that threads share in n rounds.
  double longest_loop(std::size_t n) const;
  // The raw predictions of a model's held-out rows, in segment order.
  std::vector<double> held_out(std::size_t model) const;
  // The raw predictions of all rows, 0 where they have no role; empty for a model that has left its
  // batch.
  std::vector<double> raw(std::size_t model) const;
  // The number of rows of each code, features side by side; empty before the first advance.
  std::vector<std::size_t> code_counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
