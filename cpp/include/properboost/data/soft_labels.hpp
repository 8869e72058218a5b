// Soft labels: rows whose labels are probabilities.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/core/aligned.hpp"

namespace properboost {

// Without shares, the rows of a segment are of its class.  With shares, every row is one of all
// classes, each as much as it is probable.  Borrowed from the caller.
struct SoftLabels {
  // [model][row]: the share of a model's positive class; all others have the rest, 1 less it.
  const float* shares = nullptr;

  bool any() const noexcept { return shares != nullptr; }
  // Those of a model, of as many rows as there are.
  const float* of(std::size_t k, std::size_t rows) const noexcept { return shares + k * rows; }
};

// The shares of the labels that lanes stand for, [row][lane]: of a lane's class in a row, `against`
// lanes after it of all others unless that is 0, and 1 in lanes that stand for neither.
inline Aligned<float> spread_shares(const std::vector<const float*>& of_lane, std::size_t rows,
                                    std::size_t width, std::size_t against) {
  Aligned<float> shares(rows * width, 1.0F);
  for (std::size_t k = 0; k < of_lane.size(); ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      float* const to = &shares[i * width + k];
      to[0] = of_lane[k][i];
      if (against > 0) to[against] = 1.0F - to[0];
    }
  }
  return shares;
}

// The share times the square of the weight that a row would have with one label: from its weight
// in a sum, which is that of the share, and from the same without a sample weight.
inline double square_by_share(double weighted, float weight, float share) noexcept {
  constexpr float kLeast = 1e-37F;  // below it the weight is 0, too
  return weighted * static_cast<double>(weight / (share > kLeast ? share : kLeast));
}

}  // namespace properboost
