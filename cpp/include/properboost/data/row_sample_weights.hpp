// The sample weights of rows, as every stage of the engine reads them.
#pragma once

#include <algorithm>
#include <cstddef>

namespace properboost {

class ExactSum;

// Borrowed, in segment order; without an array all of them are 1.
class RowSampleWeights {
 public:
  RowSampleWeights() = default;
  // Null for ones.  They were divided by `unit`, a power of two.
  explicit RowSampleWeights(const double* weight, double unit = 1.0)
      : weight_(weight), unit_(unit) {}

  double unit() const noexcept { return unit_; }
  bool all_ones() const noexcept { return weight_ == nullptr; }
  double operator[](std::size_t row) const noexcept {
    return weight_ == nullptr ? 1.0 : weight_[row];
  }
  // The same where not all are ones, for loops that are written twice.
  double stored(std::size_t row) const noexcept { return weight_[row]; }
  // The sum of the rows from `begin` to `end`; their order does not matter.
  double sum(std::size_t begin, std::size_t end) const;
  ExactSum add_up(std::size_t begin, std::size_t end) const;
  // The largest of n rows.
  double most(std::size_t n) const noexcept {
    return all_ones() || n == 0 ? 1.0 : *std::max_element(weight_, weight_ + n);
  }
  // Those of the rows from `begin` on.
  RowSampleWeights from(std::size_t begin) const noexcept {
    return RowSampleWeights(weight_ == nullptr ? nullptr : weight_ + begin, unit_);
  }

 private:
  const double* weight_ = nullptr;
  double unit_ = 1.0;
};

}  // namespace properboost
