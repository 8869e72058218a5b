// Upper bounds on the terms of sums over rows, and when sums are computed again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/row_sums.hpp"

namespace properboost {

// The size of the largest of some numbers, or `most`; a NaN does not count.
//
// Sizes are in the order of their bits, whose largest is found with vectors.
template <class Numbers>
float find_largest(std::size_t n, const Numbers& number, float most) {
  constexpr std::int32_t kInfinity = 0x7F800000;
  std::int32_t largest = to_bits(most);
  vectorized([&, n, number] {
    std::int32_t most_bits = largest;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t size = to_bits(number(i)) & 0x7FFFFFFF;
      most_bits = std::max(most_bits, size <= kInfinity ? size : 0);
    }
    largest = most_bits;
  });
  std::memcpy(&most, &largest, sizeof most);
  return most;
}

struct TermBounds {
  double weight, curvature, loss;
};

// The largest of numbers that are not negative.
template <class Number>
Number largest_of(const std::vector<Number>& numbers) {
  Number most{0};
  for (const Number number : numbers) most = std::max(most, number);
  return most;
}

// Whether a bound, now that the largest is known, leaves sums too few digits: where all weights
// have become tiny, as those of separated classes do, sums are computed again in units of their
// actual size.
inline bool is_loose(double bound, double largest) noexcept { return bound > 256.0 * largest; }
// The same of a sum over all rows, a slope or a risk: it bounds terms by far, with several classes,
// and still has the digits of a float for each of ten million rows.
inline bool is_loose_in_all(double bound, double largest) noexcept {
  return bound > 4096.0 * largest;
}
inline bool is_loose(const TermBounds& bounds, const TermBounds& largest) noexcept {
  return is_loose(bounds.weight, largest.weight) || is_loose(bounds.curvature, largest.curvature) ||
         is_loose_in_all(bounds.loss, largest.loss);
}

// Calls pass(bound), which sums in units of a bound and returns the least bound it has found, until
// that is no looser than it had to be.  Twice is enough unless bounds are found with rounding.
template <class Bound, class Pass>
void sum_tightly(Bound bound, const Pass& pass) {
  for (;;) {
    const Bound actual = pass(bound);
    if (!is_loose(bound, actual)) return;
    bound = actual;
  }
}

}  // namespace properboost
