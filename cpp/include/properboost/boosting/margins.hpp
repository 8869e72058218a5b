// Margins and weights of a model batch's rows, and the row pass that all other operations are built
// on.
//
// The stored margin is u = y F / gain, [row][lane], in segment order.  Moving a lane's rows along a
// look-up table g shifts u by +t g in the positive class and by -t g in the negative one.  It
// returns the slope after the move: how fast the risk still falls along the look-up table.  The
// pass stores the weights for the next round; if only one feature's cells are asked for, it sums
// the weights at once instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/row_weighting.hpp"
#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/line_search_oracle.hpp"
#include "properboost/votes/vote_targets.hpp"

namespace properboost {

// A lane's rows move by t times the look-up table, each by the entry of its code.  Several vote
// targets have one look-up table each, `width` entries apart.
struct Move {
  std::size_t lane;
  const std::uint8_t* codes;  // one per row: a feature's
  const std::vector<double>& table;
  double t;
  std::size_t width;
};

// One feature's cells, to be filled from weights that are not kept.
struct CellsOfFeature {
  Histogram& histogram;
  std::size_t feature;
};

// What a row pass computes besides moving the margins.
struct PassRequest {
  std::optional<CellsOfFeature> cells = {};  // under the new weights, instead of keeping these
  bool risk = false;                         // of the training rows
  bool held_out = false;                     // log loss, error and Brier score
};

class Margins {
 public:
  // A lane's sums after a pass.  Slope and risk are at gain 1, per unit of training weight; the
  // rest is per unit of held-out weight.
  struct Point {
    double slope = 0.0;
    double risk = 0.0;
    double log_loss = 0.0;
    double error = 0.0;
    double brier = 0.0;
  };

  // `roles` has one entry per segment.  All arguments must outlive it.
  Margins(const TrainingRows& rows, const std::vector<SegmentRoles>& roles, std::size_t lanes,
          const Loss& loss, bool needs_curvature, const VoteTargets& targets,
          std::unique_ptr<RowWeighting> weighting);

  std::size_t lanes() const noexcept { return lanes_; }
  double training_weight(std::size_t lane) const noexcept { return training_weight_[lane]; }
  const float* weight() const noexcept { return weight_.data(); }
  const float* curvature() const noexcept {
    return curvature_.empty() ? nullptr : curvature_.data();
  }
  float u(std::size_t row, std::size_t lane) const noexcept { return u_[row * lanes_ + lane]; }
  float& u(std::size_t row, std::size_t lane) noexcept { return u_[row * lanes_ + lane]; }

  // Moves some lanes, in ascending order, for good; returns a point per lane.
  std::vector<Point> move(const std::vector<Move>& moves, const PassRequest& request, Team& team);

  // Tells the weighting the weight of every row; `mean` is the mean weight.
  void note_weights(double mean, Team& team);

  // Frees what can be recomputed.
  void forget_weights();

  // One lane's risk along a look-up table.
  class Oracle final : public LineSearchOracle {
   public:
    Oracle(Margins& margins, std::size_t lane, const std::uint8_t* codes,
           const std::vector<double>& table, Team& team)
        : margins_(margins), lane_(lane), codes_(codes), table_(table), team_(team) {}
    double slope_at(double t) override;
    void moved_to(double t) override;

   private:
    Margins& margins_;
    std::size_t lane_;
    const std::uint8_t* codes_;
    const std::vector<double>& table_;
    Team& team_;
    double at_ = 0.0;
    bool ready_ = false;
  };

  // The rows of one lane behind one feature's cells.
  class ByCell final : public RowsByCell {
   public:
    ByCell(Margins& margins, std::size_t lane, const std::uint8_t* codes,
           const std::vector<RowShare>& shares, std::size_t n_cells, Team& team)
        : margins_(margins),
          lane_(lane),
          codes_(codes),
          shares_(shares),
          n_(n_cells),
          team_(team) {}
    void evaluate(const double* values, double* slope, double* curvature) override;
    void evaluate_pseudo_rows(double value, double* slope, double* curvature) const override;

   private:
    Margins& margins_;
    std::size_t lane_;
    const std::uint8_t* codes_;
    const std::vector<RowShare>& shares_;
    std::size_t n_;
    Team& team_;
    bool ready_ = false;
  };

 private:
  using Sums = std::array<double, kMostLanes>;
  template <std::size_t W>
  class Pass;

  float* spare();
  double nanoseconds(double a_margin) const {
    return a_margin * static_cast<double>(codes_.rows * lanes_);
  }
  void select_lane(std::size_t lane, Team& team);
  void set_direction(std::size_t lane, const std::uint8_t* codes, const std::vector<double>& table,
                     Team& team);
  double slope_ahead(std::size_t lane, double t, Team& team);
  template <class Task>
  void for_blocks(double ns_a_margin, Team& team, const Task& task);
  template <class Task>
  void for_training_blocks(std::size_t lane, double ns_a_row, Team& team, const Task& task);
  void add_cells(std::size_t lane, const std::uint8_t* codes, const RowShare& share,
                 std::size_t n_cells, const double* values, double* slope, double* curvature,
                 Team& team);
  void evaluate_pseudo_rows(double value, double* slope, double* curvature) const;

  const Codes& codes_;
  const Bins& bins_;
  const std::vector<SegmentRoles>& roles_;
  std::size_t lanes_;
  const RowSampleWeights sample_weight_;
  const Loss& loss_;
  bool needs_curvature_;
  const VoteTargets& targets_;
  std::vector<RowBlock> blocks_;  // of the segments with a role
  Sums training_weight_{}, held_out_weight_{};
  Aligned<float> u_, weight_, curvature_;
  Aligned<float> scratch_;
  std::unique_ptr<RowWeighting> weighting_;
  double least_ = 0.0;          // the least argument of the loss, before any offset
  const float* own_ = nullptr;  // margins of the lane selected
  const float* along_ = nullptr;
};

}  // namespace properboost
