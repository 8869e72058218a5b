// Packed codes: the codes once more, a row's side by side, so that a reader of scattered rows
// fetches each of them once.  Dense features have places, in their order; sparse ones have entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/vectors.hpp"

namespace properboost {

class Team;
struct Codes;

// Places of features, from the first of one word of packed codes to the last of another; or
// features.
struct FeatureRange {
  std::size_t begin, end;
};

class PackedCodes {
 public:
  static constexpr std::size_t kTogether = 8;  // features, whose codes are read as one word

  PackedCodes() = default;  // of no rows
  PackedCodes(const Codes& codes, std::size_t features, Team& team);

  // Their bytes.
  static std::size_t bytes(const Codes& codes, std::size_t features) noexcept;

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
  // The number of dense features, and the one at a place.
  std::size_t features() const noexcept { return features_; }
  std::size_t feature(std::size_t place) const noexcept {
    return dense_.empty() ? place : dense_[place];
  }

  // The sparse features, and the entries of a row in them, in the order of features.
  const std::vector<std::size_t>& sparse() const noexcept { return sparse_; }
  struct RowEntries {
    const std::uint32_t* features;
    const std::uint8_t* codes;
    std::size_t size;
  };
  RowEntries entries(std::size_t i) const noexcept {
    const std::size_t first = starts_[i];
    return {entry_features_.data() + first, entry_codes_.data() + first, starts_[i + 1] - first};
  }
  // How many codes a row has, on average.
  std::size_t codes_a_row() const noexcept {
    return features_ + (sparse_.empty() ? 0 : entry_codes_.size() / rows() + 1);
  }

  // The number of rows whose codes stay in the cache while others take turns, at most `most`.
  std::size_t block(std::size_t most) const noexcept {
    constexpr std::size_t kBytes = 1u << 14, kFewest = 64;
    return std::clamp(kBytes / stride_, kFewest, most);
  }
  // Prefetches row i.
  void prefetch(std::size_t i) const noexcept { properboost::prefetch(row(i), stride_); }

  // Copies `words` words of n rows from that of a place on, a word of all rows after the other:
  // that of the i-th row is to[w * most + i].  Two words of two rows take turns as vectors.
  void gather(const std::uint32_t* rows, std::size_t n, std::size_t place, std::size_t words,
              std::size_t most, std::uint64_t* to) const noexcept {
    const std::uint8_t* const first = bytes_.data() + place;
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {
      const std::uint8_t* const a = first + rows[i] * stride_;
      const std::uint8_t* const b = first + rows[i + 1] * stride_;
      std::size_t w = 0;
      for (; w + 2 <= words; w += 2) exchange(a + w * kTogether, b + w * kTogether, most, to, w, i);
      if (w < words) {
        std::memcpy(to + w * most + i, a + w * kTogether, kTogether);
        std::memcpy(to + w * most + i + 1, b + w * kTogether, kTogether);
      }
    }
    for (; i < n; ++i) {
      for (std::size_t w = 0; w < words; ++w) {
        std::memcpy(to + w * most + i, first + rows[i] * stride_ + w * kTogether, kTogether);
      }
    }
  }

 private:
  // Stores two words of two rows by word, which were by row.
  static void exchange(const std::uint8_t* a, const std::uint8_t* b, std::size_t most,
                       std::uint64_t* to, std::size_t w, std::size_t i) noexcept {
    Two<std::uint64_t> of_a, of_b, first, second;
    std::memcpy(&of_a, a, sizeof of_a);
    std::memcpy(&of_b, b, sizeof of_b);
    first.data[0] = of_a.data[0];
    first.data[1] = of_b.data[0];
    second.data[0] = of_a.data[1];
    second.data[1] = of_b.data[1];
    std::memcpy(to + w * most + i, &first, sizeof first);
    std::memcpy(to + (w + 1) * most + i, &second, sizeof second);
  }

  // Rows fill whole cache lines, or cache lines hold whole rows.
  static std::size_t stride_for(std::size_t features) noexcept {
    if (features > kCacheLine / 2) return (features + kCacheLine - 1) / kCacheLine * kCacheLine;
    std::size_t stride = kTogether;
    while (stride < features) stride *= 2;
    return stride;
  }

  void pack_entries(const Codes& codes);

  std::size_t features_ = 0, stride_ = 0;
  Aligned<std::uint8_t> bytes_;
  std::vector<std::size_t> dense_;  // the features at the places; empty if all are dense
  std::vector<std::size_t> sparse_;
  std::vector<std::size_t> starts_;  // of each row's entries
  std::vector<std::uint32_t> entry_features_;
  std::vector<std::uint8_t> entry_codes_;
};

}  // namespace properboost
