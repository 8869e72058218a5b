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

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

namespace detail {

// The j-th of the codes read as one word.
template <class Code>
Code unpack(std::uint64_t word, unsigned j) noexcept {
  constexpr unsigned kBits = 8 * sizeof(Code);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return static_cast<Code>(word >> (64 - kBits - kBits * j));
#else
  return static_cast<Code>(word >> (kBits * j));
#endif
}

// What a row adds to its cell.  `kRows` rows of terms stay in the cache while the features of a
// task take turns with them.

// One lane: float32 from the loss, times the sample weight if rows have one.  The product is taken
// in double, so that a weight of 3 adds what three rows add; and one scalar add costs the same in
// double as in float, so the sums are exact to about 1e-8.
template <class Real, bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = RowSums<Real, kCurvature>;
  using InFloat = RowTerms<float, kCurvature, kWeighted>;
  static constexpr std::size_t kJointCells = BundleLimits::most_cells(1, kCurvature);
  static constexpr std::size_t kRows = SIZE_MAX;
  static constexpr std::size_t kFeaturesPerTask = 4;

  const float* weight = nullptr;
  const float* curvature = nullptr;
  const double* sample_weight = nullptr;

  // The same kind of terms of other rows.
  RowTerms of(const float* w, const float* c, const double* s) const noexcept { return {w, c, s}; }

  InFloat in_float() const noexcept { return {weight, curvature, sample_weight}; }

  Sum operator[](std::size_t i) const noexcept {
    if constexpr (kCurvature) {
      return Sum(times_weight(weight[i], i), times_weight(curvature[i], i));
    } else {
      return Sum(times_weight(weight[i], i));
    }
  }

 private:
  Real times_weight(float x, std::size_t i) const noexcept {
    if constexpr (kWeighted) return static_cast<Real>(sample_weight[i] * static_cast<double>(x));
    return static_cast<Real>(x);
  }
};

// Many lanes: weights that are already multiplied, summed in float32 over a stretch of rows.
template <std::size_t W, bool kCurvature>
struct LaneTerms {
  using Sum = LaneSums<W, kCurvature>;
  using InFloat = LaneTerms;
  static constexpr std::size_t kJointCells = BundleLimits::most_cells(W, kCurvature);
  static constexpr std::size_t kRows = 65'536 / W;     // 256 KiB: in the second cache
  static constexpr std::size_t kFeaturesPerTask = 26;  // so are their sums

  const float* weight = nullptr;
  const float* curvature = nullptr;

  LaneTerms of(const float* w, const float* c, const double*) const noexcept { return {w, c}; }
  InFloat in_float() const noexcept { return *this; }

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
      for (std::size_t g = 0; g < Group; ++g)
        sums[g * Stride + unpack<std::uint8_t>(words[g], j)] += term;
    }
  }
  for (; i < end; ++i) {
    const auto term = terms[i];
    for (std::size_t g = 0; g < Group; ++g) sums[g * Stride + codes[g][i]] += term;
  }
}

// The same for joint cells, those of the g-th bundle from sums[g x Stride] on.  With a second copy
// of the sums, rows take turns with them: where most rows are of one cell, an add then waits only
// for the last but one.
template <std::size_t Group, std::size_t Copies, std::size_t Stride, class Terms>
void add_joint_terms(const Bundle* bundles, const Bins& bins, const Codes& codes,
                     const Terms& terms, std::size_t begin, std::size_t end,
                     typename Terms::Sum* sums) {
  constexpr std::size_t kBlock = 256;
  constexpr std::size_t kAhead = 4 * kBlock;
  constexpr unsigned kUnrolled = 4;
  alignas(64) std::uint16_t cells[Group][kBlock];
  for (; begin + kBlock <= end; begin += kBlock) {
    for (std::size_t g = 0; g < Group; ++g) {
      prefetch_codes(bundles[g], codes, begin + kAhead, kBlock);
      find_joint_cells(bundles[g], bins, codes, begin, kBlock, cells[g]);
    }
    for (std::size_t i = 0; i < kBlock; i += kUnrolled) {
      std::uint64_t words[Group];
      for (std::size_t g = 0; g < Group; ++g) std::memcpy(&words[g], &cells[g][i], sizeof words[g]);
      for (unsigned j = 0; j < kUnrolled; ++j) {
        const auto term = terms[begin + i + j];
        const std::size_t copy = j % Copies * Group;
        for (std::size_t g = 0; g < Group; ++g) {
          sums[(copy + g) * Stride + unpack<std::uint16_t>(words[g], j)] += term;
        }
      }
    }
  }
  for (std::size_t g = 0; g < Group; ++g) {
    find_joint_cells(bundles[g], bins, codes, begin, end - begin, cells[g]);
    for (std::size_t i = begin; i < end; ++i) sums[g * Stride + cells[g][i - begin]] += terms[i];
  }
}

// Adds the sums over rows of one segment's roles to the cells of feature f, and clears them.
template <class Sum>
void flush(Sum* sums, std::size_t codes, const SegmentRoles& roles, CellTable& cells,
           std::size_t f) {
  constexpr std::size_t W = Sum::kLanes;
  double* __restrict positive = cells.positive(f);
  double* __restrict negative = cells.negative(f);
  double* __restrict curvature = cells.curvature(f);
  for (std::size_t b = 0; b < codes; ++b) {
    for (std::size_t k = 0; k < W; ++k) {
      const double weight = sums[b].weight(k);
      positive[b * W + k] += roles.positive[k] * weight;
      negative[b * W + k] += roles.negative[k] * weight;
      if constexpr (Sum::kHasCurvature) {
        curvature[b * W + k] += roles.train(k) * sums[b].curvature(k);
      }
    }
    sums[b] = {};
  }
}

// The same for joint cells and the features of their bundle.
template <class Sum>
void flush_joint(Sum* sums, const Bundle& bundle, const Bins& bins, const SegmentRoles& roles,
                 CellTable& cells, std::vector<double>& scratch) {
  using Number = typename Sum::Number;
  using Own = DoubleSums<Sum::kLanes, Sum::kHasCurvature>;
  constexpr std::size_t kNumbers = sizeof(Sum) / sizeof(Number);
  // A feature's own sums, what is left to the features after it, and what is left then.
  const std::size_t half = bundle.cells * kNumbers / 2;
  if (scratch.size() < kMaxCodes * kNumbers + 2 * half) {
    scratch.resize(kMaxCodes * kNumbers + 2 * half);
  }
  double* const own = scratch.data();
  double* rest = own + kMaxCodes * kNumbers;
  double* next = rest + half;
  std::size_t left = bundle.cells;
  for (std::size_t k = 0; k < bundle.features.size(); ++k) {
    const std::size_t f = bundle.features[k];
    const auto width = static_cast<std::size_t>(bins[f].width());
    left /= width;
    if (k == 0) {
      marginalize<kNumbers>(reinterpret_cast<const Number*>(sums), width, left, own, next);
    } else if (left > 1) {
      marginalize<kNumbers>(rest, width, left, own, next);
    }
    flush(reinterpret_cast<Own*>(left > 1 ? own : rest), width, roles, cells, f);
    std::swap(rest, next);
  }
  std::fill_n(sums, bundle.cells, Sum());
}

}  // namespace detail

// Bundles that are summed together: so many that their adds need not wait for each other, which
// takes more where most rows are of one cell.
struct BundleGroup {
  static constexpr std::size_t kNarrow = 64;  // codes

  std::vector<Bundle> bundles;  // 1, 2, 4 or 8, all joint or of one feature each
  std::size_t stride;  // of their sums: kNarrow, kMaxCodes, or what a joint bundle may take
  std::size_t copies;  // of their sums: 1 or, where joint cells are crowded, 2
  bool in_float;

  bool joint() const noexcept { return bundles.front().joint(); }
  std::size_t sums() const noexcept { return copies * bundles.size() * stride; }
};

// `most` bundles of one wide feature make a group, or eight of a narrow or crowded one; joint ones
// as many as fit the cache; the rest smaller groups.
inline std::vector<BundleGroup> group_bundles(const Bins& bins, std::size_t most,
                                              const BundleLimits& limits,
                                              const std::vector<double>& crowding) {
  // Beyond this share of one cell, adds wait for each other.
  constexpr double kCrowded = 0.125;
  const auto crowded = [](const Bundle& bundle) { return bundle.crowding > kCrowded; };
  std::vector<BundleGroup> groups;
  std::vector<Bundle> bundles = bundle_features(bins, limits, crowding);
  std::stable_sort(bundles.begin(), bundles.end(),
                   [](const Bundle& a, const Bundle& b) { return a.cells > b.cells; });
  // Takes the bundles that `fits`; as many as size_for(first one) make a group.
  const auto deal = [&](std::size_t stride, const auto& fits, const auto& size_for) {
    for (const bool in_float : {false, true}) {
      const auto rest = std::stable_partition(bundles.begin(), bundles.end(), [&](const Bundle& b) {
        return !fits(b) || limits.in_float(b) != in_float;
      });
      for (auto first = rest; first != bundles.end();) {
        std::size_t size = size_for(*first, in_float);
        while (static_cast<std::size_t>(bundles.end() - first) < size) size /= 2;
        const auto last = first + static_cast<std::ptrdiff_t>(size);
        const bool waits = first->joint() && size <= 2 && std::any_of(first, last, crowded);
        groups.push_back({{first, last}, stride, std::size_t{waits ? 2u : 1u}, in_float});
        first = last;
      }
      bundles.erase(rest, bundles.end());
    }
  };
  deal(
      BundleLimits::most_cells(limits.lanes, limits.has_curvature),
      [](const Bundle& b) { return b.joint(); },
      [&](const Bundle& b, bool in_float) {
        const std::size_t fit = BundleLimits::kBytes / (b.cells * limits.sum_bytes(in_float));
        return std::size_t{fit >= 4 ? 4u : fit >= 2 ? 2u : 1u};
      });
  const auto eight = [](const Bundle&, bool) { return std::size_t{8}; };
  deal(
      BundleGroup::kNarrow, [](const Bundle& b) { return b.cells <= BundleGroup::kNarrow; }, eight);
  if (limits.lanes == 1) deal(kMaxCodes, crowded, eight);
  deal(kMaxCodes, [](const Bundle&) { return true; }, [&](const Bundle&, bool) { return most; });
  return groups;
}

// What the greedy histogram phase keeps from round to round: the groups, the rows in two parts
// where they are many, the second part's cells, and a task's memory.
class Workspace {
 public:
  // crowding[f] is the largest share of the training rows that one code of feature f holds.
  Workspace(const Bins& bins, std::size_t lanes, bool has_curvature,
            const std::vector<Stretch>& stretches, const std::vector<double>& crowding)
      : groups_(group_bundles(bins, lanes == 1 ? 4 : 2,
                              BundleLimits(lanes, has_curvature, stretches), crowding)) {
    const std::size_t rows = count_rows(stretches);
    if (rows < kRowsForParts || stretches.size() < 2) {
      parts_.push_back(stretches);
      return;
    }
    parts_.resize(2);
    std::size_t before = 0;
    for (const Stretch& stretch : stretches) {
      parts_[2 * before < rows ? 0 : 1].push_back(stretch);
      before += stretch.rows();
    }
    others_.push_back(CellTable(bins, lanes, has_curvature));
  }

  const std::vector<BundleGroup>& groups() const noexcept { return groups_; }
  const std::vector<std::vector<Stretch>>& parts() const noexcept { return parts_; }
  // Of the parts after the first.
  std::vector<CellTable>& others() noexcept { return others_; }

  void set_tasks(std::size_t n) {
    if (memory_.size() < n) memory_.resize(n);
    if (scratch_.size() < n) scratch_.resize(n);
  }
  std::vector<double>& scratch(std::size_t task) noexcept { return scratch_[task]; }

  // Memory for a task: zero at first, and left so by whoever reads the sums off.
  unsigned char* get(std::size_t task, std::size_t bytes) {
    // Much memory is taken as one large page: scattered small ones get into each other's way in the
    // second cache.
    constexpr std::size_t kMuch = 3u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    if (memory_[task].size() < wanted) memory_[task].resize(wanted);
    return memory_[task].data();
  }

 private:
  static constexpr std::size_t kRowsForParts = 16'384;

  std::vector<BundleGroup> groups_;
  std::vector<std::vector<Stretch>> parts_;
  std::vector<CellTable> others_;
  std::vector<Aligned<unsigned char>> memory_;
  std::vector<std::vector<double>> scratch_;
};

// Calls visitor(Terms()) with the kind of terms that rows have.
template <class Visitor>
void visit_terms(std::size_t lanes, bool has_curvature, bool has_weight, const Visitor& visitor) {
  visit_width(lanes, [&](auto width) {
    constexpr std::size_t W = width;
    if constexpr (W > 1) {  // sample weights have been multiplied in
      if (has_curvature) return visitor(detail::LaneTerms<W, true>());
      return visitor(detail::LaneTerms<W, false>());
    } else if (has_weight) {
      if (has_curvature) return visitor(detail::RowTerms<double, true, true>());
      return visitor(detail::RowTerms<double, false, true>());
    } else {
      if (has_curvature) return visitor(detail::RowTerms<double, true, false>());
      return visitor(detail::RowTerms<double, false, false>());
    }
  });
}

namespace detail {

// visitor(size), of a group, as a constant
template <class Visitor>
void visit_size(std::size_t size, const Visitor& visitor) {
  switch (size) {
    case 8: return visitor(std::integral_constant<std::size_t, 8>{});
    case 4: return visitor(std::integral_constant<std::size_t, 4>{});
    case 2: return visitor(std::integral_constant<std::size_t, 2>{});
    default: return visitor(std::integral_constant<std::size_t, 1>{});
  }
}

// Adds terms[i] to the sums of a group, i in [begin, end).
template <class Terms>
void add_group(const BundleGroup& group, const Codes& codes, const Bins& bins, const Terms& terms,
               std::size_t begin, std::size_t end, typename Terms::Sum* sums) {
  visit_size(group.bundles.size(), [&](auto size) {
    constexpr std::size_t kSize = size;
    if constexpr (kSize <= 4) {
      if (group.joint()) {
        const Bundle* const bundles = group.bundles.data();
        const auto add = [&](auto copies) {
          constexpr std::size_t kCopies = copies;
          vectorized([&, terms, begin, end, sums] {
            add_joint_terms<kSize, kCopies, Terms::kJointCells>(bundles, bins, codes, terms, begin,
                                                                end, sums);
          });
        };
        if (kSize <= 2 && group.copies == 2) {
          return add(std::integral_constant<std::size_t, kSize <= 2 ? 2 : 1>{});
        }
        return add(std::integral_constant<std::size_t, 1>{});
      }
    }
    const std::uint8_t* code[kSize];
    for (std::size_t k = 0; k < kSize; ++k) {
      code[k] = codes.feature(group.bundles[k].features.front());
    }
    if (group.stride == BundleGroup::kNarrow) {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, BundleGroup::kNarrow>(code, terms, begin, end, sums);
      });
    } else {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, kMaxCodes>(code, terms, begin, end, sums);
      });
    }
  });
}

// Adds a group's sums to the cells of its features, and clears them.
template <class Sum>
void flush_group(const BundleGroup& group, const Bins& bins, const SegmentRoles& roles, Sum* sums,
                 std::vector<double>& scratch, CellTable& cells) {
  const std::size_t size = group.bundles.size();
  for (std::size_t k = 0; k < size; ++k) {
    const Bundle& bundle = group.bundles[k];
    Sum* const to = sums + k * group.stride;
    if (group.copies == 2) {
      vectorized([to, n = bundle.cells, from = to + size * group.stride] {
        for (std::size_t b = 0; b < n; ++b) {
          to[b] += from[b];
          from[b] = Sum();
        }
      });
    }
    if (bundle.joint()) {
      vectorized([&, to] { flush_joint(to, bundle, bins, roles, cells, scratch); });
    } else {
      const std::size_t f = bundle.features.front();
      vectorized([&, f, width = bundle.cells, to] { flush(to, width, roles, cells, f); });
    }
  }
}

// Calls visitor(terms, sums) for a group, with terms and its memory of the type they are summed in.
template <class Terms, class Visitor>
void visit_sums(const BundleGroup& group, const Terms& terms, unsigned char* memory,
                const Visitor& visitor) {
  if (group.in_float) {
    visitor(terms.in_float(), reinterpret_cast<typename Terms::InFloat::Sum*>(memory));
  } else {
    visitor(terms, reinterpret_cast<typename Terms::Sum*>(memory));
  }
}

// The cells of the features of every `tasks`-th group, from the task's on, in one part of the rows.
template <class Terms>
void fill_groups(const Codes& codes, const Bins& bins, const Terms& terms, std::size_t task,
                 std::size_t tasks, std::size_t part, Workspace& workspace, CellTable& cells) {
  const std::size_t place_of_task = task * workspace.parts().size() + part;
  std::vector<const BundleGroup*> groups;
  std::vector<std::size_t> place{0};  // of each group's sums
  for (std::size_t g = task; g < workspace.groups().size(); g += tasks) {
    groups.push_back(&workspace.groups()[g]);
    // Room for sums of either type, and whole cache lines.
    place.push_back(place.back() +
                    (sizeof(typename Terms::Sum) * groups.back()->sums() + 63) / 64 * 64);
    for (const Bundle& bundle : groups.back()->bundles) {
      for (const std::size_t f : bundle.features) cells.clear(f);
    }
  }
  unsigned char* const memory = workspace.get(place_of_task, place.back());
  std::vector<double>& scratch = workspace.scratch(place_of_task);
  for (const Stretch& stretch : workspace.parts()[part]) {
    for (const auto& [begin_range, end_range] : stretch.ranges) {
      for (std::size_t begin = begin_range; begin < end_range;) {
        const std::size_t end = begin + std::min(Terms::kRows, end_range - begin);
        for (std::size_t g = 0; g < groups.size(); ++g) {
          visit_sums(*groups[g], terms, memory + place[g], [&](const auto& kind, auto* sums) {
            add_group(*groups[g], codes, bins, kind, begin, end, sums);
          });
        }
        begin = end;
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      visit_sums(*groups[g], terms, memory + place[g], [&](const auto&, auto* sums) {
        flush_group(*groups[g], bins, *stretch.roles, sums, scratch, cells);
      });
    }
  }
}

}  // namespace detail

// Cells of every feature from the weights and curvatures (unless null) of the training rows.  A
// task owns its features' cells in one part of the rows and walks them in order, and parts are
// added in order: no sum depends on the number of threads.
inline void fill_cells(const Codes& codes, const Bins& bins, std::size_t lanes, const float* weight,
                       const float* curvature, const double* sample_weight, Workspace& workspace,
                       CellTable& cells, Team& team) {
  const double nanoseconds =
      (0.3 + 0.06 * static_cast<double>(lanes)) * static_cast<double>(bins.size() * codes.rows);
  visit_terms(lanes, curvature != nullptr, sample_weight != nullptr, [&](auto kind) {
    using Terms = decltype(kind);
    const Terms terms = kind.of(weight, curvature, sample_weight);
    // As many features a task as their sums allow: it reads every row's terms.
    const std::size_t least = (bins.size() + Terms::kFeaturesPerTask - 1) / Terms::kFeaturesPerTask;
    const std::size_t tasks = std::min(workspace.groups().size(), std::max(least, team.size()));
    const std::size_t parts = workspace.parts().size();
    workspace.set_tasks(tasks * parts);
    team.for_each(tasks * parts, nanoseconds, [&](std::size_t t) {
      const std::size_t part = t % parts;
      detail::fill_groups(codes, bins, terms, t / parts, tasks, part, workspace,
                          part == 0 ? cells : workspace.others()[part - 1]);
    });
  });
  for (const CellTable& other : workspace.others()) cells += other;
}

// out[code[i]] += term(i), i in [begin, end), for a feature of `width` codes.
template <class Number, class Term>
void add_by_code(const std::uint8_t* code, std::size_t begin, std::size_t end, int width,
                 const Term& term, Number* out) {
  // Rows take turns with four copies: an add to a cell just added to would wait.
  std::array<std::array<Number, kMaxCodes>, 4> copies{};
  for (std::size_t i = begin; i < end; ++i) copies[i % 4][code[i]] += term(i);
  for (const auto& copy : copies) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(width); ++b) out[b] += copy[b];
  }
}

// The weight each code of each feature holds (features side by side); null counts rows.
inline std::vector<double> weigh_codes(const std::uint8_t* codes, std::size_t rows,
                                       const Bins& bins, const double* weight, Team& team) {
  std::vector<double> held(bins.total_width());
  team.for_each(bins.size(), 0.5 * static_cast<double>(bins.size() * rows), [&](std::size_t f) {
    const auto weight_of = [weight](std::size_t i) { return weight == nullptr ? 1.0 : weight[i]; };
    add_by_code(codes + f * rows, 0, rows, bins[f].width(), weight_of,
                held.data() + bins.offset(f));
  });
  return held;
}

}  // namespace properboost
