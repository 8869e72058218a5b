// Sample weights, and the unit they have inside the engine.
//
// The engine sums weights divided by a power of two near their mean.  That changes no digit, and
// keeps products of sums far from overflow and underflow.  `scaled` converts a weight that comes
// in; `unscaled` converts a sum that goes out.
#pragma once

#include <cstddef>
#include <vector>

namespace properboost {

class SampleWeights {
 public:
  // All entries of `weight` are positive; null stands for ones.
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
