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
#include "properboost/trees/cells/cut_scan.hpp"
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
  std::array<double, kMaxCodes> shares() const {
    std::array<double, kMaxCodes> shares{};
    for (std::size_t b = 0; b * all_.size() < by_code_.size(); ++b) {
      if (occupied(b)) {
        shares[b] = static_cast<double>(by_code_[b * all_.size() + heaviest_]) /
                    static_cast<double>(weight_[b]);
      }
    }
    return shares;
  }

  void find_costs(const CutOrder& order, double* before, double* after) const {
    const std::size_t slots = all_.size();
    std::vector<double> branch(slots);
    const auto evaluate = [&](const std::int64_t* lefts, std::size_t n, CutCost* out) {
      for (std::size_t i = 0; i < n; ++i, lefts += slots) {
        out[i] = {0.0, std::numeric_limits<double>::infinity()};
        for (const bool on_left : {true, false}) {
          for (std::size_t k = 0; k < slots; ++k) {
            const std::int64_t sum = on_left ? lefts[k] : all_[k] - lefts[k];
            branch[k] = static_cast<double>(sum) * vote_.unit;
          }
          out[i].cost += vote_.vote.cost(branch.data());
          const double weight = std::accumulate(branch.begin(), branch.end(), 0.0);
          out[i].lighter = std::min(out[i].lighter, weight);
        }
      }
    };
    CutScan(by_code_.data(), slots, beside_left_, least_, evaluate)
        .find_costs(order, [&](std::size_t code) { return occupied(code); }, before, after);
  }

 private:
  const CountingVote& vote_;
  SlotSums by_code_;  // [code][slot], so that numbers added together lie together
  double least_;
  SlotSums beside_left_, all_;
  std::array<std::int64_t, kMaxCodes> weight_{};  // of each code
  std::size_t heaviest_;
};

}  // namespace properboost
