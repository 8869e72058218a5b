// The booster: the only file that knows the order of the stages.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/boosting/algorithm.hpp"
#include "properboost/boosting/fit_state.hpp"
#include "properboost/boosting/model.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

// Called on the calling thread after each estimator with the estimators of all models done and one
// model's training risk (without rounds, its log loss on the rows held out); may throw.
using Progress = std::function<void(std::size_t, double)>;

// Raw predictions that models start from: [model][row] in segment order, or one row for all models;
// null for zeros.
struct Base {
  const double* raw = nullptr;
  std::size_t stride = 0;  // from one model to the next

  double of(std::size_t model, std::size_t i) const noexcept {
    return raw == nullptr ? 0.0 : raw[model * stride + i];
  }
};

// The rows as the caller has them.
struct Rows {
  Codes codes;
  const Bins& bins;
  const double* sample_weight = nullptr;  // all positive, in segment order; null for ones
  Base base = {};
};

// Models trained together over the same rows, a batch of lanes at a time.
class Boosting {
 public:
  // What rows, models and the algorithm refer to must outlive it.  Without `keep_rounds` it keeps
  // only what the rows held out say.
  Boosting(Rows rows, std::vector<Model> models, const Algorithm& algorithm,
           bool keep_rounds = true);
  ~Boosting();

  // Boosts these models by n more estimators each, or until nothing helps them.
  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team);

  std::size_t size() const noexcept;
  const FitState& state(std::size_t model) const noexcept;
  // A guess of the nanoseconds of the longest loop that n rounds share out.
  double longest_loop(std::size_t n) const noexcept;
  // The raw predictions of the rows held out from a model, in segment order.
  std::vector<double> held_out(std::size_t model) const;
  // And of all rows, 0 where they have no role; of a model that has left its batch nothing.
  std::vector<double> raw(std::size_t model) const;
  // How many rows each code holds, features side by side; nothing before the first advance.
  std::vector<std::size_t> code_counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
