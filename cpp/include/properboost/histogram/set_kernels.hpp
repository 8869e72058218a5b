// Kernels that add terms of rows to the sums of a set of bundles, and read sums off into cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/words.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/flush.hpp"
#include "properboost/histogram/flush_schedule.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/histogram/joint_cells.hpp"
#include "properboost/histogram/terms.hpp"

namespace properboost {

// Prefetches the codes of n rows from `begin` on: a block reads its codes at once, too late for the
// hardware prefetcher.
inline void prefetch_codes(const Bundle& bundle, const Codes& codes, std::size_t begin,
                           std::size_t n) {
  if (begin + n > codes.rows) return;
  for (const std::size_t f : bundle.features) prefetch(codes.feature(f) + begin, n);
}

// Sums over `first` times `rest` joint cells of kNumbers numbers each: firsts[a] of the cells with
// first index a, others[r] of those with second index r.
template <std::size_t kNumbers, class Number>
void marginalize(const Number* joint, std::size_t first, std::size_t rest, std::int64_t* firsts,
                 std::int64_t* others) {
  using To = std::int64_t;
  // Works on a block of numbers at a time, over all first indices, so that no sum waits for the one
  // just before.
  constexpr std::size_t kSums = kNumbers < 8 ? 8 : kNumbers;
  const std::size_t n = rest * kNumbers;
  alignas(64) To parts[kMaxCodes][kSums];  // of firsts[a], by place in the block
  for (std::size_t a = 0; a < first; ++a) std::fill_n(parts[a], kSums, To{0});
  const auto add_block = [&](std::size_t j, std::size_t size) {
    To sums[kSums] = {};
    for (std::size_t a = 0; a < first; ++a) {
      const Number* const from = joint + a * n + j;
      for (std::size_t k = 0; k < kSums; ++k) {
        const To x = k < size ? static_cast<To>(from[k]) : To{0};
        sums[k] += x;
        parts[a][k] += x;
      }
    }
    for (std::size_t k = 0; k < size; ++k) others[j + k] = sums[k];
  };
  std::size_t j = 0;
  for (; j + kSums <= n; j += kSums) add_block(j, kSums);
  if (j < n) add_block(j, n - j);
  for (std::size_t a = 0; a < first; ++a) {
    for (std::size_t k = 0; k < kNumbers; ++k) firsts[a * kNumbers + k] = To{0};
    for (std::size_t k = 0; k < kSums; ++k) firsts[a * kNumbers + k % kNumbers] += parts[a][k];
  }
}

// add_terms for joint cells, those of the g-th bundle from sums[g x Stride] on.  With a second copy
// of the sums, rows take turns with them: if most rows are in one cell, an addition then waits only
// for the last but one.
template <std::size_t Together, std::size_t Copies, std::size_t Stride, class Terms>
void add_joint_terms(const Bundle* bundles, const Bins& bins, const Codes& codes,
                     const Terms& terms, std::size_t begin, std::size_t end,
                     typename Terms::Sum* sums) {
  constexpr std::size_t kBlock = 256;
  constexpr std::size_t kAhead = 4 * kBlock;
  constexpr unsigned kUnrolled = 4;
  alignas(64) std::uint16_t cells[Together][kBlock] = {};
  for (; begin + kBlock <= end; begin += kBlock) {
    for (std::size_t g = 0; g < Together; ++g) {
      prefetch_codes(bundles[g], codes, begin + kAhead, kBlock);
      find_joint_cells(bundles[g], bins, codes, begin, kBlock, cells[g]);
    }
    for (std::size_t i = 0; i < kBlock; i += kUnrolled) {
      std::uint64_t words[Together];
      for (std::size_t g = 0; g < Together; ++g)
        std::memcpy(&words[g], &cells[g][i], sizeof words[g]);
      for (unsigned j = 0; j < kUnrolled; ++j) {
        typename Terms::Term term = terms[begin + i + j];
        const std::size_t copy = j % Copies * Together;
        for (std::size_t g = 0; g < Together; ++g) {
          sums[(copy + g) * Stride + unpack<std::uint16_t>(words[g], j)] += term;
        }
      }
    }
  }
  for (std::size_t g = 0; g < Together; ++g) {
    find_joint_cells(bundles[g], bins, codes, begin, end - begin, cells[g]);
    for (std::size_t i = begin; i < end; ++i) sums[g * Stride + cells[g][i - begin]] += terms[i];
  }
}

// flush for joint cells and the features of their bundle.
template <class Sum>
void flush_joint(Sum* sums, const Bundle& bundle, const Bins& bins, const Reading<Sum::kLanes>& how,
                 Histogram& histogram, Aligned<unsigned char>& scratch) {
  using Total = std::int64_t;
  using Alone = TotalSums<Sum::kLanes, Sum::kHasCurvature>;
  using Number = typename Sum::Number;
  constexpr std::size_t kNumbers = sizeof(Sum) / sizeof(Number);
  // The sums of feature k alone, the joint sums of it and later features, and those of the later
  // features only.
  const std::size_t half = bundle.cells * kNumbers / 2;
  const std::size_t bytes = (kMaxCodes * kNumbers + 2 * half) * sizeof(Total);
  if (scratch.size() < bytes) scratch.resize(bytes);
  Total* const alone = reinterpret_cast<Total*>(scratch.data());
  Total* rest = alone + kMaxCodes * kNumbers;
  Total* next = rest + half;
  std::size_t left = bundle.cells;
  for (std::size_t k = 0; k < bundle.features.size(); ++k) {
    const std::size_t f = bundle.features[k];
    const auto width = static_cast<std::size_t>(bins[f].width());
    left /= width;
    if (k == 0) {
      marginalize<kNumbers>(reinterpret_cast<const Number*>(sums), width, left, alone, next);
    } else if (left > 1) {
      marginalize<kNumbers>(rest, width, left, alone, next);
    }
    flush_sums(reinterpret_cast<Alone*>(left > 1 ? alone : rest), width, how, histogram, f);
    std::swap(rest, next);
  }
  std::fill_n(sums, bundle.cells, Sum());
}

// visitor(size), of a set, as a constant
template <class Visitor>
void visit_size(std::size_t size, const Visitor& visitor) {
  switch (size) {
    case 8: return visitor(std::integral_constant<std::size_t, 8>{});
    case 4: return visitor(std::integral_constant<std::size_t, 4>{});
    case 2: return visitor(std::integral_constant<std::size_t, 2>{});
    default: return visitor(std::integral_constant<std::size_t, 1>{});
  }
}

// Adds terms[i] to the sums of a set, i in [begin, end).
template <class Terms>
void add_set(const BundleSet& set, const Codes& codes, const Bins& bins, const Terms& terms,
             std::size_t begin, std::size_t end, typename Terms::Sum* sums) {
  visit_size(set.bundles.size(), [&](auto size) {
    constexpr std::size_t kSize = size;
    if constexpr (kSize <= 4) {
      if (set.joint()) {
        const Bundle* const bundles = set.bundles.data();
        const auto add = [&](auto copies) {
          constexpr std::size_t kCopies = copies;
          vectorized([&, terms, begin, end, sums] {
            add_joint_terms<kSize, kCopies, Terms::kJointCells>(bundles, bins, codes, terms, begin,
                                                                end, sums);
          });
        };
        if (kSize <= 2 && set.copies == 2) {
          return add(std::integral_constant<std::size_t, kSize <= 2 ? 2 : 1>{});
        }
        return add(std::integral_constant<std::size_t, 1>{});
      }
    }
    const std::uint8_t* code[kSize];
    for (std::size_t k = 0; k < kSize; ++k) {
      code[k] = codes.feature(set.bundles[k].features.front());
    }
    if (set.stride == BundleSet::kNarrow) {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, BundleSet::kNarrow>(code, terms, begin, end, sums);
      });
    } else {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, kMaxCodes>(code, terms, begin, end, sums);
      });
    }
  });
}

// Adds a set's sums to the cells of its features, and clears them.
template <class Sum>
void flush_set(const BundleSet& set, const Bins& bins, const Reading<Sum::kLanes>& how, Sum* sums,
               Aligned<unsigned char>& scratch, Histogram& histogram) {
  const std::size_t size = set.bundles.size();
  for (std::size_t k = 0; k < size; ++k) {
    const Bundle& bundle = set.bundles[k];
    Sum* const to = sums + k * set.stride;
    if (set.copies == 2) {
      vectorized([to, n = bundle.cells, from = to + size * set.stride] {
        for (std::size_t b = 0; b < n; ++b) {
          to[b] += from[b];
          from[b] = Sum();
        }
      });
    }
    if (bundle.joint()) {
      vectorized([&, to] { flush_joint(to, bundle, bins, how, histogram, scratch); });
    } else {
      const std::size_t f = bundle.features.front();
      vectorized([&, f, width = bundle.cells, to] { flush_sums(to, width, how, histogram, f); });
    }
  }
}

// The same of the cells that are due after a chunk; returns the flush that is due next.
template <class Sum>
const FlushSchedule::Due* flush_due(const FlushSchedule::Due* due, std::size_t chunk,
                                    const BundleSet& set, const Bins& bins,
                                    const Reading<Sum::kLanes>& how, Sum* sums,
                                    Histogram& histogram) {
  for (; due->chunk == chunk; ++due) {
    const Bundle& bundle = set.bundles[due->place / set.stride];
    for (std::size_t copy = 0; copy < set.copies; ++copy) {
      Sum& sum = sums[copy * set.bundles.size() * set.stride + due->place];
      visit_codes(bundle, bins, due->place % set.stride, [&](std::size_t f, std::size_t code) {
        Sum copied = sum;
        vectorized([&, code] { flush_sums(&copied, 1, how, histogram, f, code); });
      });
      sum = Sum();
    }
  }
  return due;
}

}  // namespace properboost
