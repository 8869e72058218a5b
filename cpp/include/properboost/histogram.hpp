// Histograms: summing weights into cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
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

// The j-th of eight codes read as one word.
inline std::uint8_t unpack(std::uint64_t word, unsigned j) noexcept {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return static_cast<std::uint8_t>(word >> (56 - 8 * j));
#else
  return static_cast<std::uint8_t>(word >> (8 * j));
#endif
}

// Weight and curvature side by side: one vector add.
struct alignas(16) Pair {
  double weight = 0.0;
  double curvature = 0.0;

  Pair& operator+=(const Pair& other) noexcept {
    weight += other.weight;
    curvature += other.curvature;
    return *this;
  }
};

// What rows add to their cells: float32 from the loss, times the sample weight if rows have one.
// The product is taken in double, so that a weight of 3 adds what three rows add.
template <bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = std::conditional_t<kCurvature, Pair, double>;

  const float* weight;
  const float* curvature;
  const double* sample_weight;

  Sum operator[](std::size_t i) const noexcept {
    const double s = kWeighted ? sample_weight[i] : 1.0;
    if constexpr (kCurvature) {
      return {s * static_cast<double>(weight[i]), s * static_cast<double>(curvature[i])};
    } else {
      return s * static_cast<double>(weight[i]);
    }
  }
};

// sums[k][codes[k][i]] += terms[i] over the group, i in [begin, end).  One scalar add costs the
// same in double as in float, so a single model needs no float32 partial sums.
template <std::size_t Group, class Terms>
void add_terms(const GroupCodes& codes, const Terms& terms, std::size_t begin, std::size_t end,
               typename Terms::Sum (*sums)[kMaxCodes]) {
  constexpr unsigned kRows = 8;
  std::size_t i = begin;
  for (; i + kRows <= end; i += kRows) {
    std::uint64_t words[Group];
    for (std::size_t k = 0; k < Group; ++k) std::memcpy(&words[k], codes[k] + i, sizeof words[k]);
    for (unsigned j = 0; j < kRows; ++j) {
      const auto term = terms[i + j];
      for (std::size_t k = 0; k < Group; ++k) sums[k][unpack(words[k], j)] += term;
    }
  }
  for (; i < end; ++i) {
    const auto term = terms[i];
    for (std::size_t k = 0; k < Group; ++k) sums[k][codes[k][i]] += term;
  }
}

// The cells of features first to first + Group - 1.
template <std::size_t Group, class Terms>
void fill_group(const Codes& codes, const Bins& bins, const std::vector<bool>& positive,
                const Terms& terms, std::size_t first, CellTable& cells) {
  using Sum = typename Terms::Sum;
  alignas(64) Sum sums[Group][kMaxCodes];
  GroupCodes code{};
  for (std::size_t k = 0; k < Group; ++k) {
    code[k] = codes.feature(first + k);
    std::fill_n(cells[first + k], bins[first + k].width(), Cell{});
  }
  for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
    for (std::size_t k = 0; k < Group; ++k) {
      std::fill_n(sums[k], bins[first + k].width(), Sum{});
    }
    add_terms<Group>(code, terms, codes.segments[s], codes.segments[s + 1], sums);
    double Cell::* const side = positive[s] ? &Cell::positive : &Cell::negative;
    for (std::size_t k = 0; k < Group; ++k) {
      for (int b = 0; b < bins[first + k].width(); ++b) {
        Cell& cell = cells[first + k][b];
        if constexpr (std::is_same_v<Sum, Pair>) {
          cell.*side += sums[k][b].weight;
          cell.curvature += sums[k][b].curvature;
        } else {
          cell.*side += sums[k][b];
        }
      }
    }
  }
}

// Calls visitor(terms) with the kind of terms the rows have.
template <class Visitor>
void visit_terms(const float* weight, const float* curvature, const double* sample_weight,
                 const Visitor& visitor) {
  if (curvature == nullptr) {
    if (sample_weight == nullptr) {
      visitor(RowTerms<false, false>{weight, curvature, sample_weight});
    } else {
      visitor(RowTerms<false, true>{weight, curvature, sample_weight});
    }
  } else if (sample_weight == nullptr) {
    visitor(RowTerms<true, false>{weight, curvature, sample_weight});
  } else {
    visitor(RowTerms<true, true>{weight, curvature, sample_weight});
  }
}

}  // namespace detail

// The weight each code of each feature holds (features side by side); null counts rows.
inline std::vector<double> weigh_codes(const std::uint8_t* codes, std::size_t rows,
                                       const Bins& bins, const double* weight, Team& team) {
  std::vector<double> held(bins.total_width());
  team.for_each(bins.size(), 0.5 * static_cast<double>(bins.size() * rows), [&](std::size_t f) {
    const std::uint8_t* code = codes + f * rows;
    std::array<double, kMaxCodes> sums{};
    for (std::size_t i = 0; i < rows; ++i) sums[code[i]] += weight == nullptr ? 1.0 : weight[i];
    std::copy_n(sums.begin(), bins[f].width(),
                held.begin() + static_cast<std::ptrdiff_t>(bins.offset(f)));
  });
  return held;
}

// Cells of every feature from the rows' weights and curvatures (unless null), each times the row's
// sample weight (unless null).  `positive[s]` says on which side segment s is.  A task owns its
// features and walks the segments in order, so that no sum depends on the number of threads.
inline void fill_cells(const Codes& codes, const Bins& bins, const std::vector<bool>& positive,
                       const float* weight, const float* curvature, const double* sample_weight,
                       CellTable& cells, Team& team) {
  // The features left over by whole groups are tasks of their own: small ones last share evenly.
  const std::size_t whole = bins.size() / kFeatureGroup;
  const std::size_t tasks = whole + bins.size() % kFeatureGroup;
  const double nanoseconds = 0.4 * static_cast<double>(bins.size() * codes.rows);
  detail::visit_terms(weight, curvature, sample_weight, [&](const auto& terms) {
    team.for_each(tasks, nanoseconds, [&](std::size_t t) {
      if (t < whole) {
        detail::fill_group<kFeatureGroup>(codes, bins, positive, terms, t * kFeatureGroup, cells);
      } else {
        detail::fill_group<1>(codes, bins, positive, terms, t + whole * (kFeatureGroup - 1), cells);
      }
    });
  });
}

}  // namespace properboost
