// Yes or no for every label, by the larger weight; no if the weights are equal (AdaBoost.MH,
// Schapire and Singer 1999).
#pragma once

#include <algorithm>
#include <cstddef>

#include "properboost/votes/vote.hpp"

namespace properboost::votes {

class Labels final : public Vote {
 public:
  static constexpr const char* name = "labels";
  Labels(std::size_t labels, VoteCriterion criterion) : Vote(labels), criterion_(criterion) {}

  std::size_t slots() const noexcept override { return 2 * targets; }
  std::size_t slot(std::size_t target, bool positive) const noexcept override {
    return 2 * target + (positive ? 0 : 1);
  }
  std::size_t ways() const noexcept override { return 2; }

  double cost(const double* sums) const noexcept override {
    double cost = 0.0;
    for (std::size_t k = 0; k < targets; ++k) {
      const double yes = sums[2 * k];
      const double no = sums[2 * k + 1];
      if (criterion_ == VoteCriterion::kError) {
        cost += std::min(yes, no);
      } else if (yes + no > 0.0) {
        cost += 2.0 * yes * (no / (yes + no));
      }
    }
    return cost;
  }

  void values(const double* sums, double* out) const noexcept override {
    for (std::size_t k = 0; k < targets; ++k) {
      const double yes = sums[2 * k];
      const double no = sums[2 * k + 1];
      out[k] = yes > no ? 1.0 : no > 0.0 ? -1.0 : 0.0;
    }
  }

 private:
  VoteCriterion criterion_;
};

}  // namespace properboost::votes
