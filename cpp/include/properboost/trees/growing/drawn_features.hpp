// The features that a split, or a round, is chosen from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/core/random.hpp"
#include "properboost/trees/limits.hpp"

namespace properboost {

constexpr std::uint64_t kFeatureStream = 1;  // plus one more per node, or level

// Marks such a share of n features, drawn by a key for this turn.
inline void draw_features(double share, std::uint64_t key, std::uint64_t turn, std::size_t n,
                          std::uint8_t* allowed) {
  const std::size_t wanted = count_drawn(share, n);
  if (wanted >= n) {
    std::fill_n(allowed, n, std::uint8_t{1});
    return;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> order(n);
  for (std::size_t f = 0; f < n; ++f) order[f] = {draw_bits(key, kFeatureStream + turn, f), f};
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted) - 1,
                   order.end());
  std::fill_n(allowed, n, std::uint8_t{0});
  for (std::size_t k = 0; k < wanted; ++k) allowed[order[k].second] = 1;
}

}  // namespace properboost
