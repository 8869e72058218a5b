// Vote weighting: how the weights of rows that vote depart from those their loss gives them.
#pragma once

#include <cstddef>

#include "properboost/boosting/row_weighting.hpp"
#include "properboost/core/aligned.hpp"

namespace properboost {

struct VoteWeighting {
  // A row of raw prediction F hears every weak classifier, and counts in its choice, by
  // e^(-damping |F|) (WeightBoost, Jin et al. 2003).
  double damping = 0.0;
  // A row's loss is that of its margin plus mistrust x (sum of the steps) x influence^2, influence
  // being the mean, by the rounds' steps, of what the row weighed beside the mean row
  // (AdaBoost_reg, Raetsch, Onoda and Mueller 2001): a row that was given much weight, and still is
  // wrong, is given less.
  double mistrust = 0.0;
};

// The weighting of one model's rows, and what it knows of them.
//
// Votes need the weights of the exponential loss only up to a factor.  Margins are taken from an
// offset near the least of them, so that weights neither vanish nor overflow, however long they are
// boosted.
class VoteRowWeighting final : public RowWeighting {
 public:
  VoteRowWeighting(const VoteWeighting& weighting, std::size_t rows);

  void settle(double t) override;
  bool follow(double least) override;
  double risk_factor() const override;
  void damp_moves(std::size_t n, const float* u, float* x) const override;
  void damp_weights(std::size_t n, const float* u, float* x) const override;
  const float* place(std::size_t begin, std::size_t n, const float* u, float* out,
                     float& least) const override;
  const float* place_ahead(std::size_t begin, std::size_t n, float t, const float* along, float* x,
                           float* out) const override;
  void note_weights(std::size_t begin, std::size_t end, const float* weight, double mean) override;

 private:
  bool mistrusts() const noexcept { return weighting_.mistrust > 0.0; }
  void damp(std::size_t n, const float* u, double from, float* x) const;
  void take_offset(std::size_t n, float* x) const noexcept;

  VoteWeighting weighting_;
  Aligned<float> influence_, share_;  // of each row, where rows are mistrusted
  double steps_ = 0.0;                // taken in all
  double offset_ = 0.0;
};

}  // namespace properboost
