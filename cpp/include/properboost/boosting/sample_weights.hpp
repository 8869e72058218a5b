// Sample weights, and the unit they have inside the engine.
//
// The engine sums weights divided by a power of two near their mean, which changes no digit and
// keeps every product of sums far from overflow and underflow.  What comes in as a weight is scaled
// by `scaled`; what goes out is given back its unit by `unscaled`.
#pragma once

#include <cstddef>
#include <vector>

namespace properboost {

class SampleWeights {
 public:
  // `weight` is all positive, or null for ones.
  SampleWeights(const double* weight, std::size_t n);

  // The scaled weights of the rows; null for ones.
  const double* data() const noexcept { return weights_.empty() ? nullptr : weights_.data(); }

  double scaled(double weight) const noexcept { return weight / unit_; }
  double unscaled(double sum) const noexcept { return sum * unit_; }

 private:
  std::vector<double> weights_;  // empty for ones
  double unit_ = 1.0;
};

}  // namespace properboost
