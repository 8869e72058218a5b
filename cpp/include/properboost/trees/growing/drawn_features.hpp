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

// Keeps the marks of such a share of the marked features, drawn by a key for this turn.
inline void draw_features(double share, std::uint64_t key, std::uint64_t turn,
                          std::vector<std::uint8_t>& allowed) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t f = 0; f < allowed.size(); ++f) {
    if (allowed[f] != 0) order.emplace_back(0, f);
  }
  const std::size_t drawn = count_drawn(share, order.size());
  if (drawn >= order.size()) return;
  for (auto& [bits, f] : order) bits = draw_bits(key, kFeatureStream + turn, f);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(drawn) - 1,
                   order.end());
  for (std::size_t k = drawn; k < order.size(); ++k) allowed[order[k].second] = 0;
}

}  // namespace properboost
