// Rows' weights as whole numbers: sums do not depend on the order of additions, and differences of
// sums are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/screen.hpp"

namespace properboost {

// How much each row counts: weight times sample weight, finite and at least 0, in segment order.
struct RowWeights {
  const float* weight;
  const float* curvature;  // read only if the criterion needs it
  RowSampleWeights sample_weight;
  CellUnits units;          // of all training rows
  double share = 1.0;       // share of the rows that count, drawn by the tree's number
  RowNumbers numbers = {};  // and theirs
  // The rows that a tree is grown from before it has the sums of all, or null.
  const Screen* screen = nullptr;

  // How many rows of its slot a row stands for that a tree is grown from.
  double stands_for(std::size_t slot) const {
    return screen == nullptr ? 1.0 : screen->stands_for[slot];
  }
  double weight_of(std::size_t row) const noexcept {
    return static_cast<double>(weight[row]) * sample_weight[row];
  }
  // The sample weight times the square of the boosting weight.
  double square_of(std::size_t row) const noexcept {
    return static_cast<double>(weight[row]) * weight_of(row);
  }
  double curvature_of(std::size_t row) const noexcept {
    return static_cast<double>(curvature[row]) * sample_weight[row];
  }
};

// The numbers that a row adds to its cells: its weight and, if needed, its curvature.
template <bool kCurvature>
using Units = std::conditional_t<kCurvature, Two<std::int64_t>, std::int64_t>;

template <bool kCurvature>
class RowUnits {
 public:
  using Numbers = Units<kCurvature>;

  // Takes the units of so many rows, which must be set one by one.  `least` is the least number of
  // units of a positive weight: with 0, rows much lighter than the others do not count.
  void begin(const RowWeights& rows, std::size_t all_rows, std::int64_t least) {
    weight_ = rows.units.weight;
    curvature_ = rows.units.curvature;
    least_ = least;
    units_.resize(all_rows);
  }
  // Rounds the weights of a row.
  void set(const RowWeights& rows, std::size_t i) noexcept {
    const double x = rows.weight_of(i);
    const std::int64_t weight = std::max(weight_.round(x), x > 0.0 ? least_ : 0);
    if constexpr (kCurvature) {
      units_[i].data[0] = weight;
      units_[i].data[1] = curvature_.round(rows.curvature_of(i));
    } else {
      units_[i] = weight;
    }
  }
  // And those of all rows of these blocks.
  void set(const RowWeights& rows, const std::vector<RowBlock>& blocks, Team& team) {
    double a_pass = 0.0;
    for (const RowBlock& block : blocks) a_pass += static_cast<double>(block.end - block.begin);
    team.for_each(blocks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) set(rows, i);
    });
  }

  const Numbers* data() const noexcept { return units_.data(); }
  const Numbers& operator[](std::size_t row) const noexcept { return units_[row]; }
  bool counts(std::size_t row) const noexcept {
    if constexpr (kCurvature) {
      return units_[row].data[0] > 0 || units_[row].data[1] > 0;
    } else {
      return units_[row] > 0;
    }
  }
  double unit_of_weight() const noexcept { return weight_.unit; }
  double unit_of_curvature() const noexcept { return curvature_.unit; }

 private:
  Aligned<Numbers> units_;
  FixedPoint weight_, curvature_;
  std::int64_t least_ = 0;
};

}  // namespace properboost
