// Two classes in the cells of a tree: a criterion on their weights and, if it needs it, curvature.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/class_adder.hpp"
#include "properboost/trees/class_cuts.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/leaf_rows.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/row_units.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

template <bool kHasCurvature>
class ClassCells {
 public:
  static constexpr bool kCurvature = kHasCurvature;
  using Adder = ClassAdder<kCurvature>;
  using Unit = typename Adder::Unit;
  using Total = Cell;  // of a node's rows

  ClassCells(const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
             const RowUnits<kHasCurvature>& units, const RowWeights& rows, const Slots& slots)
      : criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        rows_(rows),
        slots_(slots),
        square_(limits.chance > 0.0 ? rows.units.most_weight * rows.units.total_weight : 0.0),
        stands_for_{rows.stands_for(0), rows.stands_for(1)},
        weight_unit_{stands_for_[0] * units.unit_of_weight(),
                     stands_for_[1] * units.unit_of_weight()},
        curvature_unit_{stands_for_[0] * units.unit_of_curvature(),
                        stands_for_[1] * units.unit_of_curvature()} {}

  // The total of a feature's sums, [slot][code].
  Total total(const Unit* sums, std::size_t width) const {
    Cell total{};
    for (std::size_t b = 0; b < width; ++b) total += cell(sums, width, b);
    return total;
  }
  // The code that a feature's j-th number belongs to.
  static std::size_t code_at(std::size_t j, std::size_t width) { return j % width; }
  static void add(Total& to, const Total& rows) { to += rows; }
  double weight(const Total& total) const { return total.weight(); }
  // What limits.child_weight is compared with.
  static double weight_of_branch(const Total& total) {
    return kCurvature ? total.curvature : total.weight();
  }
  double cost(const Total& total) const { return criterion_.cost(&total, 1, regularizers_); }
  bool may_be_split(const Total& total) const {
    return kCurvature || (total.positive > 0.0 && total.negative > 0.0);
  }

  // The squares of the rows' boosting weights at a node, by slot, in a unit of their own.
  using Squares = std::array<std::int64_t, 2>;
  Squares squares(const LeafRows& rows, std::size_t node, Team& team) const {
    const auto add = [&](const std::uint32_t* row, std::size_t n, std::size_t s, Squares& to) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += square_.round(rows_.square_of(row[i]));
      to[slots_.of_segment[s]] += sum;
    };
    return rows.sum(node, Squares{}, 2.0, add, team);
  }
  // What one cut of a node's rows saves by chance.
  ChanceSaving saving_by_chance(const Total& total, const Squares& squares) const {
    const auto of = [&](std::size_t slot) {
      return stands_for_[slot] * stands_for_[slot] * square_.value(squares[slot]);
    };
    return {properboost::saving_by_chance(criterion_, total, of(Slots::kPositive),
                                          of(Slots::kNegative), regularizers_),
            1.0};
  }

  // The cells of a feature's codes.
  class Feature {
   public:
    Feature(const ClassCells& cells, const FeatureBins& bins, const Unit* sums)
        : cells_(cells), feature_{codes_.data(), occupied_.data(), &bins} {
      for (std::size_t b = 0; b < feature_.width(); ++b) {
        codes_[b] = cells.cell(sums, feature_.width(), b);
        const bool occupied = codes_[b].weight() > 0.0 || (kCurvature && codes_[b].curvature > 0.0);
        occupied_[b] = occupied ? 1 : 0;
      }
    }
    Feature(const Feature&) = delete;
    Feature& operator=(const Feature&) = delete;

    // Its cuts in a direction, if such rows belong to the branches besides; for find_split.
    ClassCuts cuts(const Total& beside_left, const Total& beside_right, int direction) const {
      return {feature_,  cells_.criterion_, cells_.regularizers_, cells_.limits_.child_weight,
              direction, beside_left,       beside_right};
    }

   private:
    const ClassCells& cells_;
    std::array<Cell, kMaxCodes> codes_;
    std::array<std::uint8_t, kMaxCodes> occupied_;
    FeatureCells feature_;
  };

 private:
  Cell cell(const Unit* sums, std::size_t width, std::size_t code) const {
    const Unit& positive = sums[Slots::kPositive * width + code];
    const Unit& negative = sums[Slots::kNegative * width + code];
    if constexpr (kCurvature) {
      return {static_cast<double>(positive.data[0]) * weight_unit_[Slots::kPositive],
              static_cast<double>(negative.data[0]) * weight_unit_[Slots::kNegative],
              curvature(positive.data[1], negative.data[1])};
    } else {
      return {static_cast<double>(positive) * weight_unit_[Slots::kPositive],
              static_cast<double>(negative) * weight_unit_[Slots::kNegative], 0.0};
    }
  }

  double curvature(std::int64_t positive, std::int64_t negative) const {
    if (stands_for_[Slots::kPositive] == stands_for_[Slots::kNegative]) {
      return static_cast<double>(positive + negative) * curvature_unit_[Slots::kPositive];
    }
    return static_cast<double>(positive) * curvature_unit_[Slots::kPositive] +
           static_cast<double>(negative) * curvature_unit_[Slots::kNegative];
  }

  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const TreeLimits& limits_;
  const RowWeights& rows_;
  const Slots& slots_;
  const FixedPoint square_;
  // By slot: how many rows one of a screen stands for, and the units of sums with that.
  std::array<double, 2> stands_for_, weight_unit_, curvature_unit_;
};

}  // namespace properboost
