// One class per cell, the heaviest: 1 - 1/C for it and -1/C for the others, so that they add up to
// 0 (SAMME, Zhu et al. 2009; AR-Boost, Algorithm 2).  With two classes it is twice that, -1 or +1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "properboost/votes/vote.hpp"

namespace properboost::votes {

class Plurality final : public Vote {
 public:
  static constexpr const char* name = "plurality";
  Plurality(std::size_t classes, VoteCriterion criterion) : Vote(classes), criterion_(criterion) {}

  std::size_t slots() const noexcept override { return targets; }
  std::size_t slot(std::size_t target, bool) const noexcept override { return target; }
  std::size_t ways() const noexcept override { return targets; }

  double cost(const double* sums) const noexcept override {
    const double total = std::accumulate(sums, sums + targets, 0.0);
    if (criterion_ == VoteCriterion::kError) return total - *std::max_element(sums, sums + targets);
    if (!(total > 0.0)) return 0.0;
    double squares = 0.0;
    for (std::size_t k = 0; k < targets; ++k) squares += sums[k] * (sums[k] / total);
    return total - squares;
  }

  void values(const double* sums, double* out) const noexcept override {
    std::fill_n(out, targets, 0.0);
    const double* const heaviest = std::max_element(sums, sums + targets);
    if (!(*heaviest > 0.0)) return;
    const double unit = targets == 2 ? 2.0 : 1.0;
    std::fill_n(out, targets, -unit / static_cast<double>(targets));
    out[heaviest - sums] += unit;
  }

 private:
  VoteCriterion criterion_;
};

}  // namespace properboost::votes
