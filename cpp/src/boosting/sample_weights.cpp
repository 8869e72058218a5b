#include "properboost/boosting/sample_weights.hpp"

#include <cmath>

namespace properboost {

SampleWeights::SampleWeights(RowSampleWeights weight, std::size_t n) {
  if (weight.all_ones()) return;
  const double total = weight.sum(0, n);
  int exponent = 0;
  const double mean = std::frexp(total / static_cast<double>(n), &exponent);
  unit_ = std::ldexp(1.0, mean < std::sqrt(0.5) ? exponent - 1 : exponent);
  weights_.resize(n);
  for (std::size_t i = 0; i < n; ++i) weights_[i] = scaled(weight[i]);
}

}  // namespace properboost
