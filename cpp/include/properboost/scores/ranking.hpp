// Scores that depend on raw predictions only by the ranks of the rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace properboost {

struct RankScores {
  double auc;                // the area under the receiver operating characteristic
  double average_precision;  // the mean precision, by the recall that each threshold adds
};

// Rows of the same raw prediction have one threshold.  Rows count by their weight, 1 if it is null;
// scores are NaN where only one class counts.
RankScores rank_scores(const double* raw, const bool* positive, const double* weight,
                       std::size_t n);

}  // namespace properboost
