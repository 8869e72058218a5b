// The rows of a lane behind one feature's cells, for responses that look at rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

// What is the same however the weights of moved rows are found.  What it refers to must outlive it.
class ShiftedRows : public RowsByCell {
 public:
  ShiftedRows(const Loss& loss, const std::vector<RowShare>& shares, std::size_t n_cells)
      : loss_(loss), shares_(shares), n_(n_cells) {}

  void evaluate(const double* values, double* slope, double* curvature) final {
    std::fill_n(slope, n_, 0.0);
    std::fill_n(curvature, n_, 0.0);
    for (const RowShare& share : shares_) {
      std::array<float, kMaxCodes> shift{};
      for (std::size_t b = 0; b < kMaxCodes; ++b) {
        if (share.cell_of[b] < n_) shift[b] = shift_for(values[share.cell_of[b]]);
      }
      for (const CellSums& part : sum_blocks(share.cell_of, shift)) {
        for (std::size_t b = 0; b < n_; ++b) {
          slope[b] += share.share * part.slope[b];
          curvature[b] += share.share * part.curvature[b];
        }
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
    std::array<double, kMaxCodes> slope{}, curvature{};
  };
  // How far rows are moved for a cell's value.
  virtual float shift_for(double value) const { return static_cast<float>(value); }
  // The sums of each block of rows, if those of each code were moved so far.
  virtual std::vector<CellSums> sum_blocks(const CellOfCode& cell_of,
                                           const std::array<float, kMaxCodes>& shift) = 0;

 private:
  const Loss& loss_;
  const std::vector<RowShare>& shares_;
  const std::size_t n_;
};

}  // namespace properboost
