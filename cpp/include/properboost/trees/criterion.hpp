// Criteria: the cost of a partition of rows into cells.
//
// A criterion is a policy on one cell, `cost`.  The cost of several cells is the sum, and smaller
// is better.  BoundCriterion writes the loops.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

// The regularizers of a criterion or a response.  Weights are raw sums, not normalised to 1.
struct Regularizers {
  double prior;        // e: the weight added to each class of a cell, as a raw sum
  double pseudo_rows;  // the same e as a number of rows
  double l2;           // added to a cell's curvature at gain 1
  double gain;         // raw prediction = gain x scaled margin
  double largest;      // scaled margin beyond which no cell value may go
  // The classes' sums over all cells; 0 while a feature is chosen.
  double all_positive, all_negative;
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  virtual bool needs_curvature() const noexcept = 0;
  // Whether cells cost less than their sum wherever the classes' shares of them differ.
  virtual bool sees_every_difference() const noexcept { return true; }
  virtual double cost(const Cell* cells, std::size_t n, const Regularizers& r) const = 0;
  // out[i] = the cost of one cell.
  virtual void costs(const double* positive, const double* negative, const double* curvature,
                     std::size_t n, const Regularizers& r, double* out) const = 0;
};

// The mean saving of an uninformative cut, and its degrees of freedom at a node.
struct ChanceSaving {
  double mean;
  double freedom;
  double nodes = 1.0;  // that are cut alike, in effect
};

// The mean saving of an uninformative division of a cell in two: half the cost's second derivative
// times the scatter of the sums, whose squares (of the rows' weights) these are.  A cost is
// homogeneous in the cell, so this is the same however unequal the parts.
//
// Sets of categories are divided by the sums of each category.  Where these are the weight of a few
// rows, a cost that bends more at small sums (the root of a product) saves up to twice as much: so
// the second derivative is taken over steps as large as the scatter of one category's share.  (The
// number of categories is in the unit of the rows' weights, as squares are those of boosting
// weights.)
inline double saving_by_chance(const Criterion& criterion, const Cell& cell,
                               double positive_squares, double negative_squares,
                               const Regularizers& r, double categories) {
  if (!criterion.sees_every_difference()) return 0.0;
  const auto bend = [&](double Cell::* sum, double squares) {
    constexpr double kStep = 1e-3;  // of the sum, or of its divisor
    double h = kStep * (criterion.needs_curvature() ? cell.curvature : cell.*sum);
    if (!(h > 0.0)) return 0.0;
    if (!criterion.needs_curvature()) {  // those that do are quadratic
      h = std::clamp(std::sqrt(categories * squares), h, cell.*sum);
    }
    std::array<double, 3> costs;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      Cell moved = cell;
      moved.*sum += h * (static_cast<double>(i) - 1.0);
      costs[i] = criterion.cost(&moved, 1, r);
    }
    return (2.0 * costs[1] - costs[0] - costs[2]) / (h * h);
  };
  return 0.5 * (bend(&Cell::positive, positive_squares) * positive_squares +
                bend(&Cell::negative, negative_squares) * negative_squares);
}

template <class Policy, class Base = Criterion>
class BoundCriterion : public Base {
 public:
  explicit BoundCriterion(const Policy& policy = {}) : policy_(policy) {}

  bool needs_curvature() const noexcept override { return Policy::needs_curvature; }
  double cost(const Cell* cells, std::size_t n, const Regularizers& r) const override {
    double sum = 0.0;
    for (std::size_t b = 0; b < n; ++b) sum += policy_.cost(cells[b], r);
    return sum;
  }
  void costs(const double* positive, const double* negative, const double* curvature, std::size_t n,
             const Regularizers& r, double* out) const override {
    vectorized([=, &r, policy = &policy_] {
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = policy->cost(Cell{positive[i], negative[i], curvature[i]}, r);
      }
    });
  }

 private:
  Policy policy_;
};

}  // namespace properboost
