#include "properboost/learners/evidence.hpp"

#include <algorithm>

#include "properboost/trees/best_cut.hpp"

namespace properboost {

Contrast find_evidence(const double* positive, const double* negative, std::size_t n,
                       bool ordered) {
  constexpr double kLeastShare = 1e-150;  // a class with less counts for nothing
  double positives = 0.0, negatives = 0.0;
  std::size_t occupied = 0;
  for (std::size_t b = 0; b < n; ++b) {
    positives += positive[b];
    negatives += negative[b];
    occupied += positive[b] > 0.0 || negative[b] > 0.0 ? 1 : 0;
  }
  const bool comparable =
      kLeastShare * positives < negatives && kLeastShare * negatives < positives;
  if (occupied < 2 || !comparable) return {};
  const double share = 1.0 / (1.0 + negatives / positives);
  double largest = 0.0;
  if (ordered) {
    double p = 0.0, q = 0.0;
    std::size_t cells = 0;
    for (std::size_t b = 0; b < n; ++b) {
      if (!(positive[b] > 0.0 || negative[b] > 0.0)) continue;
      if (++cells == occupied) break;  // nothing is on the right of the last
      p += positive[b] / positives;
      q += negative[b] / negatives;
      const double left_p = std::min(p, 1.0), left_q = std::min(q, 1.0);
      Divergence cut = Divergence::of_cell(left_p, left_q, share);
      cut += Divergence::of_cell(1.0 - left_p, 1.0 - left_q, share);
      largest = std::max(largest, cut.statistic());
    }
  } else {
    Divergence all;
    for (std::size_t b = 0; b < n; ++b) {
      all += Divergence::of_cell(positive[b] / positives, negative[b] / negatives, share);
    }
    largest = all.statistic();
  }
  return {largest / (1.0 / positives + 1.0 / negatives),
          ordered ? freedom_of_best_cut(occupied, true) : static_cast<double>(occupied) - 1.0};
}

}  // namespace properboost
