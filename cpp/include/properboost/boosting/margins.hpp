// Margins and weights of a pack's rows, and the one row pass everything else is made of.
//
// The margin kept is u = y F / gain, [row][lane], in segment order.  Moving a lane's rows along a
// table shifts u by +t g on the positive side and -t g on the negative one, and tells the slope
// there: how fast the risk still falls along the table.  The weights it leaves behind are the next
// round's; where only one feature's cells are asked for, they are summed on the spot instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/votes/vote.hpp"
#include "properboost/votes/weighting.hpp"

namespace properboost {

// A lane's rows move by t times the table, each by the entry of its code; no table, no move.
// Rows of several groups have a table each, `width` entries apart.
struct Move {
  const std::uint8_t* codes = nullptr;  // one a row: a feature's
  const std::vector<double>* table = nullptr;
  double t = 0.0;
  std::size_t width = 0;
};

// What is asked of a pass beside moving: the cells of one feature under the new weights (null
// leaves the weights of all rows instead), the risk of the training rows, and what the rows held
// out say.
struct Orders {
  Histogram* cells = nullptr;
  std::size_t feature = 0;
  bool risk = false;
  bool judge = false;
};

class Margins {
 public:
  // Where a lane is after a pass.  Slope and risk at gain 1, per unit of training weight; the rest
  // per unit of held-out weight.
  struct Point {
    double slope = 0.0;
    double risk = 0.0;
    double log_loss = 0.0;
    double error = 0.0;
    double brier = 0.0;
  };

  // `roles` has an entry a segment; `sample_weight` (or null, for ones) is in segment order.
  Margins(const Codes& codes, const Bins& bins, const std::vector<SegmentRoles>& roles,
          std::size_t lanes, const double* sample_weight, const Loss& loss, bool needs_curvature,
          const Electorate* electorate = nullptr, const Weighting& weighting = {});

  std::size_t lanes() const noexcept { return lanes_; }
  double training_weight(std::size_t lane) const noexcept { return training_weight_[lane]; }
  const float* weight() const noexcept { return weight_.data(); }
  const float* curvature() const noexcept {
    return curvature_.empty() ? nullptr : curvature_.data();
  }
  float u(std::size_t row, std::size_t lane) const noexcept { return u_[row * lanes_ + lane]; }
  float& u(std::size_t row, std::size_t lane) noexcept { return u_[row * lanes_ + lane]; }

  // Moves lane k by moves[k], for good.
  std::vector<Point> move(const std::vector<Move>& moves, const Orders& orders, Team& team);

  // Keeps what every row weighs beside the mean row, for whoever mistrusts rows that weigh much.
  void note_shares(double mean, Team& team);

  // What can be worked out again is given back.
  void forget_weights();

  // One lane's rows on their own, for steps that look before they go and for responses that need
  // more than the cells.
  void single_out(std::size_t lane, Team& team);

  // The direction in which `slope_after` looks.
  void face(std::size_t lane, const std::uint8_t* codes, const std::vector<double>& table,
            Team& team);

  // The slope after the singled-out lane's move by t along what it faces, without making it.
  double slope_after(std::size_t lane, double t, Team& team);

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
    bool singled_out_ = false;
  };

 private:
  using Sums = std::array<double, kMostLanes>;
  template <std::size_t W>
  class Pass;

  float* spare();
  double nanoseconds(double a_margin) const {
    return a_margin * static_cast<double>(codes_.rows * lanes_);
  }
  std::size_t groups() const noexcept { return electorate_ == nullptr ? 1 : electorate_->groups(); }
  std::size_t group(const Chunk& chunk) const noexcept {
    return electorate_ == nullptr ? 0 : electorate_->group(chunk.segment);
  }

  template <class Task>
  void for_chunks(double ns_a_margin, Team& team, const Task& task);
  template <class Task>
  void for_training_chunks(std::size_t lane, double ns_a_row, Team& team, const Task& task);
  void add_cells(std::size_t lane, const std::uint8_t* codes, const RowShare& share,
                 std::size_t n_cells, const double* values, double* slope, double* curvature,
                 Team& team);
  void evaluate_pseudo_rows(double value, double* slope, double* curvature) const;

  const Codes& codes_;
  const Bins& bins_;
  const std::vector<SegmentRoles>& roles_;
  std::size_t lanes_;
  const double* sample_weight_;
  const Loss& loss_;
  bool needs_curvature_;
  const Electorate* electorate_;
  std::vector<Chunk> chunks_;  // of the segments with a role
  Sums training_weight_{}, held_out_weight_{};
  Aligned<float> u_, weight_, curvature_;
  Aligned<float> scratch_;
  std::optional<RowWeighting> weighting_;  // of rows that vote
  double least_ = 0.0;                     // what their loss was taken at, before the offset
  const float* own_ = nullptr;             // of the lane singled out
  const float* along_ = nullptr;
};

}  // namespace properboost
