// The costs of cutting a feature's codes in two, by a vote.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/split.hpp"
#include "properboost/votes/vote.hpp"

namespace properboost {

// Weights as whole numbers of a unit, by slot of a vote; empty if there are no rows.
using SlotSums = std::vector<std::int64_t>;

inline void add(SlotSums& to, const SlotSums& sums) {
  to.resize(std::max(to.size(), sums.size()), 0);
  for (std::size_t k = 0; k < sums.size(); ++k) to[k] += sums[k];
}

// A vote's view of such sums.
struct CountingVote {
  const Vote& vote;
  double unit;

  std::vector<double> weights(const SlotSums& sums) const {
    std::vector<double> weights;
    for (const std::int64_t sum : sums) weights.push_back(static_cast<double>(sum) * unit);
    return weights;
  }
  double cost(const SlotSums& sums) const { return vote.cost(weights(sums).data()); }
};

// The sums are whole numbers, so one branch of a cut is exactly the total minus the other.
class VoteCuts {
 public:
  // `sums` are a feature's, [slot][code].  Each branch weighs at least `least`.  Rows other than
  // those of the codes may belong to the branches as well.
  VoteCuts(const CountingVote& vote, const std::int64_t* sums, std::size_t width,
           double least = 0.0, const SlotSums& beside_left = {}, const SlotSums& beside_right = {})
      : vote_(vote),
        by_code_(vote.vote.slots() * width),
        least_(least),
        beside_left_(beside_left),
        all_(vote.vote.slots(), 0) {
    const std::size_t slots = all_.size();
    beside_left_.resize(slots, 0);
    for (std::size_t k = 0; k < slots; ++k) {
      for (std::size_t b = 0; b < width; ++b) {
        const std::int64_t sum = sums[k * width + b];
        by_code_[b * slots + k] = sum;
        all_[k] += sum;
        weight_[b] += sum;
      }
    }
    heaviest_ = static_cast<std::size_t>(std::max_element(all_.begin(), all_.end()) - all_.begin());
    add(all_, beside_left);
    add(all_, beside_right);
  }

  bool occupied(std::size_t code) const { return weight_[code] > 0; }
  // The share of the slot that is heaviest in all codes; for two classes no order is better.
  double share(std::size_t code) const {
    return static_cast<double>(sums(code)[heaviest_]) / static_cast<double>(weight_[code]);
  }

  void find_costs(const CutOrder& order, double* before, double* after) const {
    const std::size_t n = order.size;
    before[0] = scan(order, order.floating, [&](std::size_t i, double cost) {
      if (i < n) before[i] = cost;
    });
    if (order.floating)
      scan(order, false, [&](std::size_t i, double cost) { after[i - 1] = cost; });
  }

 private:
  const std::int64_t* sums(std::size_t code) const { return by_code_.data() + code * all_.size(); }

  // Calls set(i, cost) for the first i codes on the left, 0 < i <= size; returns the last cost,
  // even if the branches are too light.
  template <class Set>
  double scan(const CutOrder& order, bool missing_left, const Set& set) const {
    const std::size_t slots = all_.size();
    SlotSums left = beside_left_;
    std::vector<double> weights(2 * slots);  // of the left branch, then of the right
    const auto add_code = [&](std::size_t code) {
      const std::int64_t* const own = sums(code);
      for (std::size_t k = 0; k < slots; ++k) left[k] += own[k];
    };
    const auto cost = [&] {
      for (std::size_t k = 0; k < slots; ++k) {
        weights[k] = static_cast<double>(left[k]) * vote_.unit;
        weights[slots + k] = static_cast<double>(all_[k] - left[k]) * vote_.unit;
      }
      return vote_.vote.cost(weights.data()) + vote_.vote.cost(weights.data() + slots);
    };
    if (missing_left) add_code(order.missing);
    double last = cost();
    for (std::size_t i = 1; i <= order.size; ++i) {
      if (occupied(order.codes[i - 1])) {  // else the branches are the same as before
        add_code(order.codes[i - 1]);
        last = cost();
      }
      set(i, is_allowed(weights) ? last : std::numeric_limits<double>::infinity());
    }
    return last;
  }

  bool is_allowed(const std::vector<double>& weights) const {
    if (!(least_ > 0.0)) return true;
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(all_.size());
    return std::accumulate(weights.begin(), middle, 0.0) >= least_ &&
           std::accumulate(middle, weights.end(), 0.0) >= least_;
  }

  const CountingVote& vote_;
  SlotSums by_code_;  // [code][slot], so that numbers added together lie together
  double least_;
  SlotSums beside_left_, all_;
  std::array<std::int64_t, kMaxCodes> weight_{};  // of each code
  std::size_t heaviest_;
};

}  // namespace properboost
