// Histograms: summing weights into cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "properboost/cells.hpp"
#include "properboost/codes.hpp"
#include "properboost/instruction_set.hpp"
#include "properboost/lanes.hpp"
#include "properboost/parallel.hpp"

namespace properboost {

namespace detail {

// The j-th of eight codes read as one word.
inline std::uint8_t unpack(std::uint64_t word, unsigned j) noexcept {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return static_cast<std::uint8_t>(word >> (56 - 8 * j));
#else
  return static_cast<std::uint8_t>(word >> (8 * j));
#endif
}

// The same for one lane, in double; weight and curvature are one vector add.
template <bool kCurvature>
struct alignas(kCurvature ? 16 : 8) LaneSum {
  double sums[kCurvature ? 2 : 1];

  void operator+=(const LaneSum& other) noexcept {
    for (std::size_t k = 0; k < std::size(sums); ++k) sums[k] += other.sums[k];
  }
  double weight(std::size_t) const noexcept { return sums[0]; }
  double curvature(std::size_t) const noexcept { return sums[1]; }
};

// What a row adds to its cell.  `kGroup` features are summed together, so that a row's term is
// loaded once for all of them; `kRows` rows of terms stay in the cache while the features of a task
// take turns with them.

// One lane: float32 from the loss, times the sample weight if rows have one.  The product is taken
// in double, so that a weight of 3 adds what three rows add; and one scalar add costs the same in
// double as in float, so the sums are exact to about 1e-8.
template <bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = LaneSum<kCurvature>;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = kCurvature;
  static constexpr std::size_t kGroup = 4;
  static constexpr std::size_t kRows = SIZE_MAX;
  static constexpr std::size_t kFeaturesPerTask = kGroup;

  const float* weight;
  const float* curvature;
  const double* sample_weight;

  // The same terms of other rows.
  RowTerms of(const float* w, const float* c, const double* s) const noexcept { return {w, c, s}; }

  Sum operator[](std::size_t i) const noexcept {
    const double s = kWeighted ? sample_weight[i] : 1.0;
    if constexpr (kCurvature) {
      return {{s * static_cast<double>(weight[i]), s * static_cast<double>(curvature[i])}};
    } else {
      return {{s * static_cast<double>(weight[i])}};
    }
  }
};

// Many lanes: weights that are already multiplied, summed in float32 over a stretch of rows.
template <std::size_t W, bool kCurvature>
struct LaneTerms {
  using Sum = LaneSums<W, kCurvature>;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;
  static constexpr std::size_t kGroup = 2;
  static constexpr std::size_t kRows = 65'536 / W;     // 256 KiB: in the second cache
  static constexpr std::size_t kFeaturesPerTask = 26;  // so are their sums

  const float* weight;
  const float* curvature;

  LaneTerms of(const float* w, const float* c, const double*) const noexcept { return {w, c}; }

  Sum operator[](std::size_t i) const noexcept {
    Sum term;
    term.weights = reinterpret_cast<const Floats<W>*>(weight)[i];
    if constexpr (kCurvature) term.curvatures = reinterpret_cast<const Floats<W>*>(curvature)[i];
    return term;
  }
};

// sums[g][codes[g][i]] += terms[i] over the group, i in [begin, end).
template <std::size_t Group, class Terms>
void add_terms(const std::uint8_t* const* codes, const Terms& terms, std::size_t begin,
               std::size_t end, typename Terms::Sum (*sums)[kMaxCodes]) {
  constexpr unsigned kUnrolled = 8;
  std::size_t i = begin;
  for (; i + kUnrolled <= end; i += kUnrolled) {
    std::uint64_t words[Group];
    for (std::size_t g = 0; g < Group; ++g) std::memcpy(&words[g], codes[g] + i, sizeof words[g]);
    for (unsigned j = 0; j < kUnrolled; ++j) {
      const auto term = terms[i + j];
      for (std::size_t g = 0; g < Group; ++g) sums[g][unpack(words[g], j)] += term;
    }
  }
  for (; i < end; ++i) {
    const auto term = terms[i];
    for (std::size_t g = 0; g < Group; ++g) sums[g][codes[g][i]] += term;
  }
}

// Adds the sums over rows of one segment's roles to the cells of feature f, and clears them.
template <class Terms>
void flush(typename Terms::Sum* sums, std::size_t codes, const SegmentRoles& roles,
           CellTable& cells, std::size_t f) {
  constexpr std::size_t W = Terms::kLanes;
  double* __restrict positive = cells.positive(f);
  double* __restrict negative = cells.negative(f);
  double* __restrict curvature = cells.curvature(f);
  for (std::size_t b = 0; b < codes; ++b) {
    for (std::size_t k = 0; k < W; ++k) {
      const double weight = sums[b].weight(k);
      positive[b * W + k] += roles.positive[k] * weight;
      negative[b * W + k] += roles.negative[k] * weight;
      if constexpr (Terms::kHasCurvature) {
        curvature[b * W + k] += roles.train(k) * sums[b].curvature(k);
      }
    }
    sums[b] = {};
  }
}

}  // namespace detail

// Rows of training weight, segment after segment, in stretches over which float32 sums stay exact
// enough (to 2e-6 in one heavy cell; over all of 50 million rows they would be 14% off).
struct Stretch {
  static constexpr std::size_t kRows = 65'536;
  const SegmentRoles* roles;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // of rows
};

// Neighbouring segments that are the same to all lanes share a stretch.
inline std::vector<Stretch> find_stretches(const std::vector<std::size_t>& segments,
                                           const std::vector<SegmentRoles>& roles) {
  std::vector<Stretch> stretches;
  std::size_t rows = Stretch::kRows;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    if (!roles[s].trains) continue;
    if (!stretches.empty() && !stretches.back().roles->same_training(roles[s])) {
      rows = Stretch::kRows;
    }
    for (std::size_t begin = segments[s]; begin < segments[s + 1];) {
      if (rows == Stretch::kRows) {
        stretches.push_back({&roles[s], {}});
        rows = 0;
      }
      const std::size_t end = std::min(begin + Stretch::kRows - rows, segments[s + 1]);
      stretches.back().ranges.emplace_back(begin, end);
      rows += end - begin;
      begin = end;
    }
  }
  return stretches;
}

// A task's memory for sums, kept from round to round.
class Workspace {
 public:
  // n of them, all zero.
  template <class Sum>
  Sum* get(std::size_t n) {
    // Much memory is taken as one large page: scattered small ones get into each other's way in the
    // second cache.
    constexpr std::size_t kMuch = 1u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t bytes = n * sizeof(Sum);
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    if (memory_.size() < wanted) memory_.resize(wanted);
    Sum* const sums = reinterpret_cast<Sum*>(memory_.data());
    std::fill_n(sums, n, Sum{});
    return sums;
  }

 private:
  Aligned<unsigned char> memory_;
};

// Calls visitor(terms) with the kind of terms the rows have; `sample_weight` (or null) multiplies
// them where there is one lane, and has been multiplied in where there are more.
template <class Visitor>
void visit_terms(std::size_t lanes, const float* weight, const float* curvature,
                 const double* sample_weight, const Visitor& visitor) {
  visit_width(lanes, [&](auto width) {
    constexpr std::size_t W = width;
    if constexpr (W > 1) {
      if (curvature == nullptr) return visitor(detail::LaneTerms<W, false>{weight, nullptr});
      return visitor(detail::LaneTerms<W, true>{weight, curvature});
    } else if (curvature == nullptr) {
      if (sample_weight == nullptr) {
        return visitor(detail::RowTerms<false, false>{weight, nullptr, nullptr});
      }
      return visitor(detail::RowTerms<false, true>{weight, nullptr, sample_weight});
    } else {
      if (sample_weight == nullptr) {
        return visitor(detail::RowTerms<true, false>{weight, curvature, nullptr});
      }
      return visitor(detail::RowTerms<true, true>{weight, curvature, sample_weight});
    }
  });
}

namespace detail {

// The cells of features first to last - 1.
template <class Terms>
void fill_features(const Codes& codes, const Bins& bins, const std::vector<Stretch>& stretches,
                   const Terms& terms, std::size_t first, std::size_t last, Workspace& workspace,
                   CellTable& cells) {
  using Sum = typename Terms::Sum;
  const auto sums =
      reinterpret_cast<Sum(*)[kMaxCodes]>(workspace.get<Sum>((last - first) * kMaxCodes));
  for (std::size_t f = first; f < last; ++f) cells.clear(f);
  for (const Stretch& stretch : stretches) {
    for (const auto& [begin_range, end_range] : stretch.ranges) {
      for (std::size_t begin = begin_range; begin < end_range;) {
        const std::size_t end = begin + std::min(Terms::kRows, end_range - begin);
        std::size_t f = first;
        for (; f + Terms::kGroup <= last; f += Terms::kGroup) {
          const std::uint8_t* code[Terms::kGroup];
          for (std::size_t g = 0; g < Terms::kGroup; ++g) code[g] = codes.feature(f + g);
          vectorized([&, begin, f, terms = terms] {
            add_terms<Terms::kGroup>(code, terms, begin, end, sums + (f - first));
          });
        }
        for (; f < last; ++f) {
          const std::uint8_t* const code = codes.feature(f);
          vectorized([&, begin, f, terms = terms] {
            add_terms<1>(&code, terms, begin, end, sums + (f - first));
          });
        }
        begin = end;
      }
    }
    for (std::size_t f = first; f < last; ++f) {
      const auto width = static_cast<std::size_t>(bins[f].width());
      vectorized([&, f, width] { flush<Terms>(sums[f - first], width, *stretch.roles, cells, f); });
    }
  }
}

}  // namespace detail

// Cells of every feature from the weights and curvatures (unless null) of the training rows.  A
// task owns its features and walks the rows in order, so that no sum depends on the number of
// threads.
inline void fill_cells(const Codes& codes, const Bins& bins, const std::vector<Stretch>& stretches,
                       std::size_t lanes, const float* weight, const float* curvature,
                       const double* sample_weight, std::vector<Workspace>& workspaces,
                       CellTable& cells, Team& team) {
  const double nanoseconds =
      (0.3 + 0.06 * static_cast<double>(lanes)) * static_cast<double>(bins.size() * codes.rows);
  visit_terms(lanes, weight, curvature, sample_weight, [&](const auto& terms) {
    using Terms = std::decay_t<decltype(terms)>;
    // Even shares, in whole groups; what groups leave over are tasks of their own.
    constexpr std::size_t kGroup = Terms::kGroup;
    const std::size_t groups = bins.size() / kGroup;
    const std::size_t least = (bins.size() + Terms::kFeaturesPerTask - 1) / Terms::kFeaturesPerTask;
    const std::size_t tasks = std::min(groups, std::max(least, team.size()));
    const std::size_t left_over = bins.size() % kGroup;
    if (workspaces.size() < tasks + left_over) workspaces.resize(tasks + left_over);
    team.for_each(tasks + left_over, nanoseconds, [&](std::size_t t) {
      const bool whole = t < tasks;
      const std::size_t first =
          whole ? kGroup * (groups * t / tasks) : kGroup * groups + (t - tasks);
      const std::size_t last = whole ? kGroup * (groups * (t + 1) / tasks) : first + 1;
      detail::fill_features(codes, bins, stretches, terms, first, last, workspaces[t], cells);
    });
  });
}

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

}  // namespace properboost
