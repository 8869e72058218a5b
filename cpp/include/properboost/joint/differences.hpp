// Strips of rows, and scores relative to the largest of their row.
#pragma once

#include <cstddef>
#include <type_traits>

#include "properboost/core/math.hpp"

namespace properboost::joint {

// Rows that are worked on together; their data fit the first cache.
constexpr std::size_t kStrip = 128;

// Sums over classes are made in parts of this size, so that their error stays that of few
// additions.
constexpr std::size_t kPart = 32;

// Farther apart than this, classes are as good as infinitely far; sums of it are still finite.
template <class T>
constexpr T kFarthest = std::is_same_v<T, float> ? T(1e38F) : T(1e300);

// How far a score is below the largest one, as a number that is at most 0.
template <class T>
T below(T score, T top) {
  return math::at_least(score - top, -kFarthest<T>);
}

}  // namespace properboost::joint
