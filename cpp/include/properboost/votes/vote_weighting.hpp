// Vote weighting: how the weights of rows under voting classifiers differ from those of their loss.
#pragma once

#include <cstddef>

#include "properboost/core/aligned.hpp"
#include "properboost/margins/row_weighting.hpp"

namespace properboost {

struct VoteWeighting {
  // For a row of raw prediction F, each round's vote and the row's weight are multiplied by
  // e^(-damping |F|) (WeightBoost, Jin et al. 2003).
  double damping = 0.0;
  // A row's loss is taken at its margin plus mistrust x (sum of the steps) x influence^2.  Its
  // influence is the mean, by the rounds' steps, of its weight relative to the mean row
  // (AdaBoost_reg, Raetsch, Onoda and Mueller 2001).  So a row that had much weight and is still
  // misclassified gets less.
  double mistrust = 0.0;
};

// The weighting of one model's rows, and the state it needs for that.
//
// Votes need the weights of the exponential loss only up to a factor.  Margins are taken from an
// offset near the least of them, so that weights neither vanish nor overflow in any number of
// rounds.
class VoteRowWeighting final : public RowWeighting {
 public:
  VoteRowWeighting(const VoteWeighting& weighting, std::size_t rows);

  bool is_derivative() const noexcept override { return false; }
  void settle(double t) override;
  bool follow(double least) override;
  double least_argument(double least) const override { return least - offset_; }
  double most_amplified(double least) const override;
  double most_speed(double along) const override;
  double risk_factor() const override;
  void damp_moves(std::size_t n, const float* u, float* x) const override;
  void damp_weights(std::size_t n, const float* u, float* x) const override;
  const float* place(std::size_t begin, std::size_t n, const float* u, float* out,
                     float& least) const override;
  const float* place_ahead(std::size_t begin, std::size_t n, float t, const float* along, float* x,
                           float* out) const override;
  void note_weights(std::size_t begin, std::size_t end, const float* weight, double mean) override;

 private:
  double find_largest_share() const;
  bool mistrusts() const noexcept { return weighting_.mistrust > 0.0; }
  void damp(std::size_t n, const float* u, double from, float* x) const;
  void take_offset(std::size_t n, float* x) const noexcept;

  VoteWeighting weighting_;
  Aligned<float> influence_, share_;  // of each row, if mistrust is above 0
  double steps_ = 0.0;                // the sum of the steps
  double largest_share_ = 0.0;        // of any row before the last step
  double offset_ = 0.0;
};

}  // namespace properboost
