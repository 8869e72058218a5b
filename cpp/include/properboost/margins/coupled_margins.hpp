// Margins of models that are coupled: the classes of a joint model, whose weights depend on a row's
// scores in all of them.
//
// Margins are stored u = y F / gain, [lane][row], in segment order, so that the joint loss takes
// the rows of a class as vectors.  Weights are stored as planners read them, [row][lane] of each
// batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/margins/coupled_batch.hpp"
#include "properboost/margins/coupled_rows.hpp"
#include "properboost/margins/coupled_strip.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/margins/shift_guesses.hpp"
#include "properboost/margins/term_bounds.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/rounds/lanes.hpp"
#include "properboost/rounds/memory.hpp"

namespace properboost {

class CoupledMargins final : public MovingMargins {
 public:
  // The lanes of a batch, and their roles by segment.
  struct BatchLanes {
    std::size_t lanes;
    const std::vector<SegmentRoles>& roles;
    FurtherLanes further = {};
  };

  // `roles` has those of each class, by segment.  The objects that the arguments refer to must
  // outlive it.
  //
  // Classes that all move as far as is best for each alone overshoot: they move by `share` of that.
  // (K - 1) / K makes two classes the binary model, and is fast where overshooting is found out;
  // half is safe, because a joint loss's Hessian is dominated by twice its diagonal.
  CoupledMargins(const TrainingRows& rows, std::vector<const std::vector<Role>*> roles,
                 const std::vector<BatchLanes>& batches, const Loss& loss, const Coupling& coupling,
                 double share, bool needs_curvature);
  ~CoupledMargins() override;

  // The memory of `rows` rows, in batches of these widths.
  static Memory needs(std::size_t rows, const std::vector<std::size_t>& widths, const Loss& loss,
                      const Coupling& coupling, bool needs_curvature);

  BatchMargins& batch(std::size_t b) noexcept;

  std::size_t lanes_a_step() const noexcept override { return rows_.classes; }
  float u(std::size_t row, std::size_t lane) const noexcept override {
    return moved_.u[lane * rows_.codes.rows + row];
  }
  void set_u(std::size_t row, std::size_t lane, float u) noexcept override {
    moved_.u[lane * rows_.codes.rows + row] = u;
    last_.reset();
    moved_.largest_score = std::max(moved_.largest_score, std::abs(u));
  }
  void reduce_bounds(AllReduce all_reduce) override {
    double largest = wide(moved_.largest_score);
    all_reduce.most(largest).run();
    moved_.largest_score = static_cast<float>(largest);
  }
  std::vector<Point> move(const std::vector<Move>& moves, const std::vector<PassRequest>& requests,
                          Team& team) override;
  std::unique_ptr<LineSearchOracle> look_along(const std::vector<Move>& directions,
                                               Team& team) override;
  void forget_weights() override;

 private:
  class Oracle;
  class Pass;
  struct Units {  // of sums over rows
    TermUnits risk, weight, curvature;
  };
  struct LastPass {
    TermBounds bounds;
    bool risk;
    std::vector<Point> points;  // where nothing moves
  };

  void direct(const Move& move, ClassDirections& classes) const;
  double farthest(const ClassDirections& directions, Team& team) const;
  TermUnits units_of_slope(double most) const;
  Units units_of(const TermBounds& bounds) const;
  // Whether a pass that moves nothing would reproduce the last one's results, to the bit.
  bool repeats(const LastPass& last, bool needs_risk) const;
  // The slope at a step, along directions that lead there from where the model is.
  double slope_ahead(const ClassDirections& directions, double step, Team& team);
  // One pass over the rows, which moves every class; sums are in units of these bounds, and of an
  // upper bound on the slope's terms, which becomes the largest.
  std::vector<Point> move_all(const std::vector<Move>& moves, bool needs_risk,
                              const TermBounds& bounds, double& most_slope, Team& team);
  // Sums the stored weights into the requested cells.
  void fill(const std::vector<PassRequest>& requests, Team& team);

  const CoupledRows rows_;
  MovedRows moved_;
  // The guess for each row in the joint loss's last evaluation after a move.  An evaluation from
  // the same guess and scores has the same bits.
  Aligned<float> guess_;
  std::optional<ShiftGuesses> path_;  // if there is something to remember
  std::optional<LastPass> last_;      // if the weights are still those of the margins
  std::vector<std::unique_ptr<CoupledBatch>> batches_;
  Aligned<unsigned char> memory_;  // for the sums of cells
};

}  // namespace properboost
