// Margins of models that are coupled: the classes of joint models, whose weights depend on a row's
// scores in all of them.
//
// Margins are stored u = y F / gain, [lane][row], in segment order, so that the joint loss takes
// the rows of a class as vectors.  Weights are stored as planners read them, [row][lane] of each
// batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/algorithm.hpp"
#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/memory.hpp"
#include "properboost/boosting/moving_margins.hpp"
#include "properboost/boosting/term_bounds.hpp"
#include "properboost/core/aligned.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/losses/loss.hpp"

namespace properboost {

class CoupledMargins final : public MovingMargins {
 public:
  // The lanes of a batch, and their roles by segment.
  struct BatchLanes {
    std::size_t lanes;
    const std::vector<SegmentRoles>& roles;
  };

  // `roles` has those of each lane's model, by segment.  What the arguments refer to must outlive
  // it.
  //
  // Classes that all move as far as is best for each alone overshoot: they move by `share` of that.
  // (K - 1) / K makes two classes the binary model, and is fast where overshooting is found out;
  // half is safe, because a joint loss's Hessian is dominated by twice its diagonal.
  CoupledMargins(const TrainingRows& rows, std::vector<const std::vector<Role>*> roles,
                 const std::vector<BatchLanes>& batches, const Loss& loss, const Coupling& coupling,
                 double share, bool needs_curvature);
  ~CoupledMargins() override;

  // What so many rows take in all lanes, those of batches of such widths.
  static Memory needs(std::size_t rows, std::size_t lanes, const std::vector<std::size_t>& widths,
                      const Loss& loss, const Coupling& coupling, bool needs_curvature);

  BatchMargins& batch(std::size_t b) noexcept;

  std::size_t lanes_a_step() const noexcept override { return classes_; }
  float u(std::size_t row, std::size_t lane) const noexcept override {
    return u_[lane * codes_.rows + row];
  }
  void set_u(std::size_t row, std::size_t lane, float u) noexcept override {
    u_[lane * codes_.rows + row] = u;
    largest_score_ = std::max(largest_score_, std::abs(u));
  }
  void share_bounds(Share share) override {
    double largest = wide(largest_score_);
    share.most(largest).go();
    largest_score_ = static_cast<float>(largest);
  }
  std::vector<Point> move(const std::vector<Move>& moves, const std::vector<PassRequest>& requests,
                          Team& team) override;
  std::unique_ptr<LineSearchOracle> look_along(const std::vector<Move>& directions,
                                               Team& team) override;
  void forget_weights() override;

 private:
  class Batch;
  class Oracle;
  class ByCell;
  class Strip;

  // A class's look-up table, empty where the class does not move.
  struct Direction {
    const std::uint8_t* codes = nullptr;
    std::vector<float> table = {};
    float t = 0.0F;
    const float* lines = nullptr;
  };
  using Directions = std::vector<Direction>;  // of the classes

  // What a joint model's rows have been found to remember at some steps along its tables.  Between
  // them it changes smoothly, so that what they make it elsewhere is nearly right.
  class Path;

  std::size_t joint_models() const noexcept { return roles_.size() / classes_; }
  Role role(std::size_t lane, std::size_t segment) const { return (*roles_[lane])[segment]; }
  void direct(const Move& move, Directions& classes) const;
  using Bounds = TermBounds;  // of a row and class
  Bounds bounds_ahead(double farthest) const;
  static Bounds share_largest(const std::vector<Bounds>& blocks, const Bounds& before,
                              bool has_curvature, bool has_loss, Share share);
  double farthest(const std::vector<float>& table, const float* lines, Team& team) const;
  double farthest(const Directions& directions, Team& team) const;
  TermUnits units_of_slope(double most) const;
  // task(c, strip) for the strips of the blocks that a joint model trains on; each has its part of
  // the margins in it.
  template <class Task>
  void for_training_strips(std::size_t model, Team& team, const Task& task) const;
  // The slope at a step, along directions that lead there from where the model is.
  double slope_ahead(std::size_t model, const Directions& directions, double step, Team& team);
  // One pass over the rows, which moves every lane; sums are in units of these bounds, and of what
  // no term of a joint model's slope exceeds, which becomes the largest.
  std::vector<Point> move_all(const std::vector<Move>& moves,
                              const std::vector<PassRequest>& requests, const Bounds& bounds,
                              std::vector<double>& most_slopes, Team& team);

  const TrainingRows& rows_;
  const Codes& codes_;
  const RowSampleWeights sample_weight_;
  const std::size_t classes_;
  const std::vector<const std::vector<Role>*> roles_;  // of the lanes
  const Loss& loss_;
  const std::shared_ptr<const JointLoss> joint_;
  const double share_;
  const bool needs_curvature_;
  const std::size_t strip_;       // rows whose scores stay in the cache
  std::vector<RowBlock> blocks_;  // of the segments with a role
  const double total_weight_, most_sample_weight_;
  std::vector<double> training_weight_;  // of the joint models
  float largest_score_ = 0.0F;
  Bounds largest_{1.0, 0.0, 0.0};  // of the terms of the last pass
  Aligned<float> u_;               // [lane][row]
  // [joint model][row]: what the joint loss remembers, and what it was given when it was last asked
  // after a move.  Asked again where nothing has moved, it says the same, to the bit.
  Aligned<float> shift_, guess_;
  std::vector<Path> paths_;  // of the joint models, if there is something to remember
  std::vector<std::unique_ptr<Batch>> batches_;
};

}  // namespace properboost
