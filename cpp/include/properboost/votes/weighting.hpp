// Weightings: how the weights of rows that vote depart from those their loss gives them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"

namespace properboost {

struct Weighting {
  // A row of raw prediction F hears every weak classifier, and counts in its choice, by
  // e^(-damping |F|) (WeightBoost, Jin et al. 2003).
  double damping = 0.0;
  // A row's loss is that of its margin plus mistrust x (sum of the steps) x influence^2, influence
  // being the mean, by the rounds' steps, of what the row weighed beside the mean row
  // (AdaBoost_reg, Raetsch, Onoda and Mueller 2001): who was given much weight, and still is wrong,
  // is given less.
  double mistrust = 0.0;
};

// The weighting of one model's rows, and what it knows of them.
//
// Votes need the weights of the exponential loss only up to a factor.  Margins are taken from an
// offset near the least of them, so that weights neither vanish nor overflow, however long they are
// boosted.
class RowWeighting {
 public:
  RowWeighting(const Weighting& weighting, std::size_t rows)
      : weighting_(weighting),
        influence_(mistrusts() ? rows : 0, 0.0f),
        share_(mistrusts() ? rows : 0, 0.0f) {}

  bool damps() const noexcept { return weighting_.damping > 0.0; }
  bool mistrusts() const noexcept { return weighting_.mistrust > 0.0; }
  double offset() const noexcept { return offset_; }
  // What a row weighs beside the mean row, before the next step.
  float& share(std::size_t row) noexcept { return share_[row]; }

  // Takes the least margin there is for the offset, if they have come far apart; whether it did.
  bool follow(double least) noexcept {
    constexpr double kFar = 16.0;
    if (!(std::abs(least - offset_) > kFar)) return false;
    offset_ = least;
    return true;
  }

  // The rows go a step t along a table, after which their influence is what it is.
  void settle(double t) noexcept {
    const auto step = static_cast<float>(t);
    steps_ += t;
    for (std::size_t i = 0; i < share_.size(); ++i) influence_[i] += step * share_[i];
  }

  // x *= e^(-damping |u|): how far rows move.
  void damp_moves(std::size_t n, const float* u, float* x) const { damp(n, u, 0.0, x); }
  // The same of weights, up to the factor that the offset stands for.
  void damp_weights(std::size_t n, const float* u, float* x) const {
    damp(n, u, std::max(offset_, 0.0), x);
  }

  // What the loss is taken at, of n rows from `begin` on whose margins are u; `least` becomes the
  // least of it before the offset, if that is less.
  const float* place(std::size_t begin, std::size_t n, const float* __restrict u,
                     float* __restrict out, float& least) const {
    std::copy_n(u, n, out);
    if (mistrusts() && steps_ > 0.0) {
      const auto factor = static_cast<float>(weighting_.mistrust / steps_);
      const float* __restrict influence = influence_.data() + begin;
      for (std::size_t i = 0; i < n; ++i) out[i] += factor * influence[i] * influence[i];
    }
    for (std::size_t i = 0; i < n; ++i) least = std::min(least, out[i]);
    take_offset(n, out);
    return out;
  }

  // The same for margins x that a step t would lead to, which change as fast as `along`; returns
  // how fast what the loss is taken at does, which is in `out` if it is not the same.
  const float* place_ahead(std::size_t begin, std::size_t n, float t, const float* along,
                           float* __restrict x, float* __restrict out) const {
    if (mistrusts()) {
      const auto mistrust = static_cast<float>(weighting_.mistrust);
      const float steps = static_cast<float>(steps_) + t;
      for (std::size_t i = 0; i < n; ++i) {
        const float share = share_[begin + i];
        // The mean of the shares so far and this one; before any step, this one.
        const float mean = steps > 0.0f ? (influence_[begin + i] + t * share) / steps : share;
        x[i] += mistrust * steps * mean * mean;
        out[i] = along[i] + mistrust * mean * (2.0f * share - mean);
      }
      along = out;
    }
    take_offset(n, x);
    return along;
  }

 private:
  void damp(std::size_t n, const float* __restrict u, double from, float* __restrict x) const {
    const auto rate = static_cast<float>(-weighting_.damping);
    const auto least = static_cast<float>(from);
    vectorized([=] {
      for (std::size_t i = 0; i < n; ++i) x[i] *= math::exp(rate * (std::abs(u[i]) - least));
    });
  }

  void take_offset(std::size_t n, float* x) const noexcept {
    const auto offset = static_cast<float>(offset_);
    for (std::size_t i = 0; i < n; ++i) x[i] -= offset;
  }

  Weighting weighting_;
  Aligned<float> influence_, share_;  // of each row, where rows are mistrusted
  double steps_ = 0.0;                // taken in all
  double offset_ = 0.0;
};

}  // namespace properboost
