// The shifts of a joint model's rows at earlier steps along its tables, for guesses at new ones.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"

namespace properboost {

// Between these steps the shifts change smoothly, so interpolation elsewhere is nearly right.
class ShiftGuesses {
 public:
  static constexpr std::size_t kMost = 3;  // steps

  // Where a path begins.
  void begin(const float* shift, std::size_t rows) {
    rows_ = rows;
    at_ = 0.0;
    points_ = 0;
    add(0.0);
    std::copy_n(shift, rows, shifts_[0].data());
  }
  void move_by(double t) {
    at_ += t;
    add(at_);
  }
  // Goes to a step, whose shifts take the place of those of the step farthest from it if there are
  // many.
  void add(double step) {
    share_.fill(0.0F);
    for (std::size_t j = 0; j < points_; ++j) {
      double share = 1.0;
      for (std::size_t i = 0; i < points_; ++i) {
        if (i != j) share *= (step - steps_[i]) / (steps_[j] - steps_[i]);
      }
      share_[j] = static_cast<float>(share);
    }
    known_ = points_;
    // One that is almost there is replaced: their difference would be all noise.
    std::size_t nearest = 0, farthest = 0;
    for (std::size_t j = 1; j < points_; ++j) {
      if (distance(step, j) < distance(step, nearest)) nearest = j;
      if (distance(step, j) > distance(step, farthest)) farthest = j;
    }
    const bool full = points_ == kMost;
    const bool close = points_ > 1 && distance(step, nearest) < 0.01 * distance(step, farthest);
    place_ = close ? nearest : full ? farthest : points_;
    points_ = std::max(points_, place_ + 1);
    steps_[place_] = step;
    shifts_[place_].resize(rows_);
  }
  // `guess` predicts the shifts of some rows at this step from the other steps; `keep` stores the
  // shifts that were computed.
  void guess(std::size_t begin, std::size_t n, float* guess) const {
    std::fill_n(guess, n, 0.0F);
    for (std::size_t j = 0; j < known_; ++j) {
      const float* const shift = shifts_[j].data() + begin;
      vectorized([=, share = share_[j]] {
        for (std::size_t i = 0; i < n; ++i) guess[i] += share * shift[i];
      });
    }
  }
  void keep(std::size_t begin, std::size_t n, const float* shift) {
    std::copy_n(shift, n, shifts_[place_].data() + begin);
  }

 private:
  double distance(double step, std::size_t j) const { return std::abs(step - steps_[j]); }

  std::size_t rows_ = 0, points_ = 0, known_ = 0, place_ = 0;
  double at_ = 0.0;  // where the model is
  std::array<double, kMost> steps_{};
  std::array<float, kMost> share_{};  // of the steps, in the guess
  std::array<Aligned<float>, kMost> shifts_;
};

}  // namespace properboost
