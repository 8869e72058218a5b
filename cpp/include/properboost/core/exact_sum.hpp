// Sums of doubles without rounding: no order of additions changes them, nor how they are shared out
// to threads, machines or parts of a stream.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/peers.hpp"

namespace properboost {

// A fixed-point number that holds any double: digits of 32 bits, in 64, so that carries wait until
// 2^31 numbers have been added.
class ExactSum {
 public:
  // Adds a finite number.
  void add(double x) noexcept {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    const std::uint64_t exponent = bits >> 52 & 0x7ff;
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    if (exponent > 0) mantissa |= std::uint64_t{1} << 52;
    const std::uint64_t place = exponent > 0 ? exponent - 1 : 0;  // of the last bit
    const std::uint64_t low = (mantissa & kDigit) << place % 32;
    const std::uint64_t high = (mantissa >> 32) << place % 32;
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    std::int64_t* const to = digits_.data() + place / 32;
    to[0] += sign * static_cast<std::int64_t>(low & kDigit);
    to[1] += sign * static_cast<std::int64_t>((low >> 32) + (high & kDigit));
    to[2] += sign * static_cast<std::int64_t>(high >> 32);
  }
  ExactSum& operator+=(const ExactSum& other) noexcept {
    for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] += other.digits_[i];
    return *this;
  }

  // Adds the sums of other processes.
  void add_to(AllReduce& all_reduce) { all_reduce.sum(digits_.data(), digits_.size()); }
  // Its digits, without waiting carries: so sums of many sums do not overflow.
  void list(std::vector<std::int64_t>& all) const {
    auto digits = digits_;
    carry(digits);
    all.insert(all.end(), digits.begin(), digits.end());
  }
  // Adds a sum that was listed; returns where the next one is.
  const std::int64_t* add_listed(const std::int64_t* from) {
    for (std::int64_t& digit : digits_) digit += *from++;
    return from;
  }

  // The quotient of two sums, of which the second is positive, to a few units in the last place.
  friend double divide(const ExactSum& a, const ExactSum& b) {
    const Rounded over = a.round(), under = b.round();
    return std::ldexp(over.fraction / under.fraction, 32 * (over.place - under.place));
  }
  bool is_positive() const { return round().fraction > 0.0; }
  // The sum, to a few units in the last place.
  double value() const {
    const Rounded rounded = round();
    return std::ldexp(rounded.fraction, 32 * (rounded.place - 2) - 1074);
  }

 private:
  static constexpr std::uint64_t kDigit = 0xffffffff;

  // fraction times 2^(32 place), but for what all numbers have in common.
  struct Rounded {
    double fraction;
    int place;
  };
  Rounded round() const {
    auto digits = digits_;
    carry(digits);
    const double sign = digits.back() < 0 ? -1.0 : 1.0;
    if (sign < 0.0) {
      for (std::int64_t& digit : digits) digit = -digit;
      carry(digits);
    }
    std::size_t top = digits.size() - 1;
    while (top > 2 && digits[top] == 0) --top;
    double fraction = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      fraction = fraction * 0x1p32 + static_cast<double>(digits[top - i]);
    }
    return {sign * fraction, static_cast<int>(top)};
  }
  template <class Digits>
  static void carry(Digits& digits) {
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
      if (digits[i] == 0) continue;  // as most are, which need not wait for each other
      const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(digits[i]) & kDigit);
      digits[i + 1] += (digits[i] - low) / (std::int64_t{1} << 32);
      digits[i] = low;
    }
  }

  std::array<std::int64_t, 68> digits_{};  // the least first
};

}  // namespace properboost
