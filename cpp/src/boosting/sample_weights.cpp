#include "properboost/boosting/sample_weights.hpp"

#include <cmath>
#include <numeric>

namespace properboost {

SampleWeights::SampleWeights(const double* weight, std::size_t n) {
  if (weight == nullptr) return;
  const double total = std::accumulate(weight, weight + n, 0.0);
  unit_ = std::exp2(std::round(std::log2(total / static_cast<double>(n))));
  weights_.resize(n);
  for (std::size_t i = 0; i < n; ++i) weights_[i] = scaled(weight[i]);
}

}  // namespace properboost
