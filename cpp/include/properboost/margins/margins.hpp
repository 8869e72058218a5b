// Margins and weights of a model batch's rows, and the row pass that all other operations are built
// on.
//
// The stored margin is u = y F / gain, [row][lane], in segment order.  Moving a lane's rows along a
// look-up table g shifts u by +t g in the positive class and by -t g in the negative one.  It
// returns the slope after the move: how fast the risk still falls along the look-up table.  The
// pass stores the weights for the next round; if only one feature's cells are requested, it sums
// the weights at once instead.
//
// Rows with soft labels have two margins, u and -u, in a lane and in the one against it.  Their
// weights are those of either label times its share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/math.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/margins/blocks_together.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/margins/row_weighting.hpp"
#include "properboost/margins/rows_at_shift.hpp"
#include "properboost/margins/term_bounds.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/lanes.hpp"
#include "properboost/rounds/memory.hpp"
#include "properboost/steps/line_search_oracle.hpp"
#include "properboost/votes/vote_targets.hpp"

namespace properboost {

class AllReduce;

class Margins final : public BatchMargins, public MovingMargins {
 public:
  // `roles` has one entry per segment, and `models` one per lane.  All arguments must outlive it.
  Margins(const TrainingRows& rows, const std::vector<SegmentRoles>& roles,
          const std::vector<std::size_t>& models, FurtherLanes further, bool feeds_trees,
          const Loss& loss, bool needs_curvature, const VoteTargets& targets,
          std::unique_ptr<RowWeighting> weighting);

  // The memory of `rows` rows in `lanes` lanes.  Weights are stored unless cells are summed as rows
  // move, as for bounded losses.
  static Memory needs(std::size_t rows, std::size_t lanes, const Loss& loss, bool keeps_weights,
                      bool needs_curvature) noexcept;

  std::size_t lanes() const noexcept override { return lanes_; }
  double training_weight(std::size_t lane) const noexcept override {
    return training_weight_[lane];
  }
  const float* weight() const noexcept override { return weight_.data(); }
  const float* curvature() const noexcept override {
    return curvature_.empty() ? nullptr : curvature_.data();
  }
  const float* against() const noexcept override {
    return against_.empty() ? nullptr : against_.data();
  }
  const float* shares() const noexcept override {
    if (shares_.empty()) return nullptr;
    return keeps_apart_ ? share_of_lane_.front() : shares_.data();
  }
  std::uint64_t renewals() const noexcept override { return renewals_; }
  const LaneUnits& cell_units() const noexcept override { return units_; }
  double most_weight(std::size_t lane) const noexcept override {
    return bounds_ahead(lane, 0.0).weight;
  }
  double directional_slope(const Move& direction, Team& team) override;
  std::unique_ptr<RowsByCell> rows_by_cell(std::size_t lane, const std::uint8_t* codes,
                                           const std::vector<RowShare>& shares, std::size_t n_cells,
                                           Team& team) override {
    return std::make_unique<ByCell>(*this, lane, codes, shares, n_cells, team);
  }
  void note_weights(double mean, Team& team) override;

  std::size_t lanes_a_step() const noexcept override { return 1; }
  float u(std::size_t row, std::size_t lane) const noexcept override {
    return u_[row * lanes_ + lane];
  }
  void set_u(std::size_t row, std::size_t lane, float u) noexcept override {
    u_[row * lanes_ + lane] = u;
    least_u_[lane] = std::min(least_u_[lane], u);
    if (!further_.any()) return;
    u_[row * lanes_ + lane + further_.against] = -u;
    least_u_[lane] = std::min(least_u_[lane], -u);
    least_u_[lane + further_.against] = least_u_[lane];
  }
  void reduce_bounds(AllReduce all_reduce) override;
  std::vector<Point> move(const std::vector<Move>& moves, const std::vector<PassRequest>& requests,
                          Team& team) override;
  std::unique_ptr<LineSearchOracle> look_along(const std::vector<Move>& directions,
                                               Team& team) override {
    return std::make_unique<Oracle>(*this, directions.front(), team);
  }
  void forget_weights() override;

 private:
  // One lane's risk along a look-up table.
  class Oracle final : public LineSearchOracle {
   public:
    Oracle(Margins& margins, const Move& direction, Team& team)
        : margins_(margins), direction_(direction), team_(team) {}
    double slope_at(double t) override;
    void moved_to(double t) override;

   private:
    Margins& margins_;
    const Move direction_;
    Team& team_;
    double at_ = 0.0;
    bool ready_ = false;
  };

  // The rows of one lane behind one feature's cells.
  class ByCell final : public RowsAtShift {
   public:
    ByCell(Margins& margins, std::size_t lane, const std::uint8_t* codes,
           const std::vector<RowShare>& shares, std::size_t n_cells, Team& team)
        : RowsAtShift(margins.loss_, shares, n_cells),
          margins_(margins),
          lane_(lane),
          codes_(codes),
          team_(team) {}

   private:
    CellSums sum_rows(const CellOfCode& cell_of,
                      const std::array<float, kMaxCodes>& shift) override;

    Margins& margins_;
    std::size_t lane_;
    const std::uint8_t* codes_;
    Team& team_;
    bool ready_ = false;
  };

  using Sums = std::array<double, kMostLanes>;
  template <std::size_t W>
  class Pass;

  // Bounds where no margin is below `least`, or once a lane's rows have moved `farthest` at most.
  using Bounds = TermBounds;
  Bounds bounds_at(double least) const;
  Bounds bounds_ahead(std::size_t lane, double farthest) const {
    return bounds_at(static_cast<double>(least_u_[lane]) - farthest);
  }
  // Whether weights are so small, however far rows move, that cells may be summed as they do.
  static bool are_bounded(const Loss& loss);
  // The sample weight of held-out rows, by class and lane.
  void weigh_held_out(const WeightTotals& totals);
  float* spare();
  double nanoseconds(double a_margin) const {
    return a_margin * static_cast<double>(codes_.rows * lanes_);
  }
  void select_lane(std::size_t lane, Team& team);
  void set_direction(const Move& direction, Team& team);
  double slope_ahead(std::size_t lane, double t, Team& team);
  // A lane that does not move goes by the bounds of the pass before while these hold, as if others
  // had not moved either; unless it is to find its own `afresh`.
  using LanesThat = std::array<bool, kMostLanes>;
  std::vector<Point> move_all(const std::vector<Move>& moves, const PassRequest& request,
                              Team& team, const LanesThat& afresh = {});
  bool bounds_hold(std::size_t lane) const;
  bool has_loose_sums(const Point& point, std::size_t lane) const;
  template <class Task>
  void for_blocks(double ns_a_margin, Team& team, const Task& task) {
    team.for_each(blocks_.size(), nanoseconds(ns_a_margin), task);
  }
  // Calls task(c, block, sign) for the blocks that the lane trains on.
  template <class Task>
  void for_training_blocks(std::size_t lane, double ns_a_row, Team& team, const Task& task) {
    const double nanoseconds = ns_a_row * static_cast<double>(codes_.rows);
    team.for_each(blocks_.size(), nanoseconds, [&](std::size_t c) {
      const SegmentRoles& r = roles_[blocks_[c].segment];
      if (r.trained[lane]) task(c, blocks_[c], wide(r.sign[lane]));
    });
  }

  const TrainingRows& rows_;
  const Codes& codes_;
  const std::vector<SegmentRoles>& roles_;
  const FurtherLanes further_;
  const bool keeps_apart_;  // the weights for and against a single model's class, for trees
  std::size_t lanes_;
  const RowSampleWeights sample_weight_;
  const Loss& loss_;
  bool needs_curvature_;
  bool keeps_weights_ = false;
  std::uint64_t renewals_ = 0;
  const VoteTargets& targets_;
  std::vector<RowBlock> blocks_;          // of the segments with a role
  std::vector<BlocksTogether> together_;  // of those
  Sums training_weight_{}, held_out_weight_{};
  std::array<Sums, 2> held_out_of_class_{};
  Aligned<float> u_, weight_, curvature_, against_;
  std::vector<const float*> share_of_lane_;  // of rows with soft labels, and the same [row][lane]
  Aligned<float> shares_;
  Aligned<float> scratch_;
  Aligned<unsigned char> memory_;  // for the sums of cells
  double total_weight_, most_sample_weight_;
  std::array<float, kMostLanes> least_u_{};  // no margin of a training row is below
  std::array<Bounds, kMostLanes> bounds_{};  // those that the last pass went by
  LaneUnits units_{};
  std::unique_ptr<RowWeighting> weighting_;
  double least_ = 0.0;             // the least argument of the loss, before any offset
  const float* lane_u_ = nullptr;  // margins of the lane selected
  const float* along_ = nullptr;
  double farthest_ = 0.0;  // entry of along_
};

}  // namespace properboost
