#include "properboost/data/weight_totals.hpp"

#include "properboost/core/exact_sum.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {

WeightTotals::WeightTotals(RowSampleWeights weight, const std::vector<std::size_t>& segments,
                           Team& team) {
  std::vector<ExactSum> sums;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    sums.push_back(weight.add_up(segments[s], segments[s + 1]));
  }
  most = weight.most(segments.back());
  AllReduce all_reduce = team.all_reduce();
  for (ExactSum& sum : sums) sum.add_to(all_reduce);
  all_reduce.most(most).run();
  ExactSum total;
  for (const ExactSum& sum : sums) {
    of_segment.push_back(sum.value());
    total += sum;
  }
  all = total.value();
}

}  // namespace properboost
