// Memory for vectors.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace properboost {

// Memory from which vectors of every width can be loaded without crossing cache lines.  Large
// blocks request large pages, which make a pass over all rows faster.
template <class T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    void* const memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__)
    if (n * sizeof(T) >= kLargePage) madvise(memory, n * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t n) noexcept { ::operator delete(p, alignment(n)); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const CacheLineAllocator<U>&) const noexcept {
    return false;
  }

 private:
  static constexpr std::size_t kLargePage = 1u << 21;

  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= kLargePage ? kLargePage : 64};
  }
};

template <class T>
using Aligned = std::vector<T, CacheLineAllocator<T>>;

}  // namespace properboost
