// Criteria: what a partition of rows into cells costs.
//
// A criterion is a policy on one cell, `cost`.  The cost of several cells is the sum, and smaller
// is better.  BoundCriterion writes the loops.
#pragma once

#include <cstddef>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

// What a criterion or a response may use besides the cell.  Weights are raw sums, not normalised to
// 1.
struct Regularizers {
  double prior;        // e: the weight added to each class of a cell, as a raw sum
  double pseudo_rows;  // the same e as a number of rows
  double l2;           // added to a cell's curvature at gain 1
  double gain;         // raw prediction = gain x scaled margin
  double largest;      // scaled margin beyond which no cell value may go
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  virtual bool needs_curvature() const noexcept = 0;
  virtual double cost(const Cell* cells, std::size_t n, const Regularizers& r) const = 0;
  // out[i] = the cost of one cell.
  virtual void costs(const double* positive, const double* negative, const double* curvature,
                     std::size_t n, const Regularizers& r, double* out) const = 0;
  // out[i] = the cost of the two cells left[i] and right[i].
  virtual void split_costs(const Cell* left, const Cell* right, std::size_t n,
                           const Regularizers& r, double* out) const = 0;
};

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
  void split_costs(const Cell* left, const Cell* right, std::size_t n, const Regularizers& r,
                   double* out) const override {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = policy_.cost(left[i], r) + policy_.cost(right[i], r);
  }

 private:
  Policy policy_;
};

}  // namespace properboost
