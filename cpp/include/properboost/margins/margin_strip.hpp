// Strips of margins: their size, and the least margin of a strip, a lane and all processes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "properboost/core/math.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {

constexpr std::size_t kStrip = 2048;  // margins that stay in the first cache
using Strip = std::array<float, kStrip>;

// least[k] becomes the least of its lane.
template <std::size_t W>
void find_least(const float* u, std::size_t n, float* least) {
  constexpr std::size_t kTogether = W < 16 ? 16 : W;
  float lowest[kTogether];
  for (std::size_t k = 0; k < kTogether; ++k) lowest[k] = least[k % W];
  std::size_t j = 0;
  for (; j + kTogether <= n * W; j += kTogether) {
    for (std::size_t k = 0; k < kTogether; ++k)
      lowest[k] = u[j + k] < lowest[k] ? u[j + k] : lowest[k];
  }
  for (; j < n * W; ++j) lowest[j % W] = std::min(lowest[j % W], u[j]);
  for (std::size_t k = 0; k < kTogether; ++k) least[k % W] = std::min(least[k % W], lowest[k]);
}

// The same of the other labels' margins.
inline void find_least_of_others(const float* u, std::size_t n, float& least) {
  float lowest = least;
  for (std::size_t i = 0; i < n; ++i) lowest = -u[i] < lowest ? -u[i] : lowest;
  least = lowest;
}

// The least of all processes' margins, and sums that are theirs, too.
inline double reduce_least(const std::vector<float>& blocks, AllReduce all_reduce) {
  double most = -std::numeric_limits<double>::infinity();
  for (const float block_least : blocks) most = std::max(most, -wide(block_least));
  all_reduce.most(most).run();
  return -most;
}

}  // namespace properboost
