// The rows of a lane behind one feature's cells, for responses that read rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/fixed_point.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

// The common part of all ways to compute the weights of moved rows.  Its arguments must outlive it.
class RowsAtShift : public RowsByCell {
 public:
  RowsAtShift(const Loss& loss, const std::vector<RowShare>& shares, std::size_t n_cells)
      : loss_(loss), shares_(shares), n_(n_cells) {}

  void evaluate(const double* values, double* slope, double* curvature) final {
    std::fill_n(slope, n_, 0.0);
    std::fill_n(curvature, n_, 0.0);
    for (const RowShare& share : shares_) {
      std::array<float, kMaxCodes> shift{};
      for (std::size_t b = 0; b < kMaxCodes; ++b) {
        if (share.cell_of[b] < n_) shift[b] = shift_for(values[share.cell_of[b]]);
      }
      const CellSums sums = sum_rows(share.cell_of, shift);
      for (std::size_t b = 0; b < n_; ++b) {
        slope[b] += share.share * sums.units.weight.value(sums.slope[b]);
        curvature[b] += share.share * sums.units.curvature.value(sums.curvature[b]);
      }
    }
  }

  // A row of each class at margin 0, moved by value: w(x) - w(-x) and c(x) + c(-x).
  void evaluate_pseudo_rows(double value, double* slope, double* curvature) const final {
    const float u[2] = {static_cast<float>(value), static_cast<float>(-value)};
    float w[2];
    float c[2];
    loss_.weights(u, w, 2);
    loss_.curvatures(u, c, 2);
    *slope = static_cast<double>(w[0]) - static_cast<double>(w[1]);
    *curvature = static_cast<double>(c[0]) + static_cast<double>(c[1]);
  }

 protected:
  struct CellSums {
    CellUnits units;
    std::array<std::int64_t, kMaxCodes> slope{}, curvature{};

    void operator+=(const CellSums& other) {
      for (std::size_t b = 0; b < kMaxCodes; ++b) {
        slope[b] += other.slope[b];
        curvature[b] += other.curvature[b];
      }
    }
  };
  static double farthest(const std::array<float, kMaxCodes>& shift) {
    double most = 0.0;
    for (const float x : shift) most = std::max(most, static_cast<double>(std::abs(x)));
    return most;
  }
  // How far rows are moved for a cell's value.
  virtual float shift_for(double value) const { return static_cast<float>(value); }
  // The sums of all rows, if those of each code were moved so far.
  virtual CellSums sum_rows(const CellOfCode& cell_of,
                            const std::array<float, kMaxCodes>& shift) = 0;

 private:
  const Loss& loss_;
  const std::vector<RowShare>& shares_;
  const std::size_t n_;
};

}  // namespace properboost
