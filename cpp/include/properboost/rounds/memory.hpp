// How much memory boosting takes, in bytes, known before it is taken.
#pragma once

#include <algorithm>
#include <cstddef>

namespace properboost {

// At least: small and passing things are left out.
struct Memory {
  std::size_t permanent = 0;  // from the first round on
  std::size_t working = 0;    // while rounds are added, besides the permanent part

  Memory& operator+=(const Memory& other) noexcept {
    permanent += other.permanent;
    working += other.working;
    return *this;
  }
  // Later work reuses the same working memory.
  void then(const Memory& other) noexcept {
    permanent += other.permanent;
    working = std::max(working, other.working);
  }
};

}  // namespace properboost
