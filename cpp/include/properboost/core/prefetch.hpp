// Prefetching: loading memory into the cache, or from the disk, before it is read.
#pragma once

#include <cstddef>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#endif

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

// Has the system begin to read what of n bytes from p on is not in memory, as a mapped file may not
// be.  Whether it does changes nothing but the time.
inline void read_ahead([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t n) noexcept {
#if defined(__unix__) || defined(__APPLE__)
  constexpr std::size_t kWindow = 1u << 17;  // less is read at once anyway, and asking takes time
  if (n < kWindow) return;
  const std::size_t before =
      reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  char* const page = const_cast<char*>(static_cast<const char*>(p)) - before;
  static_cast<void>(posix_madvise(page, before + n, POSIX_MADV_WILLNEED));
#endif
}

}  // namespace properboost
