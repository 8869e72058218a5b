#include "properboost/scores/ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace properboost {

RankScores rank_scores(const double* raw, const bool* positive, const double* weight,
                       std::size_t n) {
  std::vector<std::pair<double, std::size_t>> order(n);  // the highest first
  for (std::size_t i = 0; i < n; ++i) order[i] = {-raw[i], i};
  std::sort(order.begin(), order.end());
  double above[2] = {0.0, 0.0};  // weight of the negative class, and of the positive
  double pairs = 0.0;            // of one row of either class, in the right order
  double precision = 0.0;
  for (std::size_t begin = 0; begin < n;) {
    double tied[2] = {0.0, 0.0};
    std::size_t end = begin;
    for (; end < n && order[end].first == order[begin].first; ++end) {
      const std::size_t row = order[end].second;
      tied[positive[row] ? 1 : 0] += weight == nullptr ? 1.0 : weight[row];
    }
    pairs += tied[0] * (above[1] + 0.5 * tied[1]);
    above[0] += tied[0];
    above[1] += tied[1];
    if (tied[1] > 0.0) precision += tied[1] * (above[1] / (above[0] + above[1]));
    begin = end;
  }
  if (!(above[0] > 0.0 && above[1] > 0.0)) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone};
  }
  return {pairs / above[0] / above[1], precision / above[1]};
}

}  // namespace properboost
