// The reader of a fuzz target's input: choices from bytes, and an endless stream of numbers.
//
// Choices take bytes in turn, and are 0 when there are none left.  Contents are drawn by a seed
// that the input chooses, so that a short input can make many rows; or they are bytes, so that a
// fuzzer can change one of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/core/random.hpp"
#include "properboost/core/region.hpp"

namespace properboost::fuzz {

// Ends the process, as sanitizers do.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::abort();
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {
    seed_ = below(256);
    from_bytes_ = flip();
  }

  std::size_t below(std::size_t n) {
    std::size_t value = 0;
    for (std::size_t most = 1; most < n; most *= 256) value = 256 * value + byte();
    return n == 0 ? 0 : value % n;
  }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool flip() { return below(2) != 0; }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  // 10 to a power between those.
  double power_of_ten(int low, int high) {
    const auto powers = static_cast<std::size_t>(high) - static_cast<std::size_t>(low) + 1;
    return std::pow(10.0, low + static_cast<int>(below(powers)));
  }
  double share() { return static_cast<double>(below(256)) / 255.0; }

  // Contents.
  std::uint64_t word() {
    if (!from_bytes_ || next_ == end_) return draw_bits(seed_, 0, drawn_++);
    return mix_bits(byte());
  }
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  std::size_t content_below(std::size_t n) { return static_cast<std::size_t>(word() % n); }
  // Any number: most of them small, some whole, some extreme, some missing.
  template <class T>
  T number() {
    const std::uint64_t kind = word() % 16;
    if constexpr (std::is_integral_v<T>) {
      const auto any = static_cast<T>(word());
      return kind < 12 ? static_cast<T>(any % 16) : any;
    } else {
      constexpr T kExtreme[] = {T(0),
                                -T(0),
                                std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::quiet_NaN(),
                                std::numeric_limits<T>::max(),
                                std::numeric_limits<T>::lowest(),
                                std::numeric_limits<T>::denorm_min()};
      if (kind == 0) return kExtreme[word() % 8];
      if (kind == 1) {
        const std::uint64_t bits = word();
        T any;
        std::memcpy(&any, &bits, sizeof any);
        return any;
      }
      if (kind < 8) return static_cast<T>(static_cast<int>(word() % 21) - 10);
      return static_cast<T>(unit() - 0.5);
    }
  }

 private:
  std::size_t byte() { return next_ == end_ ? 0 : *next_++; }

  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::uint64_t seed_ = 0, drawn_ = 0;
  bool from_bytes_ = false;
};

// Runs task(team) on `threads` threads.
template <class Task>
void on_threads(int threads, const Task& task) {
  Team::run(threads, 1e9, task);
}

// Whether two arrays hold the same bits, a NaN being the same as any other.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
    } else {
      return x == y;
    }
  });
}

inline bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace properboost::fuzz

// One input; returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
