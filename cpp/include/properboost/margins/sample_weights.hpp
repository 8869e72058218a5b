// Sample weights, and the unit they have inside the engine.
//
// The engine sums weights divided by a power of two near their mean.  That changes no digit, and
// keeps products of sums far from overflow and underflow.  `scaled` converts a weight that comes
// in; `unscaled` converts a sum that goes out.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

class Team;

class SampleWeights {
 public:
  // For n rows; all of these weights are positive.
  SampleWeights(RowSampleWeights weight, std::size_t n, Team& team);

  // The scaled weights of the rows.
  RowSampleWeights rows() const noexcept {
    return weights_.empty() ? RowSampleWeights() : RowSampleWeights(weights_.data(), unit_);
  }

  double scaled(double weight) const noexcept { return weight / unit_; }
  double unscaled(double sum) const noexcept { return sum * unit_; }

 private:
  std::vector<double> weights_;  // empty for ones
  double unit_ = 1.0;
};

}  // namespace properboost
