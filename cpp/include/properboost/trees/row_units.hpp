// Rows' weights as whole numbers: sums do not depend on the order of additions, and differences of
// sums are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

// How much each row counts: weight times sample weight, finite and at least 0, in segment order.
struct RowWeights {
  const float* weight;
  const float* curvature;  // read only if the criterion needs it
  RowSampleWeights sample_weight;
  double share = 1.0;  // share of the rows that count, drawn by the tree's number

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

// Numbers as multiples of a unit, a power of two: their sum takes so many bits, and whole numbers
// whose sum fits are stored unchanged.
struct FixedPoint {
  double per_unit = 1.0;
  double unit = 1.0;

  FixedPoint() = default;
  explicit FixedPoint(double total, int bits = 61) {
    if (!std::isfinite(total)) throw std::invalid_argument("weight must have a finite sum");
    if (!(total > 0.0)) return;
    per_unit = std::ldexp(1.0, std::min(bits - 1 - std::ilogb(total), 1023));
    unit = 1.0 / per_unit;
  }
  // A call would keep loops from being vectorised, and x is not negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  std::int64_t round(double x) const { return static_cast<std::int64_t>(x * per_unit + 0.5); }
};

// The numbers that a row adds to its cells: its weight and, if needed, its curvature.
template <bool kCurvature>
using Units = std::conditional_t<kCurvature, Two<std::int64_t>, std::int64_t>;

template <bool kCurvature>
class RowUnits {
 public:
  using Unit = Units<kCurvature>;

  // Rounds the weights of the rows of these blocks.  `least` is the least number of units of a
  // positive weight: with 0, rows much lighter than the others do not count.
  void set(const RowWeights& rows, const std::vector<RowBlock>& blocks, std::size_t all_rows,
           std::int64_t least, Team& team) {
    struct Part {
      double weight = 0.0;
      double curvature = 0.0;
    };
    std::vector<Part> parts(blocks.size());
    double a_pass = 0.0;
    for (const RowBlock& block : blocks) a_pass += static_cast<double>(block.end - block.begin);
    team.for_each(blocks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) {
        parts[c].weight += rows.weight_of(i);
        if (kCurvature) parts[c].curvature += rows.curvature_of(i);
      }
    });
    Part sum;
    for (const Part& part : parts) {
      sum.weight += part.weight;
      sum.curvature += part.curvature;
    }
    weight_ = FixedPoint(sum.weight);
    curvature_ = FixedPoint(sum.curvature);
    units_.resize(all_rows);
    team.for_each(blocks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) {
        const double x = rows.weight_of(i);
        const std::int64_t weight = std::max(weight_.round(x), x > 0.0 ? least : 0);
        if constexpr (kCurvature) {
          units_[i].data[0] = weight;
          units_[i].data[1] = curvature_.round(rows.curvature_of(i));
        } else {
          units_[i] = weight;
        }
      }
    });
  }

  const Unit* data() const noexcept { return units_.data(); }
  const Unit& operator[](std::size_t row) const noexcept { return units_[row]; }
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
  Aligned<Unit> units_;
  FixedPoint weight_, curvature_;
};

}  // namespace properboost
