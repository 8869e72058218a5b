// Responses: the cost of a set of cells, and the value that each cell gets.
//
// A response is a criterion whose policy also has `value`: the entry of the look-up table, in units
// of the raw prediction.  BoundResponse writes the loops.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"

namespace properboost {

// The rows behind the cells of the chosen feature: the risk's slope and curvature in each cell when
// the rows of cell b are moved by values[b] (scaled margins, towards the positive class).
class RowsByCell {
 public:
  virtual ~RowsByCell() = default;
  virtual void evaluate(const double* values, double* slope, double* curvature) = 0;
  // The same for two pseudo-rows, one per class, at margin 0 and of weight 1 each.
  virtual void evaluate_pseudo_rows(double value, double* slope, double* curvature) const = 0;
};

// The slopes and curvatures of the risk in a leaf that has a line: factors on the rows' weights,
// and on their curvatures where the criterion needs these (else on the weights), by class; and the
// unit of the slopes.
struct LineTwin {
  double positive = 1.0, negative = 1.0;
  double unit = 1.0;
};

class Response : public Criterion {
 public:
  virtual bool fits_lines() const noexcept = 0;
  virtual LineTwin line_twin(double value, const Regularizers& r) const noexcept = 0;
  virtual bool reads_rows() const noexcept = 0;                // or the cells suffice
  virtual bool is_cost_a_sum_of_weights() const noexcept = 0;  // else it is a risk reduction
  virtual bool compares_classes() const noexcept = 0;          // its values ignore their shares
  virtual double reported(double cost) const noexcept = 0;     // with the papers' sign
  virtual void values(const Cell* cells, std::size_t n, const Regularizers& r, RowsByCell& rows,
                      double* out) const = 0;
};

std::unique_ptr<Response> make_response(const std::string& name);
std::vector<std::string> response_names();

// Default facts about a policy; a policy hides those that differ.
struct ResponseDefaults {
  static constexpr bool needs_curvature = false;
  static constexpr bool larger_is_better = false;  // the papers report minus the cost
  static constexpr bool sees_every_difference = true;
  static constexpr bool fits_lines = false;
  static constexpr bool compares_classes = false;
  static LineTwin line_twin(double /*value*/, const Regularizers& /*r*/) { return {}; }
};

template <class Policy>
class BoundResponse final : public BoundCriterion<Policy, Response> {
 public:
  bool reads_rows() const noexcept override { return HasRowValues<Policy>::value; }
  bool fits_lines() const noexcept override { return Policy::fits_lines; }
  LineTwin line_twin(double value, const Regularizers& r) const noexcept override {
    return Policy::line_twin(value, r);
  }
  bool is_cost_a_sum_of_weights() const noexcept override { return !Policy::needs_curvature; }
  bool compares_classes() const noexcept override { return Policy::compares_classes; }
  bool sees_every_difference() const noexcept override { return Policy::sees_every_difference; }
  double reported(double cost) const noexcept override {
    return Policy::larger_is_better ? -cost : cost;
  }
  void values(const Cell* cells, std::size_t n, const Regularizers& r, RowsByCell& rows,
              double* out) const override {
    if constexpr (HasRowValues<Policy>::value) {
      Policy::values(cells, n, r, rows, out);
    } else {
      for (std::size_t b = 0; b < n; ++b) out[b] = Policy::value(cells[b], r);
    }
  }

 private:
  // A response that must read the rows again has `values` instead of `value`.
  template <class P, class = void>
  struct HasRowValues {
    static constexpr bool value = false;
  };
  template <class P>
  struct HasRowValues<P, decltype(static_cast<void>(&P::values))> {
    static constexpr bool value = true;
  };
};

}  // namespace properboost
