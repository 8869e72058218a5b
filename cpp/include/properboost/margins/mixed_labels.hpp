// Rows with soft labels: a function of a loss for both labels of a strip, by the labels' shares.
#pragma once

#include <cstddef>

#include "properboost/core/instruction_set.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/margins/margin_strip.hpp"

namespace properboost {

using OfMargins = void (Loss::*)(const float*, float*, std::size_t) const;

// `out` holds the function of n margins u; the other label's value at -u is mixed in.  `sign`
// multiplies that value: -1 for derivatives of odd order.
inline void mix_labels(const Loss& loss, OfMargins of_margins, const float* share, float sign,
                       const float* u, std::size_t n, float* out) {
  alignas(64) Strip opposite, other;
  vectorized([=, to = opposite.data()] {
    for (std::size_t i = 0; i < n; ++i) to[i] = -u[i];
  });
  (loss.*of_margins)(opposite.data(), other.data(), n);
  vectorized([=, from = other.data()] {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = share[i] * out[i] + sign * (1.0F - share[i]) * from[i];
    }
  });
}

}  // namespace properboost
