// Two classes in the cells of a tree: a criterion on their weights and, if it needs it, curvature.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/cells/class_adder.hpp"
#include "properboost/trees/cells/class_cuts.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

// Rows with soft labels have a weight for each class, and add both at once; they have no curvature.
template <bool kHasCurvature, bool kSoft = false>
class ClassCells {
 public:
  static_assert(!kHasCurvature || !kSoft);
  static constexpr bool kCurvature = kHasCurvature;
  using Adder = ClassAdder<kHasCurvature || kSoft>;
  using Unit = typename Adder::Unit;
  using Total = Cell;  // of a node's rows

  ClassCells(const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
             const RowUnits<kHasCurvature || kSoft>& units, const RowWeights& rows,
             const Slots& slots)
      : criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        rows_(rows),
        slots_(slots),
        units_(units),
        square_(limits.allows_for_chance ? rows.units.most_weight * rows.units.total_weight : 0.0) {
  }

  // The total of a feature's sums, [slot][code].
  Total total(const Unit* sums, std::size_t width) const {
    Codes codes;
    codes.n = width;
    convert(sums, codes);
    Cell total{};
    for (std::size_t b = 0; b < width; ++b) total += codes.cells[b];
    return total;
  }
  // The code that a feature's j-th number belongs to.
  static std::size_t code_at(std::size_t j, std::size_t width) { return j % width; }
  static void add(Total& to, const Total& rows) { to += rows; }
  double weight(const Total& total) const { return total.weight(); }
  // The weight that is compared with limits.fields.min_child_weight.
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
    const RowWeights others = kSoft ? rows_.of_others() : rows_;
    const auto add = [&](const std::uint32_t* row, std::size_t n, std::size_t s, Squares& to) {
      to[slots_.of_segment[s]] +=
          rows_.screen == nullptr
              ? sum_rounded(square_, row, n, [this](std::size_t i) { return rows_.square_of(i); })
              : sum_rounded(square_, row, n, [this](std::size_t i) { return drawn_square_of(i); });
      if constexpr (kSoft) {
        to[Slots::kNegative] +=
            sum_rounded(square_, row, n, [&](std::size_t i) { return others.square_of(i); });
      }
    };
    return rows.sum(node, Squares{}, 2.0, add, team);
  }
  // Whether those of a node are a share of the root's: drawn rows count for nearly the same weight.
  bool spreads_squares() const noexcept { return rows_.screen != nullptr; }
  // Those of a node of this total, by the weight of each class.
  static Squares spread(const Squares& root, const Total& all, const Total& node) {
    const auto share = [](std::int64_t squares, double part, double whole) {
      return whole > 0.0 ? std::llround(static_cast<double>(squares) * (part / whole)) : 0;
    };
    Squares of_node{};
    of_node[Slots::kPositive] = share(root[Slots::kPositive], node.positive, all.positive);
    of_node[Slots::kNegative] = share(root[Slots::kNegative], node.negative, all.negative);
    return of_node;
  }
  // Whether the cost bends as much wherever it is, as those that divide by the curvature do.
  static constexpr bool is_quadratic() noexcept { return kCurvature; }
  // The saving by chance of one cut of a node's rows, if it is by so many categories; none: by
  // order.
  ChanceSaving saving_by_chance(const Total& total, const Squares& squares,
                                double categories) const {
    const auto of = [&](std::size_t slot) { return square_.value(squares[slot]); };
    return {properboost::saving_by_chance(criterion_, total, of(Slots::kPositive),
                                          of(Slots::kNegative), regularizers_, categories),
            1.0};
  }

  // A feature's cells, one array per number: so vector instructions compute them from sums.
  struct Columns {
    std::array<double, kMaxCodes> positive, negative, curvature;

    Cell operator[](std::size_t k) const { return {positive[k], negative[k], curvature[k]}; }
  };
  struct Codes {
    Columns cells;
    CellOfCode occupied, weighing;
    std::size_t n;

    std::size_t width() const { return n; }
    std::uint8_t weighs(std::size_t code) const { return weighing[code]; }
  };

  // The cells of a feature's codes.
  class Feature {
   public:
    Feature(const ClassCells& cells, const FeatureBins& bins, const Unit* sums) : cells_(cells) {
      codes_.n = static_cast<std::size_t>(bins.width());
      cells.convert(sums, codes_);
    }
    Feature(const Feature&) = delete;
    Feature& operator=(const Feature&) = delete;

    // Its cuts in a direction, if such rows belong to the branches besides; for find_split.
    auto cuts(const Total& beside_left, const Total& beside_right, int direction) const {
      return ClassCuts<Codes>(codes_, cells_.criterion_, cells_.regularizers_,
                              cells_.limits_.fields.min_child_weight, direction, beside_left,
                              beside_right);
    }

   private:
    const ClassCells& cells_;
    Codes codes_;
  };

 private:
  void convert(const Unit* sums, Codes& codes) const {
    vectorized([this, sums, &codes] {
      const std::size_t n = codes.n;
      const Unit* const __restrict in_positive = sums + Slots::kPositive * n;
      const Unit* const __restrict in_negative = kSoft ? sums : sums + Slots::kNegative * n;
      double* const __restrict positive = codes.cells.positive.data();
      double* const __restrict negative = codes.cells.negative.data();
      double* const __restrict curvature = codes.cells.curvature.data();
      std::uint8_t* const __restrict occupied = codes.occupied.data();
      std::uint8_t* const __restrict weighing = codes.weighing.data();
      const double weight_unit = units_.unit_of_weight();
      for (std::size_t b = 0; b < n; ++b) {
        positive[b] = static_cast<double>(weight_in(in_positive[b])) * weight_unit;
        negative[b] = static_cast<double>(weight_against(in_negative[b])) * weight_unit;
      }
      if constexpr (kCurvature) {
        find_curvatures(in_positive, in_negative, n, curvature);
      } else {
        std::fill_n(curvature, n, 0.0);
      }
      for (std::size_t b = 0; b < n; ++b) {
        const double weight = positive[b] + negative[b];
        occupied[b] = (weight > 0.0) | (curvature[b] > 0.0) ? 1 : 0;
        weighing[b] = weight + curvature[b] == 0.0 ? 0 : 1;
      }
    });
  }

  static std::int64_t weight_in(const Unit& unit) {
    if constexpr (kCurvature || kSoft) {
      return unit.data[0];
    } else {
      return unit;
    }
  }
  static std::int64_t weight_against(const Unit& unit) {
    if constexpr (kSoft) {
      return unit.data[1];
    } else {
      return weight_in(unit);
    }
  }

  void find_curvatures(const Unit* __restrict positive, const Unit* __restrict negative,
                       std::size_t n, double* __restrict curvature) const {
    const double unit = units_.unit_of_curvature();
    for (std::size_t b = 0; b < n; ++b) {
      curvature[b] = static_cast<double>(positive[b].data[1] + negative[b].data[1]) * unit;
    }
  }
  // The square of the weights that a drawn row counts for.
  double drawn_square_of(std::size_t row) const {
    const double weight = units_.unit_of_weight() * static_cast<double>(weight_in(units_[row]));
    return weight * weight / rows_.sample_weight[row];
  }

  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const TreeLimits& limits_;
  const RowWeights& rows_;
  const Slots& slots_;
  const RowUnits<kHasCurvature || kSoft>& units_;
  const FixedPoint square_;
};

}  // namespace properboost
