// Sums over rows that depend on nothing but the rows: not on their order, nor on how they are cut
// into blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "properboost/boosting/lanes.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

inline double wide(float x) { return static_cast<double>(x); }

using WholeSums = std::array<std::int64_t, kMostLanes>;

// The units of each lane's terms, powers of two.  A term is rounded to whole units by adding and
// taking away a number whose last digit is a unit; so vectors of doubles add what is exact.
class TermUnits {
 public:
  // No term is larger, and so many are added up.  Twice the bound is allowed for, since it may be
  // rounded itself.
  void set(std::size_t lane, double largest, std::size_t rows) {
    int exponent = 0;
    std::frexp(std::clamp(2.0 * largest, kLeast, kMost), &exponent);
    int of_rows = 0;
    while (rows >> of_rows != 0) ++of_rows;
    const int digits = std::min(kDigits, 62 - of_rows);  // of a term
    unit_[lane] = std::ldexp(1.0, exponent - digits);
    rounder_[lane] = 0x1.8p52 * unit_[lane];
  }
  double rounder(std::size_t lane) const noexcept { return rounder_[lane]; }
  // The whole number that a sum of terms is.
  std::int64_t count(std::size_t lane, double sum) const {
    const double units = sum / unit_[lane];
    if (!(std::abs(units) < 0x1p62)) throw std::logic_error("a term is larger than its bound");
    return static_cast<std::int64_t>(units);
  }
  double value(std::size_t lane, std::int64_t sum) const noexcept {
    return static_cast<double>(sum) * unit_[lane];
  }

  static constexpr int kDigits = 43;
  static constexpr std::size_t kTogether = 256;  // terms that a double holds the sum of

 private:
  static constexpr double kLeast = 0x1p-900, kMost = 0x1p900;

  std::array<double, kMostLanes> unit_{}, rounder_{};
};

// total[k] += sum over rows of the row's weight times term(row x W + k), with a fixed number of
// accumulators, so that the compiler may use vectors.
template <std::size_t W, class Term>
void add_rows(std::size_t rows, RowSampleWeights weight, const TermUnits& units, WholeSums& total,
              const Term& term) {
  constexpr std::size_t kSums = W < 8 ? 8 : W;
  const std::size_t n = rows * W;
  double rounder[kSums];
  for (std::size_t k = 0; k < kSums; ++k) rounder[k] = units.rounder(k % W);
  for (std::size_t begin = 0; begin < n;) {
    const std::size_t end = std::min(n, begin + kSums * TermUnits::kTogether);
    double sums[kSums] = {};
    std::size_t j = begin;
    if (weight.all_ones()) {
      for (; j + kSums <= end; j += kSums) {
        for (std::size_t k = 0; k < kSums; ++k) {
          sums[k] += (term(j + k) + rounder[k]) - rounder[k];
        }
      }
      for (std::size_t k = 0; j + k < end; ++k) {
        sums[k] += (term(j + k) + rounder[k]) - rounder[k];
      }
    } else {
      const auto weighed = [&](std::size_t i) { return weight.given(i / W) * term(i); };
      for (; j + kSums <= end; j += kSums) {
        for (std::size_t k = 0; k < kSums; ++k) {
          sums[k] += (weighed(j + k) + rounder[k]) - rounder[k];
        }
      }
      for (std::size_t k = 0; j + k < end; ++k) {
        sums[k] += (weighed(j + k) + rounder[k]) - rounder[k];
      }
    }
    for (std::size_t k = 0; k < kSums; ++k) total[k % W] += units.count(k % W, sums[k]);
    begin = end;
  }
}

}  // namespace properboost
