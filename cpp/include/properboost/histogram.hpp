// Histograms: summing weights into cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/cells.hpp"
#include "properboost/codes.hpp"
#include "properboost/parallel.hpp"

namespace properboost {

// Features summed together: a row's weight is loaded and widened once for all of them, and their
// adds do not wait for each other.
constexpr std::size_t kFeatureGroup = 4;

namespace detail {

using GroupCodes = std::array<const std::uint8_t*, kFeatureGroup>;
using Sums = std::array<double, kMaxCodes>;

// The j-th of eight codes read as one word.
inline std::uint8_t unpack(std::uint64_t word, unsigned j) noexcept {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return static_cast<std::uint8_t>(word >> (56 - 8 * j));
#else
  return static_cast<std::uint8_t>(word >> (8 * j));
#endif
}

// What a row adds to its cells: float32 from the loss, times its sample weight if it has one.  The
// product is taken in double, so that a weight of 3 adds what three rows add.
struct RowWeights {
  const float* weight;
  const double* sample_weight;  // or null

  template <bool kWeighted>
  double at(std::size_t i) const noexcept {
    const double w = static_cast<double>(weight[i]);
    return kWeighted ? w * sample_weight[i] : w;
  }
  RowWeights from(std::size_t begin) const noexcept {
    return {weight + begin, sample_weight == nullptr ? nullptr : sample_weight + begin};
  }
};

// sums[k][codes[k][i]] += weight i over the group.  One scalar add costs the same in double as in
// float, so a single model needs no float32 partial sums.
template <std::size_t Group, bool kWeighted>
void add_weights(const GroupCodes& codes, const RowWeights& weights, std::size_t n, Sums* sums) {
  constexpr unsigned kRows = 8;
  std::size_t i = 0;
  for (; i + kRows <= n; i += kRows) {
    std::uint64_t words[Group];
    for (std::size_t k = 0; k < Group; ++k) std::memcpy(&words[k], codes[k] + i, sizeof words[k]);
    for (unsigned j = 0; j < kRows; ++j) {
      const double w = weights.at<kWeighted>(i + j);
      for (std::size_t k = 0; k < Group; ++k) sums[k][unpack(words[k], j)] += w;
    }
  }
  for (; i < n; ++i) {
    const double w = weights.at<kWeighted>(i);
    for (std::size_t k = 0; k < Group; ++k) sums[k][codes[k][i]] += w;
  }
}

template <bool kWeighted>
void add_weights(std::size_t group, const GroupCodes& codes, const RowWeights& weights,
                 std::size_t n, Sums* sums) {
  if (group == kFeatureGroup) return add_weights<kFeatureGroup, kWeighted>(codes, weights, n, sums);
  add_weights<1, kWeighted>(codes, weights, n, sums);
}

}  // namespace detail

// The weight each code of each feature holds (features side by side); null counts rows.
inline std::vector<double> weigh_codes(const std::uint8_t* codes, std::size_t rows,
                                       const Bins& bins, const double* weight, Team& team) {
  std::vector<double> held(bins.total_width());
  team.for_each(bins.size(), 0.5 * static_cast<double>(bins.size() * rows), [&](std::size_t f) {
    const std::uint8_t* code = codes + f * rows;
    detail::Sums sums{};
    for (std::size_t i = 0; i < rows; ++i) sums[code[i]] += weight == nullptr ? 1.0 : weight[i];
    std::copy_n(sums.begin(), bins[f].width(),
                held.begin() + static_cast<std::ptrdiff_t>(bins.offset(f)));
  });
  return held;
}

// Cells of every feature from the rows' weights and curvatures (unless null), each times the row's
// sample weight (unless null).  `positive[k]` says
// on which side segment k is.  A task owns its features and walks the segments in order, so that no
// sum depends on the number of threads.
inline void fill_cells(const Codes& codes, const Bins& bins, const std::vector<bool>& positive,
                       const float* weight, const float* curvature, const double* sample_weight,
                       CellTable& cells, Team& team) {
  // The features left over by whole groups are tasks of their own: small ones last share evenly.
  const std::size_t whole = bins.size() / kFeatureGroup;
  const std::size_t tasks = whole + bins.size() % kFeatureGroup;
  const double adds = static_cast<double>(bins.size() * codes.rows) * (curvature ? 2.0 : 1.0);
  team.for_each(tasks, 0.4 * adds, [&](std::size_t t) {
    const std::size_t first = t < whole ? t * kFeatureGroup : t + whole * (kFeatureGroup - 1);
    const std::size_t group = t < whole ? kFeatureGroup : 1;
    alignas(64) detail::Sums sums[kFeatureGroup];
    const auto sum_rows = [&](std::size_t begin, std::size_t end, const float* what,
                              double Cell::* into) {
      detail::GroupCodes code{};
      for (std::size_t k = 0; k < group; ++k) {
        std::fill_n(sums[k].begin(), bins[first + k].width(), 0.0);
        code[k] = codes.feature(first + k) + begin;
      }
      const detail::RowWeights weights = detail::RowWeights{what, sample_weight}.from(begin);
      if (sample_weight == nullptr) {
        detail::add_weights<false>(group, code, weights, end - begin, sums);
      } else {
        detail::add_weights<true>(group, code, weights, end - begin, sums);
      }
      for (std::size_t k = 0; k < group; ++k) {
        Cell* cell = cells[first + k];
        const int width = bins[first + k].width();
        for (int b = 0; b < width; ++b) cell[b].*into += sums[k][static_cast<std::size_t>(b)];
      }
    };
    for (std::size_t k = 0; k < group; ++k) {
      std::fill_n(cells[first + k], bins[first + k].width(), Cell{});
    }
    for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
      sum_rows(codes.segments[s], codes.segments[s + 1], weight,
               positive[s] ? &Cell::positive : &Cell::negative);
    }
    if (curvature != nullptr) sum_rows(0, codes.rows, curvature, &Cell::curvature);
  });
}

}  // namespace properboost
