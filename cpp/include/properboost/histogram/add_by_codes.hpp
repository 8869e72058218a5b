// The loop that adds each row's term to the cell of its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "properboost/core/words.hpp"

namespace properboost {

// input_cells[g][codes[g][i]] += term_of(i), g < Together, i in [begin, end).
template <std::size_t Together, class Sum, class TermOf>
void add_by_codes(const std::uint8_t* const* codes, std::size_t begin, std::size_t end,
                  Sum* const* input_cells, const TermOf& input_term_of) {
  constexpr unsigned kUnrolled = 8;
  const TermOf term_of = input_term_of;  // copies, which no addition could change
  Sum* cells[Together];
  for (std::size_t g = 0; g < Together; ++g) cells[g] = input_cells[g];
  std::size_t i = begin;
  // A sum of a cache line or more takes so many additions that an unrolled loop would be no faster,
  // and kernels of many lanes took most of the time to build the engine.
  if constexpr (sizeof(Sum) < 64) {
    for (; i + kUnrolled <= end; i += kUnrolled) {
      std::uint64_t words[Together];
      for (std::size_t g = 0; g < Together; ++g)
        std::memcpy(&words[g], codes[g] + i, sizeof words[g]);
#pragma GCC unroll 8
      for (unsigned j = 0; j < kUnrolled; ++j) {
        decltype(auto) term = term_of(i + j);
        for (std::size_t g = 0; g < Together; ++g)
          cells[g][unpack<std::uint8_t>(words[g], j)] += term;
      }
    }
  }
#pragma GCC unroll 1
  for (; i < end; ++i) {
    decltype(auto) term = term_of(i);
    for (std::size_t g = 0; g < Together; ++g) cells[g][codes[g][i]] += term;
  }
}

}  // namespace properboost
