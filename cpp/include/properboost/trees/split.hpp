// Split search: the best division of one feature's codes in two, by a scan of their sums.
//
// Ordered bins are cut between neighbours, and the missing bin goes to the better branch.
// Categories are first ordered by their share of a class; the best cut of that order is the best
// split into two sets of two classes.  Categories without training rows, and missing values if
// training had none, belong to neither branch.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "properboost/data/binning.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

// Costs this close, relatively, are ties.  The earlier choice wins, so that the order of additions
// (threads, lanes, bundles) cannot decide a model.
constexpr double kTie = 1e-7;

// The first of the least costs; 0 if none is a number, which the caller must check.
inline std::size_t first_best(const double* costs, std::size_t n) {
  constexpr std::size_t kTogether = 8;  // that need not wait for each other
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::size_t whole = n - n % kTogether;
  std::array<double, kTogether> least;
  least.fill(kNone);
  for (std::size_t i = 0; i < whole; i += kTogether) {
    for (std::size_t k = 0; k < kTogether; ++k) {
      least[k] = costs[i + k] < least[k] ? costs[i + k] : least[k];
    }
  }
  double best = kNone;
  for (const double cost : least) best = cost < best ? cost : best;
  for (std::size_t i = whole; i < n; ++i) best = costs[i] < best ? costs[i] : best;
  const double most = best + kTie * std::abs(best);
  std::size_t first = 0;
  for (; first < whole; first += kTogether) {
    bool is_any = false;
    for (std::size_t k = 0; k < kTogether; ++k) is_any |= costs[first + k] <= most;
    if (is_any) break;
  }
  for (; first < n; ++first) {
    if (costs[first] <= most) return first;
  }
  return 0;
}

struct Split {
  static constexpr std::uint8_t kLeft = 0, kRight = 1, kNeither = 2;

  double cost;
  CellOfCode branch;      // of each code
  std::size_t codes = 0;  // that have rows, where somebody counted them
  std::size_t cut = 0;    // its place among the costs of cuts

  void swap_branches() {
    for (std::uint8_t& b : branch) {
      if (b != kNeither) b = b == kLeft ? kRight : kLeft;
    }
  }
};

// The order in which a feature's codes are cut.
struct CutOrder {
  std::array<std::uint8_t, kMaxCodes> codes;
  std::size_t size = 0;
  bool floating = false;  // missing values are on the left of a cut or on its right
  std::size_t missing;

  // Cuts has `occupied(code)`, whether training rows have the code, and `shares()` of the codes, by
  // which categories are ordered.
  template <class Cuts>
  CutOrder(const FeatureBins& bins, const Cuts& cuts)
      : missing(static_cast<std::size_t>(bins.missing())) {
    if (bins.ordered()) {
      *this = CutOrder(bins, 0, static_cast<std::size_t>(bins.bins()), cuts.occupied(missing));
      return;
    }
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins.width()); ++b) {
      if (cuts.occupied(b)) codes[size++] = static_cast<std::uint8_t>(b);  // also missing
    }
    const std::array<double, kMaxCodes> share = cuts.shares();
    std::stable_sort(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(size),
                     [&](std::uint8_t a, std::uint8_t b) { return share[a] < share[b]; });
  }
  // That of ordered bins from `first` to `end`, as if there were no others.
  CutOrder(const FeatureBins& bins, std::size_t first, std::size_t end, bool floats)
      : size(end - first), floating(floats), missing(static_cast<std::size_t>(bins.missing())) {
    std::iota(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(size),
              static_cast<std::uint8_t>(first));
  }
};

// The best split, or all codes on the left if none is better.  Besides the functions that CutOrder
// needs, Cuts has `find_costs(order, before, after)`: before[0] is the cost of no split, before[i]
// that of the first i codes on the left (with the missing ones, if they float), 0 < i < size; if
// they float, after[i] is the cost of the first i + 1 codes on the left and the missing ones on the
// right, 0 <= i < size.
template <class Cuts>
Split find_split(const FeatureBins& bins, const CutOrder& order, const Cuts& cuts) {
  // The first of equal splits wins: no split, then missing values on the left before the right,
  // then the fewest codes on the left.
  std::array<double, 2 * kMaxCodes> costs;
  const std::size_t before = std::max<std::size_t>(order.size, 1);
  cuts.find_costs(order, costs.data(), &costs[before]);
  const std::size_t best = first_best(costs.data(), before + (order.floating ? order.size : 0));
  const bool missing_left = best < before;
  const std::size_t codes = best == 0 ? order.size : missing_left ? best : best - before + 1;
  Split split{costs[best], {}};
  split.cut = best;
  split.branch.fill(Split::kNeither);
  if (bins.ordered()) {
    const auto first = split.branch.begin() + (order.size > 0 ? order.codes[0] : 0);
    const auto cut = first + static_cast<std::ptrdiff_t>(codes);
    std::fill(first, cut, Split::kLeft);
    std::fill(cut, first + static_cast<std::ptrdiff_t>(order.size), Split::kRight);
  } else {
    for (std::size_t i = 0; i < order.size; ++i) {
      split.branch[order.codes[i]] = i < codes ? Split::kLeft : Split::kRight;
    }
  }
  if (order.floating) split.branch[order.missing] = missing_left ? Split::kLeft : Split::kRight;
  return split;
}
template <class Cuts>
Split find_split(const FeatureBins& bins, const Cuts& cuts) {
  return find_split(bins, CutOrder(bins, cuts), cuts);
}

// How many codes have rows.
template <class Cuts>
std::size_t count_codes(const FeatureBins& bins, const Cuts& cuts) {
  std::size_t codes = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(bins.width()); ++b) {
    codes += cuts.occupied(b) ? 1 : 0;
  }
  return codes;
}

}  // namespace properboost
