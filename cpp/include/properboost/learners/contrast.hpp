// How unlikely a feature's cells are if the feature is independent of the class.
//
// Sums of weights differ between the classes by chance, and the more cells there are the more they
// do: by cost alone features of many bins win.  Pearson's statistic has the same mean in every
// feature with as many degrees of freedom, and its excess over that mean counts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math_double.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/best_cut.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

// Rows of equal weight that would scatter as much as a class's rows do: (sum s b)^2 / sum s b^2,
// with the sample weight s and the boosting weight b.
struct EffectiveRows {
  double positive = 0.0, negative = 0.0;

  bool known() const noexcept { return positive > 0.0 && negative > 0.0; }
  double inverse() const noexcept { return 1.0 / positive + 1.0 / negative; }
};

struct Contrast {
  double chi_square = 0.0;
  double freedom = 0.0;  // its mean by chance

  // The normal deviate that is exceeded by chance as rarely: Barndorff-Nielsen's r* of the gamma
  // distribution, which orders features where tail probabilities are 0 or 1 in double, too.
  double deviate() const {
    if (!(freedom > 0.0)) return -kFarthest;
    const double mean = 0.5 * freedom;
    const double x = std::max(0.5 * chi_square, 1e-12 * mean);
    const double ratio = x / mean;
    const double root = std::sqrt(std::max(0.0, 2.0 * mean * (ratio - 1.0 - math::log(ratio))));
    const double r = ratio < 1.0 ? -root : root;
    constexpr double kNear = 1e-3;  // of the mean, where the quotient is 0 / 0
    if (std::abs(ratio - 1.0) < kNear) return r + 1.0 / (3.0 * std::sqrt(mean));
    const double u = (ratio - 1.0) * std::sqrt(mean);
    return r + math::log(u / r) / r;
  }

  static constexpr double kFarthest = 1e300;
};

// Terms of two statistics, from cells that hold the shares p and q of the two classes' weight.  The
// smaller statistic counts: Pearson's has no bound where a cell has rows of the rarer class alone;
// the Hellinger distance has one, and is as large for small differences.
struct Divergence {
  double pearson = 0.0, affinity = 0.0;

  // `share` is that of the positive class in all effective rows.
  static Divergence of_cell(double p, double q, double share) {
    constexpr double kNone = 1e-300;  // makes 0 / 0 a 0
    return {(p - q) * (p - q) / (share * p + (1.0 - share) * q + kNone), std::sqrt(p * q)};
  }
  void operator+=(const Divergence& other) {
    pearson += other.pearson;
    affinity += other.affinity;
  }
  double statistic() const { return std::min(pearson, 8.0 * (1.0 - affinity)); }
};

// The statistic of the shares of each class's weight in the cells.
inline double chi_square(const Cell* cells, std::size_t n, const EffectiveRows& rows) {
  double positive = 0.0, negative = 0.0;
  for (std::size_t b = 0; b < n; ++b) {
    positive += cells[b].positive;
    negative += cells[b].negative;
  }
  if (!(positive > 0.0) || !(negative > 0.0)) return 0.0;
  const double share = rows.positive / (rows.positive + rows.negative);
  const double of_positive = 1.0 / positive, of_negative = 1.0 / negative;
  std::array<double, kMaxCodes> pearson, affinity;
  vectorized([&, cells, n, chi = pearson.data(), common = affinity.data()] {
    for (std::size_t b = 0; b < n; ++b) {
      const Divergence cell = Divergence::of_cell(cells[b].positive * of_positive,
                                                  cells[b].negative * of_negative, share);
      chi[b] = cell.pearson;
      common[b] = cell.affinity;
    }
  });
  Divergence all;
  for (std::size_t b = 0; b < n; ++b) all += {pearson[b], affinity[b]};
  return all.statistic() / rows.inverse();
}

// The mean number of pools, by chance, of ordered cells: the sum of 1 / i (Barlow et al. 1972).
inline double count_pools(std::size_t cells) {
  double sum = 0.0;
  for (std::size_t i = 1; i <= cells; ++i) sum += 1.0 / static_cast<double>(i);
  return sum;
}

// The mean of the statistic by chance of a feature whose cells, one per code, are put in order.  By
// simulation a grid's two axes multiply.
inline double freedom_in_order(const FeatureCells& feature) {
  const std::size_t occupied = feature.occupied_codes();
  if (occupied < 2) return 0.0;
  const double free = static_cast<double>(occupied) - 1.0;
  const FeatureBins& bins = *feature.bins;
  if (bins.ordered()) {
    const std::size_t missing = feature.occupied[bins.missing()];
    return std::min(free, count_pools(occupied - missing) + static_cast<double>(missing) - 1.0);
  }
  const auto pools = [](int levels, int ordered, int direction) {
    if (direction == 0) return static_cast<double>(levels);
    return count_pools(static_cast<std::size_t>(ordered)) + static_cast<double>(levels - ordered);
  };
  const Grid& grid = bins.grid();
  return std::min(free, pools(grid.columns, grid.ordered_columns, feature.directions[0]) *
                                pools(grid.rows, grid.ordered_rows, feature.directions[1]) -
                            1.0);
}

// The same of the best partition into `most` cells.
inline double freedom_of_best_cells(const FeatureCells& feature, std::size_t most) {
  const std::size_t cells = feature.occupied_codes();
  if (!feature.are_in_order()) {
    return freedom_of_best_cells(cells, feature.bins->ordered(), most);
  }
  return freedom_of_best_cells_in_order(cells, freedom_in_order(feature), most);
}

// The first of the features that are least likely by chance.  Those are ties whose affinities
// differ no more than costs that are ties do, so that the order of additions cannot decide a model.
inline std::size_t least_likely(const Contrast* contrasts, std::size_t n,
                                const EffectiveRows& rows) {
  std::size_t best = 0;
  double deviate = contrasts[0].deviate();
  for (std::size_t i = 1; i < n; ++i) {
    const double candidate = contrasts[i].deviate();
    if (candidate > deviate) {
      best = i;
      deviate = candidate;
    }
  }
  const double tie = 8.0 * kTie / rows.inverse();
  for (std::size_t i = 0; i < best; ++i) {
    const Contrast raised{contrasts[i].chi_square + tie, contrasts[i].freedom};
    if (raised.deviate() >= deviate) return i;
  }
  return best;
}

}  // namespace properboost
