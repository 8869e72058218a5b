// Reading several small whole numbers as one word.
#pragma once

#include <cstdint>

namespace properboost {

// The j-th code of those that were read as one word.
template <class Code>
Code unpack(std::uint64_t word, unsigned j) noexcept {
  constexpr unsigned kBits = 8 * sizeof(Code);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return static_cast<Code>(word >> (64 - kBits - kBits * j));
#else
  return static_cast<Code>(word >> (kBits * j));
#endif
}

}  // namespace properboost
