// Soft labels: rows whose labels are probabilities, for joint models.
#pragma once

#include <cstddef>

namespace properboost {

// Without shares, the rows of a segment are of its class.  With shares, every row is one of all
// classes, each as much as it is probable.  Borrowed from the caller.
struct SoftLabels {
  const float* shares = nullptr;  // [class][row], which add up to 1 over the classes

  bool any() const noexcept { return shares != nullptr; }
  // Those of a class, of as many rows as there are.
  const float* of(std::size_t k, std::size_t rows) const noexcept { return shares + k * rows; }
};

// The share times the square of the weight that a row would have with one label: from its weight
// in a sum, which is that of the share, and from the same without a sample weight.
inline double square_by_share(double weighted, float weight, float share) noexcept {
  constexpr float kLeast = 1e-37F;  // below it the weight is 0, too
  return weighted * static_cast<double>(weight / (share > kLeast ? share : kLeast));
}

}  // namespace properboost
