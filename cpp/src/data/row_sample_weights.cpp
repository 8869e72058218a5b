#include "properboost/data/row_sample_weights.hpp"

#include "properboost/core/exact_sum.hpp"

namespace properboost {

double RowSampleWeights::sum(std::size_t begin, std::size_t end) const {
  return add_up(begin, end).value();
}

ExactSum RowSampleWeights::add_up(std::size_t begin, std::size_t end) const {
  ExactSum total;
  if (all_ones()) {
    total.add(static_cast<double>(end - begin));
  } else {
    for (std::size_t i = begin; i < end; ++i) total.add(weight_[i]);
  }
  return total;
}

}  // namespace properboost
