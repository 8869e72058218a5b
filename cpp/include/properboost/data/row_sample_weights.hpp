// The sample weights of rows, as every stage of the engine reads them.
#pragma once

#include <cstddef>

namespace properboost {

// Borrowed, in segment order; without an array all of them are 1.
class RowSampleWeights {
 public:
  RowSampleWeights() = default;
  // Null for ones.
  explicit RowSampleWeights(const double* weight) : weight_(weight) {}

  bool all_ones() const noexcept { return weight_ == nullptr; }
  double operator[](std::size_t row) const noexcept {
    return weight_ == nullptr ? 1.0 : weight_[row];
  }
  // The same where not all are ones, for loops that are written twice.
  double given(std::size_t row) const noexcept { return weight_[row]; }
  // The sum of the rows from `begin` to `end`, added one by one.
  double sum(std::size_t begin, std::size_t end) const noexcept {
    if (all_ones()) return static_cast<double>(end - begin);
    double total = 0.0;
    for (std::size_t i = begin; i < end; ++i) total += weight_[i];
    return total;
  }
  // Those of the rows from `begin` on.
  RowSampleWeights from(std::size_t begin) const noexcept {
    return RowSampleWeights(weight_ == nullptr ? nullptr : weight_ + begin);
  }

 private:
  const double* weight_ = nullptr;
};

}  // namespace properboost
