// Random numbers by counter: a number is a function of its key, and needs no number before it.
#pragma once

#include <cstdint>

namespace properboost {

constexpr std::uint64_t kStride = 0x9e3779b97f4a7c15u;

// Mixes the bits of x (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
inline std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The key of one of a seed's streams.
inline std::uint64_t stream_key(std::uint64_t seed, std::uint64_t stream) noexcept {
  return mix_bits(mix_bits(seed + kStride) ^ stream);
}

// 64 random bits for each n of a stream; all n of a stream differ, for the stride is odd.
inline std::uint64_t draw_bits(std::uint64_t key, std::uint64_t n) noexcept {
  return mix_bits(key + (n + 1) * kStride);
}
inline std::uint64_t draw_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) noexcept {
  return draw_bits(stream_key(seed, stream), n);
}

}  // namespace properboost
