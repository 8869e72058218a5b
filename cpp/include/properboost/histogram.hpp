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

// What a row adds to its cell.  `kRows` rows of terms stay in the cache while the features of a
// task take turns with them.

// One lane: float32 from the loss, times the sample weight if rows have one.  The product is taken
// in double, so that a weight of 3 adds what three rows add; and one scalar add costs the same in
// double as in float, so the sums are exact to about 1e-8.
template <bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = LaneSum<kCurvature>;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = kCurvature;
  static constexpr std::size_t kRows = SIZE_MAX;
  static constexpr std::size_t kFeaturesPerTask = 4;

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

// sums[g x stride + codes[g][i]] += terms[i] over the group, i in [begin, end).
template <std::size_t Group, std::size_t Stride, class Terms>
void add_terms(const std::uint8_t* const* codes, const Terms& terms, std::size_t begin,
               std::size_t end, typename Terms::Sum* sums) {
  constexpr unsigned kUnrolled = 8;
  std::size_t i = begin;
  for (; i + kUnrolled <= end; i += kUnrolled) {
    std::uint64_t words[Group];
    for (std::size_t g = 0; g < Group; ++g) std::memcpy(&words[g], codes[g] + i, sizeof words[g]);
    for (unsigned j = 0; j < kUnrolled; ++j) {
      const auto term = terms[i + j];
      for (std::size_t g = 0; g < Group; ++g) sums[g * Stride + unpack(words[g], j)] += term;
    }
  }
  for (; i < end; ++i) {
    const auto term = terms[i];
    for (std::size_t g = 0; g < Group; ++g) sums[g * Stride + codes[g][i]] += term;
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

// Features that are summed together: so many that their adds need not wait for each other, which
// takes more where few codes make the same cell come up again and again.
struct FeatureGroup {
  static constexpr std::size_t kNarrow = 64;  // codes

  std::vector<std::size_t> features;  // 1, 2, 4 or 8
  std::size_t stride;                 // of their sums: kNarrow or kMaxCodes
};

// `most` wide features make a group, or eight narrow ones; the rest smaller ones.
inline std::vector<FeatureGroup> group_features(const Bins& bins, std::size_t most) {
  std::vector<FeatureGroup> groups;
  for (const bool narrow : {false, true}) {
    std::vector<std::size_t> same;
    for (std::size_t f = 0; f < bins.size(); ++f) {
      const auto width = static_cast<std::size_t>(bins[f].width());
      if ((width <= FeatureGroup::kNarrow) == narrow) same.push_back(f);
    }
    std::size_t size = narrow ? 8 : most;
    for (auto f = same.begin(); f != same.end();) {
      while (static_cast<std::size_t>(same.end() - f) < size) size /= 2;
      const auto end = f + static_cast<std::ptrdiff_t>(size);
      groups.push_back({{f, end}, narrow ? FeatureGroup::kNarrow : kMaxCodes});
      f = end;
    }
  }
  return groups;
}

// What the greedy histogram phase keeps from round to round: the groups, and a task's memory.
class Workspace {
 public:
  Workspace(const Bins& bins, std::size_t lanes)
      : groups_(group_features(bins, lanes == 1 ? 4 : 2)) {}

  const std::vector<FeatureGroup>& groups() const noexcept { return groups_; }
  void set_tasks(std::size_t n) {
    if (memory_.size() < n) memory_.resize(n);
  }

  // n sums for a task, all zero.
  template <class Sum>
  Sum* get(std::size_t task, std::size_t n) {
    // Much memory is taken as one large page: scattered small ones get into each other's way in the
    // second cache.
    constexpr std::size_t kMuch = 1u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t bytes = n * sizeof(Sum);
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    if (memory_[task].size() < wanted) memory_[task].resize(wanted);
    Sum* const sums = reinterpret_cast<Sum*>(memory_[task].data());
    std::fill_n(sums, n, Sum{});
    return sums;
  }

 private:
  std::vector<FeatureGroup> groups_;
  std::vector<Aligned<unsigned char>> memory_;
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

// visitor(size, stride), of a group, as constants
template <class Visitor>
void visit_group(const FeatureGroup& group, const Visitor& visitor) {
  using Narrow = std::integral_constant<std::size_t, FeatureGroup::kNarrow>;
  using Wide = std::integral_constant<std::size_t, kMaxCodes>;
  const bool narrow = group.stride == FeatureGroup::kNarrow;
  const auto visit = [&](auto size) { narrow ? visitor(size, Narrow{}) : visitor(size, Wide{}); };
  switch (group.features.size()) {
    case 8: return visitor(std::integral_constant<std::size_t, 8>{}, Narrow{});
    case 4: return visit(std::integral_constant<std::size_t, 4>{});
    case 2: return visit(std::integral_constant<std::size_t, 2>{});
    default: return visit(std::integral_constant<std::size_t, 1>{});
  }
}

// The cells of the features of every `tasks`-th group, from the task's on.
template <class Terms>
void fill_groups(const Codes& codes, const Bins& bins, const std::vector<Stretch>& stretches,
                 const Terms& terms, std::size_t task, std::size_t tasks, Workspace& workspace,
                 CellTable& cells) {
  using Sum = typename Terms::Sum;
  const std::vector<FeatureGroup>& groups = workspace.groups();
  std::size_t n = 0;
  for (std::size_t g = task; g < groups.size(); g += tasks) {
    n += groups[g].features.size() * groups[g].stride;
    for (const std::size_t f : groups[g].features) cells.clear(f);
  }
  Sum* const memory = workspace.get<Sum>(task, n);
  for (const Stretch& stretch : stretches) {
    for (const auto& [begin_range, end_range] : stretch.ranges) {
      for (std::size_t begin = begin_range; begin < end_range;) {
        const std::size_t end = begin + std::min(Terms::kRows, end_range - begin);
        Sum* sums = memory;
        for (std::size_t g = task; g < groups.size(); g += tasks) {
          visit_group(groups[g], [&](auto size, auto stride) {
            constexpr std::size_t kSize = size;
            constexpr std::size_t kStride = stride;
            const std::uint8_t* code[kSize];
            for (std::size_t k = 0; k < kSize; ++k) code[k] = codes.feature(groups[g].features[k]);
            vectorized([&code, &end, terms = terms, begin, sums] {
              add_terms<kSize, kStride>(code, terms, begin, end, sums);
            });
          });
          sums += groups[g].features.size() * groups[g].stride;
        }
        begin = end;
      }
    }
    Sum* sums = memory;
    for (std::size_t g = task; g < groups.size(); g += tasks) {
      for (const std::size_t f : groups[g].features) {
        const auto width = static_cast<std::size_t>(bins[f].width());
        vectorized([&, f, width, sums] { flush<Terms>(sums, width, *stretch.roles, cells, f); });
        sums += groups[g].stride;
      }
    }
  }
}

}  // namespace detail

// Cells of every feature from the weights and curvatures (unless null) of the training rows.  A
// task owns its features and walks the rows in order, so that no sum depends on the number of
// threads.
inline void fill_cells(const Codes& codes, const Bins& bins, const std::vector<Stretch>& stretches,
                       std::size_t lanes, const float* weight, const float* curvature,
                       const double* sample_weight, Workspace& workspace, CellTable& cells,
                       Team& team) {
  const double nanoseconds =
      (0.3 + 0.06 * static_cast<double>(lanes)) * static_cast<double>(bins.size() * codes.rows);
  visit_terms(lanes, weight, curvature, sample_weight, [&](const auto& terms) {
    using Terms = std::decay_t<decltype(terms)>;
    // As many features a task as their sums allow: it reads every row's terms.
    const std::size_t least = (bins.size() + Terms::kFeaturesPerTask - 1) / Terms::kFeaturesPerTask;
    const std::size_t tasks = std::min(workspace.groups().size(), std::max(least, team.size()));
    workspace.set_tasks(tasks);
    team.for_each(tasks, nanoseconds, [&](std::size_t t) {
      detail::fill_groups(codes, bins, stretches, terms, t, tasks, workspace, cells);
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
