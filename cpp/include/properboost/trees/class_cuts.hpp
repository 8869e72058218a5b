// The costs of cutting a feature's codes in two, by a criterion of two classes.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

class ClassCuts {
 public:
  // Each branch weighs at least `least` (or has that curvature, if the criterion needs it), and the
  // share of the positive class rises from left to right (direction 1) or falls (-1).  Rows other
  // than those of the codes may belong to the branches as well.
  ClassCuts(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
            double least = 0.0, int direction = 0, const Cell& beside_left = {},
            const Cell& beside_right = {})
      : feature_(feature),
        criterion_(criterion),
        regularizers_(r),
        curved_(criterion.needs_curvature()),
        least_(least),
        direction_(direction),
        beside_left_(beside_left),
        beside_right_(beside_right) {}

  bool occupied(std::size_t code) const { return feature_.occupied[code] != 0; }
  std::array<double, kMaxCodes> shares() const {
    std::array<double, kMaxCodes> shares{};
    for (std::size_t b = 0; b < feature_.width(); ++b) shares[b] = share(feature_.cells[b]);
    return shares;
  }

  void find_costs(const CutOrder& order, double* before, double* after) const {
    const std::size_t n = order.size;
    const Cell* const cells = feature_.cells;
    Cells right;  // right[i]: all from the i-th of the order on
    Cell sum = beside_right_;
    right[n] = sum;
    for (std::size_t i = n; i-- > 0;) {
      sum += cells[order.codes[i]];
      right[i] = sum;
    }
    Cells left;  // left[i]: all before the i-th
    left[0] = sum = beside_left_;
    for (std::size_t i = 0; i < n; ++i) {
      sum += cells[order.codes[i]];
      left[i + 1] = sum;
    }
    Cells with_missing;
    const auto add_missing = [&](const Cells& without) {
      for (std::size_t i = 0; i <= n; ++i) {
        with_missing[i] = without[i];
        with_missing[i] += cells[order.missing];
      }
      return with_missing.data();
    };
    const Cell* const lefts = order.floating ? add_missing(left) : left.data();
    criterion_.split_costs(lefts + n, &right[n], 1, regularizers_, before);
    if (n > 1) try_cuts(lefts + 1, &right[1], n - 1, before + 1);
    if (order.floating) try_cuts(&left[1], add_missing(right) + 1, n, after);
  }

 private:
  using Cells = std::array<Cell, kMaxCodes + 1>;

  // The share of the positive class, or the ratio of gradient to curvature.
  double share(const Cell& c) const {
    const double numerator = curved_ ? c.gradient() : c.positive;
    const double denominator = weight(c);
    return denominator > 0.0 ? numerator / denominator : 0.0;
  }

  double weight(const Cell& c) const { return curved_ ? c.curvature : c.weight(); }

  void try_cuts(const Cell* left, const Cell* right, std::size_t n, double* costs) const {
    criterion_.split_costs(left, right, n, regularizers_, costs);
    for (std::size_t i = 0; least_ > 0.0 && i < n; ++i) {
      if (!(weight(left[i]) >= least_ && weight(right[i]) >= least_)) {
        costs[i] = std::numeric_limits<double>::infinity();
      }
    }
    for (std::size_t i = 0; direction_ != 0 && i < n; ++i) {
      if (direction_ * (share(right[i]) - share(left[i])) < 0.0) {
        costs[i] = std::numeric_limits<double>::infinity();
      }
    }
  }

  const FeatureCells& feature_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const bool curved_;
  double least_;
  int direction_;
  Cell beside_left_, beside_right_;
};

}  // namespace properboost
