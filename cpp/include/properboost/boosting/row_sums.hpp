// Sums over rows whose bits depend on nothing but the rows.
#pragma once

#include <cstddef>

#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

inline double wide(float x) { return static_cast<double>(x); }

// total[k] += sum over rows of the row's weight times term(row x W + k), in double, with a fixed
// number of accumulators, so that the compiler may use vectors although the order is fixed.
template <std::size_t W, class Term>
void add_rows(std::size_t rows, RowSampleWeights weight, double* total, const Term& term) {
  constexpr std::size_t kSums = W < 8 ? 8 : W;
  const std::size_t n = rows * W;
  double sums[kSums] = {};
  std::size_t j = 0;
  if (weight.all_ones()) {
    for (; j + kSums <= n; j += kSums) {
      for (std::size_t k = 0; k < kSums; ++k) sums[k] += term(j + k);
    }
    for (std::size_t k = 0; j + k < n; ++k) sums[k] += term(j + k);
  } else {
    for (; j + kSums <= n; j += kSums) {
      for (std::size_t k = 0; k < kSums; ++k) sums[k] += weight.given((j + k) / W) * term(j + k);
    }
    for (std::size_t k = 0; j + k < n; ++k) sums[k] += weight.given((j + k) / W) * term(j + k);
  }
  for (std::size_t k = 0; k < kSums; ++k) total[k % W] += sums[k];
}

}  // namespace properboost
