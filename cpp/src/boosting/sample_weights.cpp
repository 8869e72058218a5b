#include "properboost/boosting/sample_weights.hpp"

#include <cmath>

namespace properboost {

SampleWeights::SampleWeights(RowSampleWeights weight, std::size_t n) {
  if (weight.all_ones()) return;
  const double total = weight.sum(0, n);
  unit_ = std::exp2(std::round(std::log2(total / static_cast<double>(n))));
  weights_.resize(n);
  for (std::size_t i = 0; i < n; ++i) weights_[i] = scaled(weight[i]);
}

}  // namespace properboost
