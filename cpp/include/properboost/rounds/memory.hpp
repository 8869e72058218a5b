// How much memory boosting takes, in bytes, known before it is taken.
#pragma once

#include <algorithm>
#include <cstddef>

namespace properboost {

// At least: small and passing things are left out.
struct Memory {
  std::size_t kept = 0;     // from the first round on
  std::size_t working = 0;  // while rounds are added, beside what is kept

  Memory& operator+=(const Memory& other) noexcept {
    kept += other.kept;
    working += other.working;
    return *this;
  }
  // What works after this works in the same place.
  void then(const Memory& other) noexcept {
    kept += other.kept;
    working = std::max(working, other.working);
  }
};

}  // namespace properboost
