// Planners: what each lane of a pack does in a round, before it knows how far it goes.
//
// There are two: one that looks for a feature and makes a look-up table over its codes, and one
// that grows a tree, which is a feature more whose codes are its nodes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "properboost/boosting/packs.hpp"
#include "properboost/boosting/selection.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/ensemble/ensemble.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/tree.hpp"
#include "properboost/votes/vote.hpp"
#include "properboost/votes/weighting.hpp"

namespace properboost {

// What all models share beside codes and bins.
struct Settings {
  const Selection* selection;
  const Response* response;
  const Step* step;
  double l2;
  bool keep_rounds;                        // or only what the rows held out say
  const Electorate* electorate = nullptr;  // of weak classifiers that vote
  double rho = 1.0;
  Weighting weighting = {};
};

// How a model has fared so far: means over the rows held out, an entry an estimator.
struct Course {
  std::vector<Rounds> rounds;  // one, or one a group of those that vote
  std::vector<double> log_loss, error, brier;
  std::size_t n_estimators = 0;
  bool finished = false;   // nothing lowers its risk any further
  bool separated = false;  // a step that solves for coefficients found none that are finite
};

// Sample weights as the engine sums them: divided by a power of two near their mean, which changes
// no digit and keeps every product of sums far from overflow and underflow.
struct SampleWeights {
  std::vector<double> scaled;  // empty for ones
  double scale = 1.0;          // weight = scale x scaled

  SampleWeights(const double* weight, std::size_t n);

  const double* data() const noexcept { return scaled.empty() ? nullptr : scaled.data(); }
};

inline void require_finite(double x, const char* what, std::size_t round) {
  if (!std::isfinite(x)) {
    throw std::runtime_error(std::string("boosting stopped: the ") + what + " of round " +
                             std::to_string(round) +
                             " is not finite; a larger gain or a smaller "
                             "learning_rate makes smaller steps");
  }
}

// What one lane does in one round.
struct Plan {
  bool moves = false;
  bool may_move_later = false;  // though it does not now: chance has a part in it
  bool ends = false;            // nothing is left to do after it
  std::int32_t feature = 0;
  const std::uint8_t* codes = nullptr;  // one a row
  double score = 0.0;
  double slope = 0.0;
  double largest = 0.0;
  std::vector<double> table;  // [group][code]
  std::size_t width = 0;      // codes
  Agreement agreement;
  Tree tree;                // whose nodes the codes are, if any
  std::vector<Cell> cells;  // [group][node], where there are several groups
};

// A pack, and what it is boosted on.  `packed` is there if there are trees to grow.
struct Workplace {
  const Codes& codes;
  const Bins& bins;
  const PackedCodes* packed;
  const std::vector<Model>& models;
  const Settings& settings;
  const SampleWeights& weights;
  const std::vector<Course>& courses;
  Pack& pack;
};

class Planner {
 public:
  explicit Planner(const Workplace& at) : at_(at) {}
  virtual ~Planner() = default;

  // The t-th table of an estimator, of all lanes that are active; the margins have been moved as
  // `orders(t)` said.  `progress` may throw.
  virtual std::vector<Plan> plan(std::size_t t, const std::vector<bool>& active,
                                 const std::function<void()>& progress, Team& team) = 0;
  // What to ask of the row pass before the t-th table.
  virtual Orders orders(std::size_t t) = 0;
  virtual std::size_t tables_per_estimator() const = 0;

 protected:
  const Model& model(std::size_t lane) const { return at_.models[at_.pack.models[lane]]; }
  std::size_t round(std::size_t lane) const {
    return at_.courses[at_.pack.models[lane]].n_estimators + 1;
  }
  // Sets the plan's table and where it leads.  Of each code of plan.codes: by_code holds its sums,
  // and the partition the cell whose value it gets.
  void set_table(Plan& plan, std::size_t lane, const Cell* by_code, std::size_t width, double cost,
                 const Partition& partition, Team& team) const;

  const Workplace at_;
};

std::unique_ptr<Planner> make_planner(const Workplace& at);

}  // namespace properboost
