// Planners: the update of each lane of a model batch in a round, before its step is known.
//
// Look-up tables are over a feature's codes.  A tree acts as one more feature, whose codes are its
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/rounds/fit_context.hpp"
#include "properboost/rounds/fit_state.hpp"
#include "properboost/rounds/model.hpp"
#include "properboost/rounds/model_batch.hpp"
#include "properboost/steps/step.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class CellOrder;
class FeatureLearner;
class GrownLearner;
class Team;
class TreeGrowers;
class VoteBoosting;
class WeakLearner;
struct HistogramMemory;
struct Partition;
struct PassRequest;

// The update of one lane in one round.
struct RoundUpdate {
  bool moves = false;
  bool may_move_later = false;  // a later random draw may find a move, though this one did not
  bool ends = false;            // no later round can move
  bool separated = false;       // no finite coefficients are best
  bool takes_turns = false;     // the last two rounds would alternate for ever
  std::int32_t feature = 0;
  const std::uint8_t* codes = nullptr;  // one per row
  double cost = 0.0;
  double slope = 0.0;
  double largest = 0.0;
  double step = 0.0;          // in units of the raw prediction
  double proposed = 0.0;      // the move of margins at gain 1, before it was corrected
  double taken = 0.0;         // and after
  std::vector<double> table;  // [target][code]
  std::size_t width = 0;      // codes
  Agreement agreement;
  Tree tree;                           // whose nodes the codes are, if any
  NodeLines lines;                     // in its leaves, if they have any
  const float* line_of_row = nullptr;  // the lines' values, one per row
  double largest_line = 0.0;           // size of an entry including its line
  std::vector<Cell> cells;             // [target][node], where there are several targets
};

// The data that a round may read, and the batch that it moves.
struct RoundContext : FitContext {
  ModelBatch& batch;
  std::shared_ptr<HistogramMemory> memory;  // of batches that plan one after the other
  TreeGrowers* growers;                     // null where nothing is planned

  const Model& model(std::size_t lane) const { return models[batch.models[lane]]; }
  std::size_t round(std::size_t lane) const { return states[batch.models[lane]].n_estimators + 1; }
};

void require_finite(double x, const char* what, std::size_t round);

class Planner {
 public:
  explicit Planner(const RoundContext& context) : at_(context) {}
  virtual ~Planner() = default;

  // The t-th look-up table of an estimator, for all active lanes.  The margins have been moved by
  // the pass of `request(t)`.  `progress` may throw.
  virtual std::vector<RoundUpdate> plan(std::size_t t, const std::vector<bool>& active,
                                        const std::function<void()>& progress, Team& team) = 0;
  // The request to the row pass before the t-th look-up table.
  virtual PassRequest request(std::size_t t) = 0;
  virtual std::size_t tables_per_estimator() const = 0;

 protected:
  // Sets the update's look-up table and slope.  For each code of update.codes, by_code holds its
  // sums, and the partition the cell whose value it gets.  Cells whose values are not in the order
  // are made one.
  void set_table(RoundUpdate& update, std::size_t lane, const Cell* by_code, std::size_t width,
                 double cost, Partition partition, const CellOrder& order, Team& team) const;

  // The learner's directions of each feature; nothing if there are none.
  std::vector<Directions> find_directions(const WeakLearner& learner) const;

  const RoundContext& at_;
};

// `learners` has one entry per lane.
std::unique_ptr<Planner> make_feature_planner(const RoundContext& context,
                                              const std::vector<const FeatureLearner*>& learners);
std::unique_ptr<Planner> make_tree_planner(const RoundContext& context,
                                           const GrownLearner& learner);
// Plans for all classes of a joint model.
std::unique_ptr<Planner> make_joint_tree_planner(const std::vector<const RoundContext*>& classes,
                                                 const GrownLearner& learner);
std::unique_ptr<Planner> make_vote_planner(const RoundContext& context,
                                           const VoteBoosting& algorithm,
                                           const FeatureLearner& learner);
std::unique_ptr<Planner> make_vote_planner(const RoundContext& context,
                                           const VoteBoosting& algorithm,
                                           const GrownLearner& learner);

}  // namespace properboost
