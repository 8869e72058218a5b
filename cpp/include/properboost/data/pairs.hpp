// Pairs: two features taken as one, whose codes are the cells of a coarse grid over both.
//
// A pair is a categorical feature whose categories are the cells.  Rows that have a code without
// training rows in either feature are unseen: a look-up table adds nothing to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/data/binning.hpp"

namespace properboost {

class Team;

struct FeaturePair {
  static constexpr std::uint16_t kUnseen = kMaxCodes;  // a level that no cell has

  std::size_t first, second;  // features
  std::size_t cells;
  // The level of each code; in first_level it is multiplied by the second feature's number of
  // levels.
  std::array<std::uint16_t, kMaxCodes> first_level, second_level;

  // The cells, then missing (which no row is), then unseen, as for categories.
  std::size_t width() const noexcept { return cells + 2; }
  std::uint8_t code(std::uint8_t a, std::uint8_t b) const noexcept {
    const unsigned cell = unsigned{first_level[a]} + unsigned{second_level[b]};
    const auto unseen = static_cast<unsigned>(cells) + 1;
    return static_cast<std::uint8_t>(cell < unseen ? cell : unseen);
  }
};

// out[p * n + i] = the code of row i in pair p, from its features' codes[f * n + i].
void encode_pairs(const std::vector<FeaturePair>& pairs, const std::uint8_t* codes, std::size_t n,
                  std::uint8_t* out, Team& team);

// The interaction of a pair: a sum of gradient^2 / variance over its cells, without the effects of
// either feature's levels, and its mean where the gradients of a fitted model are noise.
struct Interaction {
  double chi_square = 0.0;
  double freedom = 0.0;
};

// The interactions of the pairs a < b: (0, 1), (0, 2), ..., (1, 2), ...  levels[f * n + i] <
// kLevels is the level of row i in feature f.  Row i adds gradient[i], and variance[i], which the
// model expects of it.  `progress` is called on the calling thread from time to time, and may
// throw.
constexpr std::size_t kLevels = 16;
std::vector<Interaction> find_interactions(const std::uint8_t* levels, std::size_t features,
                                           std::size_t n, const float* gradient,
                                           const float* variance, double scale,
                                           const std::function<void()>& progress, Team& team);

}  // namespace properboost
