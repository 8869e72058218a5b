// The costs of cutting a feature's codes in two, where each code has several sums.
//
// The sums are whole numbers, so one branch of a cut is exactly the total minus the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "properboost/trees/split.hpp"

namespace properboost {

struct CutCost {
  double cost;
  double lighter;  // the weight of the lighter branch
};

// `evaluate(lefts, n, out)` writes the costs of n cuts, from the sums of their left branches:
// lefts[i * sums + k].
template <class Sum, class Evaluate>
class CutScan {
 public:
  // `by_code` has `sums` sums for each code.  Each branch weighs at least `least`; `beside` are the
  // sums of those rows of the left branch that are not among the codes'.
  CutScan(const Sum* by_code, std::size_t sums, std::vector<Sum> beside, double least,
          Evaluate evaluate)
      : by_code_(by_code),
        sums_(sums),
        beside_(std::move(beside)),
        least_(least),
        evaluate_(std::move(evaluate)) {}

  // See find_split; occupied(code) returns whether a code has rows.
  template <class Occupied>
  void find_costs(const CutOrder& order, const Occupied& occupied, double* before, double* after) {
    const std::size_t n = order.size;
    before[0] = scan(order, order.floating, occupied, [&](std::size_t i, double cost) {
      if (i < n) before[i] = cost;
    });
    if (!order.floating) return;
    scan(order, false, occupied, [&](std::size_t i, double cost) { after[i - 1] = cost; });
  }

 private:
  // Calls set(i, cost) for the first i codes on the left, 0 < i <= size; returns the last cost,
  // even if the branches are too light.
  template <class Occupied, class Set>
  double scan(const CutOrder& order, bool missing_left, const Occupied& occupied, const Set& set) {
    static thread_local std::vector<Sum> lefts;
    static thread_local std::vector<CutCost> costs;
    lefts.resize(std::max(lefts.size(), (order.size + 1) * sums_));  // it may be larger: no zeros
    std::copy(beside_.begin(), beside_.end(), lefts.begin());
    const auto add_code = [&](std::size_t code, const Sum* from, Sum* to) {
      const Sum* const more = by_code_ + code * sums_;
      for (std::size_t k = 0; k < sums_; ++k) to[k] = from[k] + more[k];
    };
    if (missing_left) add_code(order.missing, lefts.data(), lefts.data());
    std::size_t last = 0;  // cut: a code without rows makes the same branches as before
    std::array<std::size_t, kMaxCodes> cut_of;
    for (std::size_t i = 0; i < order.size; ++i) {
      if (occupied(order.codes[i])) {
        Sum* const from = lefts.data() + last++ * sums_;
        add_code(order.codes[i], from, from + sums_);
      }
      cut_of[i] = last;
    }
    costs.resize(last + 1);
    evaluate_(lefts.data(), last + 1, costs.data());
    for (std::size_t i = 0; i < order.size; ++i) {
      const CutCost& cut = costs[cut_of[i]];
      const bool allowed = !(least_ > 0.0) || cut.lighter >= least_;
      set(i + 1, allowed ? cut.cost : std::numeric_limits<double>::infinity());
    }
    return costs[last].cost;
  }

  const Sum* by_code_;
  const std::size_t sums_;
  const std::vector<Sum> beside_;
  const double least_;
  Evaluate evaluate_;
};

}  // namespace properboost
