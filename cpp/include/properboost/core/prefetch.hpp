// Prefetching: loading memory into the cache before it is read.
#pragma once

#include <cstddef>

namespace properboost {

constexpr std::size_t kCacheLine = 64;  // bytes

inline void prefetch([[maybe_unused]] const void* p) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(p);
#endif
}

// Prefetches the cache lines of n bytes from p on.
inline void prefetch(const void* p, std::size_t n) noexcept {
  const char* const first = static_cast<const char*>(p);
  for (std::size_t b = 0; b < n; b += kCacheLine) prefetch(first + b);
}

}  // namespace properboost
