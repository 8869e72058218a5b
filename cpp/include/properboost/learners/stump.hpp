// The decision stump: the best two cells of one feature, by a prefix scan of its histogram.
//
// Ordered bins are cut between neighbours and the missing bin goes to the side that suits it
// better. Categories are first ordered by their share of the positive class (or gradient over
// curvature); the best cut of that order is the best split into two sets.  Codes without training
// rows of a categorical feature, and missing values when training had none, belong to neither side.
#pragma once

#include <algorithm>
#include <numeric>

#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class Stump final : public WeakLearner {
 public:
  static constexpr const char* name = "stump";
  explicit Stump(double /*smoothing*/) {}

  double cost(const FeatureCells& feature, const Response& response,
              const Regularizers& r) const override {
    return best_split(feature, response, r).cost;
  }

  Partition partition(const FeatureCells& feature, const Response& response,
                      const Regularizers& r) const override {
    constexpr std::uint8_t kLeft = 0;
    constexpr std::uint8_t kRight = 1;
    constexpr std::uint8_t kNeither = 2;
    const Split split = best_split(feature, response, r);
    const Order order = scan_order(feature, response);
    Partition p;
    p.cells.resize(3);
    p.occupied.assign(3, 0);
    p.cell_of.fill(kNeither);
    for (std::size_t i = 0; i < order.size; ++i) {
      p.cell_of[order.code[i]] = i < split.left_codes ? kLeft : kRight;
    }
    if (feature.bins->ordered() && missing_occupied(feature)) {
      p.cell_of[missing(feature)] = split.missing_left ? kLeft : kRight;
    }
    for (std::size_t b = 0; b < feature.width(); ++b) {
      p.cells[p.cell_of[b]] += feature.cells[b];
      p.occupied[p.cell_of[b]] |= feature.occupied[b];
    }
    p.shares = {{1.0, p.cell_of}};
    return p;
  }

 private:
  struct Split {
    double cost;
    std::size_t left_codes;  // in scan order
    bool missing_left;
  };
  struct Order {
    std::array<std::uint8_t, kMaxCodes> code;
    std::size_t size = 0;
  };

  static std::size_t missing(const FeatureCells& f) {
    return static_cast<std::size_t>(f.bins->missing());
  }
  static bool missing_occupied(const FeatureCells& f) { return f.occupied[missing(f)] != 0; }

  static Order scan_order(const FeatureCells& f, const Response& response) {
    Order order;
    if (f.bins->ordered()) {
      order.size = static_cast<std::size_t>(f.bins->bins());
      std::iota(order.code.begin(), order.code.begin() + f.bins->bins(), std::uint8_t{0});
      return order;
    }
    for (std::size_t b = 0; b < f.width(); ++b) {  // a category, and missing is one of them
      if (f.occupied[b] != 0) order.code[order.size++] = static_cast<std::uint8_t>(b);
    }
    const auto share = [&](std::uint8_t b) {
      const Cell& c = f.cells[b];
      const double numerator = response.needs_curvature() ? c.gradient() : c.positive;
      const double denominator = response.needs_curvature() ? c.curvature : c.weight();
      return denominator > 0.0 ? numerator / denominator : 0.0;
    };
    std::stable_sort(order.code.begin(),
                     order.code.begin() + static_cast<std::ptrdiff_t>(order.size),
                     [&](std::uint8_t a, std::uint8_t b) { return share(a) < share(b); });
    return order;
  }

  // Of equal splits the first: no split, then missing on the left before the right, then the fewest
  // codes on the left.
  static Split best_split(const FeatureCells& f, const Response& response, const Regularizers& r) {
    const Order order = scan_order(f, response);
    const bool floating = f.bins->ordered() && missing_occupied(f);
    std::array<Cell, kMaxCodes + 1> right;  // right[i]: all from the i-th of the order on
    for (std::size_t i = order.size; i-- > 0;) {
      right[i] = right[i + 1];
      right[i] += f.cells[order.code[i]];
    }
    std::array<Cell, kMaxCodes + 1> left;  // left[i]: all before the i-th
    for (std::size_t i = 0; i < order.size; ++i) {
      left[i + 1] = left[i];
      left[i + 1] += f.cells[order.code[i]];
    }
    std::vector<Split> splits;
    const auto try_split = [&](std::size_t codes, bool missing_left) {
      Cell sides[2] = {left[codes], right[codes]};
      if (floating) sides[missing_left ? 0 : 1] += f.cells[missing(f)];
      splits.push_back({response.cost(sides, 2, r), codes, missing_left});
    };
    try_split(order.size, true);  // one cell: all that a constant feature has
    for (std::size_t i = 1; i < order.size; ++i) try_split(i, true);
    for (std::size_t i = 1; floating && i <= order.size; ++i) try_split(i, false);
    std::vector<double> costs;
    for (const Split& split : splits) costs.push_back(split.cost);
    return splits[first_best(costs.data(), costs.size())];
  }
};

}  // namespace properboost::learners
