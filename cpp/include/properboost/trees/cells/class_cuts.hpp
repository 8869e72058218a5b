// The costs of cutting a feature's codes in two, by a criterion of two classes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

// `Codes` has `cells`, `occupied`, `weighs` and `width()`, as FeatureCells.
template <class Codes>
class ClassCuts {
 public:
  // Each branch weighs at least `least` (or has that curvature, if the criterion needs it), and the
  // share of the positive class rises from left to right (direction 1) or falls (-1).  Rows other
  // than those of the codes may belong to the branches as well.
  ClassCuts(const Codes& codes, const Criterion& criterion, const Regularizers& r,
            double least = 0.0, int direction = 0, const Cell& beside_left = {},
            const Cell& beside_right = {})
      : codes_(codes),
        criterion_(criterion),
        regularizers_(r),
        curved_(criterion.needs_curvature()),
        least_(least),
        direction_(direction),
        beside_left_(beside_left),
        beside_right_(beside_right) {}

  bool occupied(std::size_t code) const { return codes_.occupied[code] != 0; }
  std::array<double, kMaxCodes> shares() const {
    std::array<double, kMaxCodes> shares{};
    for (std::size_t b = 0; b < codes_.width(); ++b) shares[b] = share(codes_.cells[b]);
    return shares;
  }

  // A code whose cell has no weight makes the same branches as the code before it.  (Where tables
  // are smoothed, codes without rows have some.)
  void find_costs(const CutOrder& order, double* before, double* after) const {
    if (all_weigh(order)) {
      const auto cell_at = [&](std::size_t i) { return codes_.cells[order.codes[i]]; };
      find_costs(order, cell_at, order.size, [](std::size_t i) { return i; }, before, after);
      return;
    }
    std::array<std::uint8_t, kMaxCodes> codes_of_cells;     // that have weight
    std::array<std::uint16_t, kMaxCodes + 1> cells_before;  // how many there are before each code
    std::size_t n = 0;
    for (std::size_t i = 0; i < order.size; ++i) {
      cells_before[i] = static_cast<std::uint16_t>(n);
      codes_of_cells[n] = order.codes[i];
      n += codes_.weighs(order.codes[i]);
    }
    cells_before[order.size] = static_cast<std::uint16_t>(n);
    const auto cell_at = [&](std::size_t i) { return codes_.cells[codes_of_cells[i]]; };
    find_costs(order, cell_at, n, [&](std::size_t i) { return cells_before[i]; }, before, after);
  }

 private:
  bool all_weigh(const CutOrder& order) const {
    for (std::size_t i = 0; i < order.size; ++i) {
      if (codes_.weighs(order.codes[i]) == 0) return false;
    }
    return true;
  }

  // By n cells, of which the i-th code is behind cells_before(i).
  template <class CellAt, class CellsBefore>
  void find_costs(const CutOrder& order, const CellAt& cell_at, std::size_t n,
                  const CellsBefore& cells_before, double* before, double* after) const {
    if (curved_) {
      find_costs<true>(order, cell_at, n, cells_before, before, after);
    } else {
      find_costs<false>(order, cell_at, n, cells_before, before, after);
    }
  }
  template <bool kCurved, class CellAt, class CellsBefore>
  void find_costs(const CutOrder& order, const CellAt& cell_at, std::size_t n,
                  const CellsBefore& cells_before, double* before, double* after) const {
    std::array<double, kMaxCodes + 1> costs;
    const Cell missing = order.floating ? codes_.cells[order.missing] : Cell{};
    before[0] = order.floating ? find_costs<kCurved, true>(cell_at, n, missing, {}, costs.data())
                               : find_costs<kCurved, false>(cell_at, n, {}, {}, costs.data());
    for (std::size_t i = 1; i < order.size; ++i) before[i] = costs[cells_before(i)];
    if (!order.floating) return;
    find_costs<kCurved, true>(cell_at, n, {}, missing, costs.data());
    for (std::size_t i = 0; i < order.size; ++i) after[i] = costs[cells_before(i + 1)];
  }

  // The cells of both branches of some cuts, the left ones first.  Curvatures are 0 where the
  // criterion needs none.
  template <bool kCurved>
  class Branches {
   public:
    explicit Branches(std::size_t cuts) : cuts_(cuts) {
      if constexpr (!kCurved) std::fill_n(curvature_.begin(), 2 * cuts, 0.0);
    }

    void set_left(std::size_t cut, const Cell& cell) { set(cut, cell); }
    void set_right(std::size_t cut, const Cell& cell) { set(cuts_ + cut, cell); }
    Cell left(std::size_t cut) const { return cell(cut); }
    Cell right(std::size_t cut) const { return cell(cuts_ + cut); }
    void find_costs(const Criterion& criterion, const Regularizers& r, double* costs) const {
      std::array<double, kMost> each;
      criterion.costs(positive_.data(), negative_.data(), curvature_.data(), 2 * cuts_, r,
                      each.data());
      for (std::size_t i = 0; i < cuts_; ++i) costs[i] = each[i] + each[cuts_ + i];
    }
    // Cuts that leave a branch with less than that of weight, or of curvature, are not allowed.
    void forbid_light(double least, double* costs) const {
      vectorized([=] {
        for (std::size_t i = 0; i < cuts_; ++i) {
          const std::size_t j = cuts_ + i;
          const double left = kCurved ? curvature_[i] : positive_[i] + negative_[i];
          const double right = kCurved ? curvature_[j] : positive_[j] + negative_[j];
          const bool heavy = (left >= least) & (right >= least);
          costs[i] = heavy ? costs[i] : std::numeric_limits<double>::infinity();
        }
      });
    }

   private:
    static constexpr std::size_t kMost = 2 * (kMaxCodes + 1);

    void set(std::size_t i, const Cell& cell) {
      positive_[i] = cell.positive;
      negative_[i] = cell.negative;
      if constexpr (kCurved) curvature_[i] = cell.curvature;
    }
    Cell cell(std::size_t i) const { return {positive_[i], negative_[i], curvature_[i]}; }

    const std::size_t cuts_;
    std::array<double, kMost> positive_, negative_, curvature_;
  };

  // costs[i] is the cost of the cut after the first i cells, infinite where it is not allowed, and
  // the missing values, if there are any, belong to one of its branches.  Returns the cost of all
  // cells on the left.
  template <bool kCurved, bool kMissing, class CellAt>
  double find_costs(const CellAt& cell_at, std::size_t n, const Cell& missing_left,
                    const Cell& missing_right, double* costs) const {
    const auto add = [](Cell& sum, const Cell& cell) {
      sum.positive += cell.positive;
      sum.negative += cell.negative;
      if constexpr (kCurved) sum.curvature += cell.curvature;
    };
    const auto with = [&](Cell sum, const Cell& missing) {
      if constexpr (kMissing) add(sum, missing);
      return sum;
    };
    Branches<kCurved> branches(n + 1);
    Cell left = beside_left_, right = beside_right_;
    for (std::size_t i = 0; i < n; ++i) {  // neither sum waits for the other
      branches.set_left(i, with(left, missing_left));
      branches.set_right(n - i, with(right, missing_right));
      add(left, cell_at(i));
      add(right, cell_at(n - 1 - i));
    }
    branches.set_left(n, with(left, missing_left));
    branches.set_right(0, with(right, missing_right));
    branches.find_costs(criterion_, regularizers_, costs);
    const double unsplit = costs[n];
    if (least_ > 0.0) branches.forbid_light(least_, costs);
    for (std::size_t i = 0; direction_ != 0 && i <= n; ++i) {
      if (direction_ * (share(branches.right(i)) - share(branches.left(i))) < 0.0) {
        costs[i] = std::numeric_limits<double>::infinity();
      }
    }
    return unsplit;
  }

  // The share of the positive class, or the ratio of gradient to curvature.
  double share(const Cell& c) const {
    const double numerator = curved_ ? c.gradient() : c.positive;
    const double denominator = curved_ ? c.curvature : c.weight();
    return denominator > 0.0 ? numerator / denominator : 0.0;
  }

  const Codes& codes_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const bool curved_;
  double least_;
  int direction_;
  Cell beside_left_, beside_right_;
};

}  // namespace properboost
