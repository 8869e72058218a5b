// The booster's interface to margins: planners read a batch's weights, steppers move the margins of
// all batches that advance in step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/histogram/lane_units.hpp"
#include "properboost/rounds/held_out_means.hpp"

namespace properboost {

class Histogram;
class LineSearchOracle;
class RowsByCell;
class AllReduce;
class Team;
struct RowShare;

// A lane's rows move by t times the look-up table, each by the entry of its code; and by t times
// their lines, if there are any.  Several vote targets have one look-up table each, `width` entries
// apart.
struct Move {
  std::size_t lane;
  const std::uint8_t* codes;  // one per row: a feature's
  const std::vector<double>& table;
  double t;
  std::size_t width;
  const float* lines = nullptr;  // one per row
};

// One feature's cells, to be filled from weights that are not kept.
struct CellsOfFeature {
  Histogram& histogram;
  std::size_t feature;
  const std::uint8_t* codes;  // one per row
};

// Sums over rows that the next plan needs, under the weights that a pass leaves.  Peers reduce them
// together with the pass's own sums, so their units are those of the pass before, and the plan
// checks whether they were right.  Margins of joint models do not sum ahead.
class SumsAhead {
 public:
  virtual ~SumsAhead() = default;
  // These are all processes' values before this pass.  Where they cannot hold the sums of this
  // one's rows, nothing `fits`, and nothing must be summed; as many numbers are reduced all the
  // same.
  virtual void sum(const CellUnits& units, double most_weight, bool fits, AllReduce& all_reduce,
                   Team& team) = 0;
};

// The outputs of a row pass, besides the moved margins.
struct PassRequest {
  std::optional<CellsOfFeature> cells = {};  // under the new weights, which need not be kept
  bool risk = false;                         // of the training rows
  bool held_out = false;                     // log loss, error and Brier score
  bool keeps_weights = false;                // besides the cells
  SumsAhead* ahead = nullptr;                // used where there are peers, and units to go by
};

// A lane's means after a pass.  Slope and risk are at gain 1, per unit of training weight.
struct Point {
  double slope = 0.0;
  double risk = 0.0;
  HeldOutMeans held_out;
  std::array<HeldOutMeans, 2> of_class;  // of the negative class, and of the positive
};

// The rows of a batch, under the weights of the last pass.
class BatchMargins {
 public:
  virtual ~BatchMargins() = default;
  virtual std::size_t lanes() const noexcept = 0;
  virtual double training_weight(std::size_t lane) const noexcept = 0;
  virtual const float* weight() const noexcept = 0;     // [row][lane]
  virtual const float* curvature() const noexcept = 0;  // the same; null if none are needed
  // With soft labels the weights are those towards the lane's class.  These are then the ones
  // against it, and the class's shares of the rows; the same, or null.
  virtual const float* against() const noexcept { return nullptr; }
  virtual const float* shares() const noexcept { return nullptr; }
  // How often there have been new ones.
  virtual std::uint64_t renewals() const noexcept = 0;
  // The units in which each lane's weights and curvatures, times the sample weights, are summed.
  virtual const LaneUnits& cell_units() const noexcept = 0;
  // An upper bound on the weights of a lane.
  virtual double most_weight(std::size_t lane) const noexcept = 0;
  // How fast the risk falls where a lane begins to move so; `t` is ignored.
  virtual double directional_slope(const Move& direction, Team& team) = 0;
  // The rows of one lane behind one feature's cells; all arguments must outlive it.
  virtual std::unique_ptr<RowsByCell> rows_by_cell(std::size_t lane, const std::uint8_t* codes,
                                                   const std::vector<RowShare>& shares,
                                                   std::size_t n_cells, Team& team) = 0;
  // Gives the weighting the weight of every row; `mean` is the mean weight.
  virtual void note_weights(double /*mean*/, Team& /*team*/) {}
};

// The margins of batches that advance in step; their lanes are counted through.
class MovingMargins {
 public:
  virtual ~MovingMargins() = default;
  // The neighbouring lanes that move by one step: 1, or the classes of a joint model.
  virtual std::size_t lanes_a_step() const noexcept = 0;
  virtual float u(std::size_t row, std::size_t lane) const noexcept = 0;
  virtual void set_u(std::size_t row, std::size_t lane, float u) noexcept = 0;
  // Once all have been set: makes their bounds the same in all processes.
  virtual void reduce_bounds(AllReduce all_reduce) = 0;
  // Moves some lanes, in ascending order, for good; returns a point per lane.  There is one request
  // per batch.
  virtual std::vector<Point> move(const std::vector<Move>& moves,
                                  const std::vector<PassRequest>& requests, Team& team) = 0;
  // The risk along the look-up tables of lanes that move by one step; `t` is ignored.
  virtual std::unique_ptr<LineSearchOracle> look_along(const std::vector<Move>& directions,
                                                       Team& team) = 0;
  // Frees memory whose content can be recomputed.
  virtual void forget_weights() = 0;
};

}  // namespace properboost
