// Packed codes: the codes once more, a row's side by side, so that a reader of scattered rows
// fetches each of them once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "properboost/core/aligned.hpp"
#include "properboost/core/prefetch.hpp"

namespace properboost {

class Team;
struct Codes;

// Some features, from the first of one word of packed codes to the last of another.
struct FeatureRange {
  std::size_t begin, end;
};

class PackedCodes {
 public:
  static constexpr std::size_t kTogether = 8;  // features, whose codes are read as one word

  PackedCodes() = default;  // of no rows
  PackedCodes(const Codes& codes, std::size_t features, Team& team);

  // The bytes of `rows` rows.
  static std::size_t bytes(std::size_t rows, std::size_t features) noexcept {
    return rows * stride_for(features);
  }

  std::size_t rows() const noexcept { return stride_ == 0 ? 0 : bytes_.size() / stride_; }
  bool empty() const noexcept { return bytes_.empty(); }
  std::size_t words() const noexcept { return (features_ + kTogether - 1) / kTogether; }
  // The features of the k-th of n parts of about as many words.
  FeatureRange part(std::size_t k, std::size_t n) const noexcept {
    const auto first = [&](std::size_t part) {
      return std::min(words() * part / n * kTogether, features_);
    };
    return {first(k), first(k + 1)};
  }
  // Bytes from one row to the next.
  std::size_t stride() const noexcept { return stride_; }
  const std::uint8_t* row(std::size_t i) const noexcept { return bytes_.data() + i * stride_; }

  // The number of rows whose codes stay in the cache while others take turns, at most `most`.
  std::size_t block(std::size_t most) const noexcept {
    constexpr std::size_t kBytes = 1u << 14, kFewest = 64;
    return std::clamp(kBytes / stride_, kFewest, most);
  }
  // Prefetches row i.
  void prefetch(std::size_t i) const noexcept { properboost::prefetch(row(i), stride_); }

 private:
  // Rows fill whole cache lines, or cache lines hold whole rows.
  static std::size_t stride_for(std::size_t features) noexcept {
    if (features > kCacheLine / 2) return (features + kCacheLine - 1) / kCacheLine * kCacheLine;
    std::size_t stride = kTogether;
    while (stride < features) stride *= 2;
    return stride;
  }

  std::size_t features_ = 0, stride_ = 0;
  Aligned<std::uint8_t> bytes_;
};

}  // namespace properboost
