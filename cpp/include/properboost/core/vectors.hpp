// Vectors of numbers with elementwise addition and multiplication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "properboost/core/instruction_set.hpp"

namespace properboost {

template <InstructionSet kSet>
inline constexpr std::size_t kVectorBytes = kSet == InstructionSet::kAvx512 ? 64
                                            : kSet == InstructionSet::kAvx2 ? 32
                                                                            : 16;

// A vector of a set that holds numbers of 64 bits.  Loops over such numbers that a compiler is left
// to vectorise take four times as long.
template <class Number, InstructionSet kSet>
struct alignas(kVectorBytes<kSet>) VectorOf {
  static constexpr std::size_t kSize = kVectorBytes<kSet> / sizeof(Number);
#if defined(__GNUC__)
  typedef Number Data __attribute__((vector_size(kVectorBytes<kSet>)));
  Data data;

  void operator+=(const VectorOf& other) noexcept { data += other.data; }
  void operator-=(const VectorOf& other) noexcept { data -= other.data; }
  void operator*=(const VectorOf& other) noexcept { data *= other.data; }
  void operator|=(const VectorOf& other) noexcept { data |= other.data; }
  void operator^=(const VectorOf& other) noexcept { data ^= other.data; }
  // Puts zeros in the place of NaN.
  void clear_nan() noexcept { data = data == data ? data : Data{}; }
#else
  Number data[kSize];

  void operator+=(const VectorOf& other) noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] += other.data[k];
  }
  void operator-=(const VectorOf& other) noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] -= other.data[k];
  }
  void operator*=(const VectorOf& other) noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] *= other.data[k];
  }
  void operator|=(const VectorOf& other) noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] |= other.data[k];
  }
  void operator^=(const VectorOf& other) noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] ^= other.data[k];
  }
  void clear_nan() noexcept {
    for (std::size_t k = 0; k < kSize; ++k) data[k] = data[k] == data[k] ? data[k] : Number{};
  }
#endif
};

// N floats side by side.  They are declared as a vector where the compiler supports it, because by
// itself the compiler would vectorise across rows.
template <std::size_t N>
struct alignas(N < 16 ? 4 * N : 64) Floats {
#if defined(__GNUC__)
  typedef float Data __attribute__((vector_size(4 * N)));
  Data data;

  void operator+=(const Floats& other) noexcept { data += other.data; }
  void operator*=(const Floats& other) noexcept { data *= other.data; }
#else
  float data[N];

  void operator+=(const Floats& other) noexcept {
    for (std::size_t k = 0; k < N; ++k) data[k] += other.data[k];
  }
  void operator*=(const Floats& other) noexcept {
    for (std::size_t k = 0; k < N; ++k) data[k] *= other.data[k];
  }
#endif
};

// N whole numbers side by side: vectors of a cache line, as the compiler would copy larger ones
// through memory.
template <std::size_t N, class Whole>
struct alignas(sizeof(Whole) * N < 64 ? sizeof(Whole) * N : 64) Wholes {
#if defined(__GNUC__)
  static constexpr std::size_t kEach = sizeof(Whole) * N < 64 ? N : 64 / sizeof(Whole);
  typedef Whole Data __attribute__((vector_size(sizeof(Whole) * kEach)));
  Data data[N / kEach];

  void operator+=(const Wholes& other) noexcept {
    for (std::size_t j = 0; j < N / kEach; ++j) data[j] += other.data[j];
  }
  Whole operator[](std::size_t k) const noexcept { return data[k / kEach][k % kEach]; }
#else
  Whole data[N];

  void operator+=(const Wholes& other) noexcept {
    for (std::size_t k = 0; k < N; ++k) data[k] += other.data[k];
  }
  Whole operator[](std::size_t k) const noexcept { return data[k]; }
#endif
};

// Two numbers side by side.
template <class Real>
struct alignas(2 * sizeof(Real)) Two {
#if defined(__GNUC__)
  typedef Real Data __attribute__((vector_size(2 * sizeof(Real))));
  Data data;

  void operator+=(const Two& other) noexcept { data += other.data; }
  void operator-=(const Two& other) noexcept { data -= other.data; }
#else
  Real data[2];

  void operator+=(const Two& other) noexcept {
    data[0] += other.data[0];
    data[1] += other.data[1];
  }
  void operator-=(const Two& other) noexcept {
    data[0] -= other.data[0];
    data[1] -= other.data[1];
  }
#endif
};

// to[i] += from[i], to[i] -= from[i], of n whole numbers or pairs of them: a vector at a time,
// where a compiler would take pairs one by one.
template <class Whole>
void add_sums(Whole* to, const Whole* from, std::size_t n) {
  vectorized([=] {
    Whole* const __restrict sums = to;  // copies, which nothing written could change
    const Whole* const __restrict others = from;
    const std::size_t all = n;
    for (std::size_t i = 0; i < all; ++i) sums[i] += others[i];
  });
}
template <class Whole>
void subtract_sums(Whole* to, const Whole* from, std::size_t n) {
  vectorized([=] {
    Whole* const __restrict sums = to;  // copies, which nothing written could change
    const Whole* const __restrict others = from;
    const std::size_t all = n;
    for (std::size_t i = 0; i < all; ++i) sums[i] -= others[i];
  });
}
template <class Whole>
void add_sums(Two<Whole>* to, const Two<Whole>* from, std::size_t n) {
  add_sums(reinterpret_cast<Whole*>(to), reinterpret_cast<const Whole*>(from), 2 * n);
}
template <class Whole>
void subtract_sums(Two<Whole>* to, const Two<Whole>* from, std::size_t n) {
  subtract_sums(reinterpret_cast<Whole*>(to), reinterpret_cast<const Whole*>(from), 2 * n);
}

// Two whole numbers of 32 bits that are added as one of 64; neither may overflow.
struct alignas(8) Halves {
  std::uint32_t data[2] = {0, 0};

  Halves() = default;
  Halves(std::uint32_t first, std::uint32_t second) noexcept : data{first, second} {}
  void operator+=(const Halves& other) noexcept {
    std::uint64_t sum, more;
    std::memcpy(&sum, data, sizeof sum);
    std::memcpy(&more, other.data, sizeof more);
    sum += more;
    std::memcpy(data, &sum, sizeof sum);
  }
  Two<std::int64_t> widened() const noexcept {
    Two<std::int64_t> wide;
    wide.data[0] = data[0];
    wide.data[1] = data[1];
    return wide;
  }
};

// Sums of 32 bits do not overflow: see histogram/narrow_terms.hpp.
template <>
struct Wholes<2, std::uint32_t> {
  Halves both;

  void operator+=(const Wholes& other) noexcept { both += other.both; }
  std::uint32_t operator[](std::size_t k) const noexcept { return both.data[k]; }
};

}  // namespace properboost
