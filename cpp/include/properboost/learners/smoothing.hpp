// The sums of a look-up table's cells, spread over neighbouring cells.
//
// Up to h = 0.25 a cell gives that share of its sums to either neighbour.  Above, the kernel is the
// solution of out - h (the sum of the neighbours' out - out) = in: heat that has spread for a
// while.  In both, a unit spreads with variance 2 h cells, sums are kept, and no sum turns
// negative.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "properboost/data/axes.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost::learners {

class Smoothing {
 public:
  static constexpr double kMostExchanged = 0.25;
  static constexpr double kMost = 10'000.0;

  explicit Smoothing(double h) : h_(h) {
    if (exchanges()) return;
    double diagonal = 1.0 + h;
    for (std::size_t i = 0; i < kMaxCodes; ++i) {
      inverse_[i] = 1.0 / diagonal;
      diagonal = 1.0 + 2.0 * h - h * (h * inverse_[i]);
    }
  }

  bool exchanges() const noexcept { return h_ <= kMostExchanged; }
  bool smooths(const FeatureCells& feature) const {
    const auto axes = find_axes(*feature.bins);
    return h_ > 0.0 && (axes[0].length > 1 || axes[1].length > 1);
  }

  // Weight that would leave a line stays at its end.  Missing values and categories have no
  // neighbours.
  void smooth(const FeatureCells& feature, Cell* out) const {
    std::copy(feature.cells, feature.cells + feature.width(), out);
    for (const Axis& axis : find_axes(*feature.bins)) {
      if (axis.length < 2) continue;
      for (std::size_t line = 0; line < axis.lines; ++line) {
        Cell* const first = out + line * axis.next;
        if (exchanges()) {
          exchange(first, axis.length, axis.stride);
        } else {
          diffuse(first, axis.length, axis.stride);
        }
      }
    }
  }

  // The shares of rows in cells, where each gives to its neighbours only.
  std::vector<RowShare> shares(const FeatureCells& feature) const {
    std::vector<RowShare> row_shares = {{1.0, identity()}};
    for (const Axis& axis : find_axes(*feature.bins)) {
      if (axis.length > 1) spread(axis, row_shares);
    }
    return row_shares;
  }

 private:
  void exchange(Cell* cells, std::size_t n, std::size_t stride) const {
    const auto blend = [&](double left, double centre, double right) {
      return (1.0 - 2.0 * h_) * centre + h_ * (left + right);
    };
    Cell left = cells[0];
    Cell centre = cells[0];
    for (std::size_t i = 0; i < n; ++i) {
      const Cell right = i + 1 == n ? centre : cells[(i + 1) * stride];
      cells[i * stride] = {blend(left.positive, centre.positive, right.positive),
                           blend(left.negative, centre.negative, right.negative),
                           blend(left.curvature, centre.curvature, right.curvature)};
      left = centre;
      centre = right;
    }
  }

  // Solves the tridiagonal equations from one end to the other and back.  All terms are positive,
  // so nothing cancels.
  void diffuse(Cell* cells, std::size_t n, std::size_t stride) const {
    const auto take = [](Cell& to, double share, const Cell& from, double scale) {
      to.positive = scale * (to.positive + share * from.positive);
      to.negative = scale * (to.negative + share * from.negative);
      to.curvature = scale * (to.curvature + share * from.curvature);
    };
    take(cells[0], 0.0, cells[0], inverse_[0]);
    for (std::size_t i = 1; i + 1 < n; ++i) {
      take(cells[i * stride], h_, cells[(i - 1) * stride], inverse_[i]);
    }
    const double at_the_end = 1.0 / (1.0 + h_ - h_ * (h_ * inverse_[n - 2]));
    take(cells[(n - 1) * stride], h_, cells[(n - 2) * stride], at_the_end);
    for (std::size_t i = n - 1; i-- > 0;) {
      take(cells[i * stride], h_ * inverse_[i], cells[(i + 1) * stride], 1.0);
    }
  }

  // Splits each share of a row in three: the part that stays and those that go to either neighbour.
  void spread(const Axis& axis, std::vector<RowShare>& shares) const {
    CellOfCode before = identity();
    CellOfCode after = identity();
    for (std::size_t line = 0; line < axis.lines; ++line) {
      for (std::size_t i = 1; i < axis.length; ++i) {
        const std::size_t cell = line * axis.next + i * axis.stride;
        before[cell] = static_cast<std::uint8_t>(cell - axis.stride);
        after[cell - axis.stride] = static_cast<std::uint8_t>(cell);
      }
    }
    std::vector<RowShare> finer;
    for (const RowShare& share : shares) {
      RowShare centre{(1.0 - 2.0 * h_) * share.share, share.cell_of};
      RowShare left{h_ * share.share, share.cell_of};
      RowShare right = left;
      for (std::uint8_t& cell : left.cell_of) cell = before[cell];
      for (std::uint8_t& cell : right.cell_of) cell = after[cell];
      finer.insert(finer.end(), {centre, left, right});
    }
    shares = std::move(finer);
  }

  static CellOfCode identity() {
    CellOfCode cells;
    std::iota(cells.begin(), cells.end(), std::uint8_t{0});
    return cells;
  }

  double h_;
  std::array<double, kMaxCodes> inverse_ =
      {};  // of the diagonal, once what is before is eliminated
};

}  // namespace properboost::learners
