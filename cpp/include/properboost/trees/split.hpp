// Split search: the best two sets of one feature's codes, by a prefix scan of its histogram.
//
// Ordered bins are cut between neighbours and the missing bin goes to the side that suits it
// better.  Categories are first ordered by their share of the positive class (or gradient over
// curvature); the best cut of that order is the best split into two sets.  Codes without training
// rows of a categorical feature, and missing values when training had none, belong to neither side.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

// Costs this close, relatively, are equal: the earlier choice wins, so that the order of additions
// (threads, lanes, bundles) cannot decide a model.
constexpr double kTie = 1e-7;

// The first of the least costs; 0 if none is a number, for the caller to find out.
inline std::size_t first_best(const double* costs, std::size_t n) {
  constexpr std::size_t kLeast = 4;  // that need not wait for each other
  std::array<double, kLeast> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    double& l = least[i % kLeast];
    l = costs[i] < l ? costs[i] : l;
  }
  const double best = *std::min_element(least.begin(), least.end());
  for (std::size_t i = 0; i < n; ++i) {
    if (costs[i] <= best + kTie * std::abs(best)) return i;
  }
  return 0;
}

class Split {
 public:
  static constexpr std::uint8_t kLeft = 0, kRight = 1, kNeither = 2;

  double cost;
  CellOfCode side;  // of each code

  // The best split of those whose sides each weigh at least `least` and whose share of the positive
  // class rises from left to right (direction 1) or falls (-1), or no split if that is as good:
  // then all codes are on the left.  Rows beside those of the codes may belong to the sides anyway.
  Split(const FeatureCells& f, const Criterion& criterion, const Regularizers& r,
        double least = 0.0, int direction = 0, const Cell& beside_left = {},
        const Cell& beside_right = {}) {
    find_order(f, criterion);
    const bool floating = f.bins->ordered() && f.occupied[missing(f)] != 0;
    std::array<Cell, kMaxCodes + 1> right;  // right[i]: all from the i-th of the order on
    Cell sum = beside_right;
    right[size_] = sum;
    for (std::size_t i = size_; i-- > 0;) {
      sum += f.cells[order_[i]];
      right[i] = sum;
    }
    std::array<Cell, kMaxCodes + 1> left;  // left[i]: all before the i-th
    left[0] = sum = beside_left;
    for (std::size_t i = 0; i < size_; ++i) {
      sum += f.cells[order_[i]];
      left[i + 1] = sum;
    }
    // Of equal splits the first: no split, then missing on the left before the right, then the
    // fewest codes on the left.
    std::array<double, 2 * kMaxCodes> costs;
    std::array<Cell, kMaxCodes + 1> with_missing;
    const auto add_missing = [&](const std::array<Cell, kMaxCodes + 1>& cells) {
      for (std::size_t i = 0; i <= size_; ++i) {
        with_missing[i] = cells[i];
        with_missing[i] += f.cells[missing(f)];
      }
      return with_missing.data();
    };
    const std::size_t cuts = std::max<std::size_t>(size_, 1);  // with missing on the left
    std::size_t n = cuts;
    const Cell* const lefts = floating ? add_missing(left) : left.data();
    criterion.split_costs(lefts + size_, &right[size_], 1, r, costs.data());
    try_cuts(lefts + 1, &right[1], cuts - 1, criterion, r, least, direction, &costs[1]);
    if (floating) {
      try_cuts(&left[1], add_missing(right) + 1, size_, criterion, r, least, direction,
               &costs[cuts]);
      n += size_;
    }
    const std::size_t best = first_best(costs.data(), n);
    cost = costs[best];
    const bool missing_left = best < cuts;
    const std::size_t codes = best == 0 ? size_ : missing_left ? best : best - cuts + 1;
    side.fill(kNeither);
    for (std::size_t i = 0; i < size_; ++i) side[order_[i]] = i < codes ? kLeft : kRight;
    if (floating) side[missing(f)] = missing_left ? kLeft : kRight;
  }

  void swap_sides() {
    for (std::uint8_t& s : side) {
      if (s != kNeither) s = s == kLeft ? kRight : kLeft;
    }
  }

 private:
  static std::size_t missing(const FeatureCells& f) {
    return static_cast<std::size_t>(f.bins->missing());
  }

  // Of the positive class, or the gradient's of the curvature.
  static double share(const Cell& c, const Criterion& criterion) {
    const double numerator = criterion.needs_curvature() ? c.gradient() : c.positive;
    const double denominator = criterion.needs_curvature() ? c.curvature : c.weight();
    return denominator > 0.0 ? numerator / denominator : 0.0;
  }

  static void try_cuts(const Cell* left, const Cell* right, std::size_t n,
                       const Criterion& criterion, const Regularizers& r, double least,
                       int direction, double* costs) {
    criterion.split_costs(left, right, n, r, costs);
    const auto weight = [&](const Cell& c) {
      return criterion.needs_curvature() ? c.curvature : c.weight();
    };
    for (std::size_t i = 0; least > 0.0 && i < n; ++i) {
      if (!(weight(left[i]) >= least && weight(right[i]) >= least)) {
        costs[i] = std::numeric_limits<double>::infinity();
      }
    }
    for (std::size_t i = 0; direction != 0 && i < n; ++i) {
      if (direction * (share(right[i], criterion) - share(left[i], criterion)) < 0.0) {
        costs[i] = std::numeric_limits<double>::infinity();
      }
    }
  }

  void find_order(const FeatureCells& f, const Criterion& criterion) {
    if (f.bins->ordered()) {
      size_ = static_cast<std::size_t>(f.bins->bins());
      std::iota(order_.begin(), order_.begin() + f.bins->bins(), std::uint8_t{0});
      return;
    }
    for (std::size_t b = 0; b < f.width(); ++b) {  // a category, and missing is one of them
      if (f.occupied[b] != 0) order_[size_++] = static_cast<std::uint8_t>(b);
    }
    std::stable_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(size_),
                     [&](std::uint8_t a, std::uint8_t b) {
                       return share(f.cells[a], criterion) < share(f.cells[b], criterion);
                     });
  }

  std::array<std::uint8_t, kMaxCodes> order_;  // in which codes are cut
  std::size_t size_ = 0;
};

}  // namespace properboost
