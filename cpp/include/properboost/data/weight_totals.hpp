// What all rows weigh, those of other processes among them.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

struct WeightTotals {
  std::vector<double> of_segment;
  double all = 0.0;
  double most = 1.0;  // of a row

  WeightTotals() = default;
  WeightTotals(RowSampleWeights weight, const std::vector<std::size_t>& segments, Team& team) {
    std::vector<ExactSum> sums;
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      sums.push_back(weight.add_up(segments[s], segments[s + 1]));
    }
    most = weight.most(segments.back());
    Share share = team.share();
    for (ExactSum& sum : sums) sum.share(share);
    share.most(most).go();
    ExactSum total;
    for (const ExactSum& sum : sums) {
      of_segment.push_back(sum.value());
      total += sum;
    }
    all = total.value();
  }
};

}  // namespace properboost
