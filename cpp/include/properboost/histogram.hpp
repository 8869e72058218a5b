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

#include "properboost/bundles.hpp"
#include "properboost/cells.hpp"
#include "properboost/codes.hpp"
#include "properboost/instruction_set.hpp"
#include "properboost/lanes.hpp"
#include "properboost/parallel.hpp"

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
template <bool kCurvature, bool kWeighted>
struct RowTerms {
  using Sum = DoubleSums<1, kCurvature>;
  static constexpr std::size_t kRows = SIZE_MAX;
  static constexpr std::size_t kFeaturesPerTask = 4;

  const float* weight = nullptr;
  const float* curvature = nullptr;
  const double* sample_weight = nullptr;

  // The same kind of terms of other rows.
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

// The same in float, for joint cells: the first cache holds twice as many.
template <bool kCurvature, bool kWeighted>
struct JointTerms {
  using Sum = LaneSums<1, kCurvature>;

  RowTerms<kCurvature, kWeighted> rows;

  Sum operator[](std::size_t i) const noexcept {
    const auto in_double = rows[i];
    Sum term;
    if constexpr (kCurvature) {
      term.both.data[0] = static_cast<float>(in_double.sums[0]);
      term.both.data[1] = static_cast<float>(in_double.sums[1]);
    } else {
      term.weights = static_cast<float>(in_double.sums[0]);
    }
    return term;
  }
};

// Many lanes: weights that are already multiplied, summed in float32 over a stretch of rows.
template <std::size_t W, bool kCurvature>
struct LaneTerms {
  using Sum = LaneSums<W, kCurvature>;
  static constexpr std::size_t kRows = 65'536 / W;     // 256 KiB: in the second cache
  static constexpr std::size_t kFeaturesPerTask = 26;  // so are their sums

  const float* weight = nullptr;
  const float* curvature = nullptr;

  LaneTerms of(const float* w, const float* c, const double*) const noexcept { return {w, c}; }

  Sum operator[](std::size_t i) const noexcept {
    Sum term;
    term.weights = reinterpret_cast<const Floats<W>*>(weight)[i];
    if constexpr (kCurvature) term.curvatures = reinterpret_cast<const Floats<W>*>(curvature)[i];
    return term;
  }
};

template <bool kCurvature, bool kWeighted>
JointTerms<kCurvature, kWeighted> joint_terms(const RowTerms<kCurvature, kWeighted>& terms) {
  return {terms};
}
template <std::size_t W, bool kCurvature>
LaneTerms<W, kCurvature> joint_terms(const LaneTerms<W, kCurvature>& terms) {
  return terms;
}

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

// The same for joint cells, those of the g-th bundle from sums[g x Stride] on.
template <std::size_t Group, std::size_t Stride, class Terms>
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
        for (std::size_t g = 0; g < Group; ++g) {
          sums[g * Stride + unpack<std::uint16_t>(words[g], j)] += term;
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
                 CellTable& cells) {
  using Own = DoubleSums<Sum::kLanes, Sum::kHasCurvature>;
  constexpr std::size_t kNumbers = Sum::kFloats;
  Own own[kMaxCodes];
  std::size_t left = bundle.cells;
  std::vector<double> rest(left / static_cast<std::size_t>(bins[bundle.features[0]].width()) *
                           kNumbers);
  std::vector<double> next;
  for (std::size_t k = 0; k < bundle.features.size(); ++k) {
    const std::size_t f = bundle.features[k];
    const auto width = static_cast<std::size_t>(bins[f].width());
    left /= width;
    if (k == 0) {
      marginalize<kNumbers>(reinterpret_cast<const float*>(sums), width, left, own[0].sums,
                            rest.data());
    } else {
      next.resize(left * kNumbers);
      marginalize<kNumbers>(rest.data(), width, left, own[0].sums, next.data());
      rest.swap(next);
    }
    flush(own, width, roles, cells, f);
  }
  std::fill_n(sums, bundle.cells, Sum{});
}

}  // namespace detail

// Rows of training weight, segment after segment, in stretches over which float32 sums stay exact
// enough (to 2e-6 in one heavy cell; over all of 50 million rows they would be 14% off).
struct Stretch {
  static constexpr std::size_t kRows = 65'536;
  const SegmentRoles* roles;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // of rows

  std::size_t rows() const noexcept {
    std::size_t n = 0;
    for (const auto& [begin, end] : ranges) n += end - begin;
    return n;
  }
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

// Bundles that are summed together: so many that their adds need not wait for each other, which
// takes more where few codes make the same cell come up again and again.
struct BundleGroup {
  static constexpr std::size_t kNarrow = 64;  // codes

  std::vector<Bundle> bundles;  // 1, 2, 4 or 8, all joint or of one feature each
  std::size_t stride;  // of their sums: kNarrow, kMaxCodes, or what a joint bundle may take

  bool joint() const noexcept { return bundles.front().joint(); }
  std::size_t sums() const noexcept { return bundles.size() * stride; }
};

// How large joint cells may be: with those summed at the same time they stay in the first cache,
// and rows are many beside them.
struct BundleLimits {
  static constexpr std::size_t kMostCells = 66 * 66;  // two features of 64 bins
  static constexpr std::size_t kBytes = 8 * kMostCells;
  static constexpr std::size_t most_cells(std::size_t bytes) {
    return bytes * kMostCells <= kBytes ? kMostCells : kBytes / bytes;
  }
  static constexpr std::size_t kRowsPerCell = 8;
  // Of fewer rows nothing is gained, and of equal weights and repeated rows sums stay equal.
  static constexpr std::size_t kFewRows = 16'384;

  std::size_t sum_bytes;
  std::size_t cells;  // of a bundle; 1 for no bundles

  BundleLimits(std::size_t lanes, bool has_curvature, const std::vector<Stretch>& stretches)
      : sum_bytes((has_curvature ? 8 : 4) * lanes), cells(1) {
    std::size_t rows = 0;
    for (const Stretch& stretch : stretches) rows += stretch.rows();
    if (rows < kFewRows) return;
    cells = std::max<std::size_t>(
        1, std::min(most_cells(sum_bytes), rows / stretches.size() / kRowsPerCell));
  }
};

// `most` bundles of one wide feature make a group, or eight of a narrow one; joint ones as many as
// fit the cache; the rest smaller groups.
inline std::vector<BundleGroup> group_bundles(const Bins& bins, std::size_t most,
                                              const BundleLimits& limits) {
  std::vector<Bundle> joint, wide, narrow;
  for (Bundle& bundle : bundle_features(bins, limits.cells)) {
    (bundle.joint()                         ? joint
     : bundle.cells <= BundleGroup::kNarrow ? narrow
                                            : wide)
        .push_back(std::move(bundle));
  }
  std::vector<BundleGroup> groups;
  const auto deal = [&](std::vector<Bundle>& bundles, std::size_t stride, const auto& size_for) {
    for (auto first = bundles.begin(); first != bundles.end();) {
      std::size_t size = size_for(first->cells);
      while (static_cast<std::size_t>(bundles.end() - first) < size) size /= 2;
      const auto last = first + static_cast<std::ptrdiff_t>(size);
      groups.push_back({{first, last}, stride});
      first = last;
    }
  };
  std::stable_sort(joint.begin(), joint.end(),
                   [](const Bundle& a, const Bundle& b) { return a.cells > b.cells; });
  deal(joint, BundleLimits::most_cells(limits.sum_bytes), [&](std::size_t cells) {
    const std::size_t fit = BundleLimits::kBytes / (cells * limits.sum_bytes);
    return std::size_t{fit >= 4 ? 4u : fit >= 2 ? 2u : 1u};
  });
  deal(wide, kMaxCodes, [&](std::size_t) { return most; });
  deal(narrow, BundleGroup::kNarrow, [](std::size_t) { return std::size_t{8}; });
  return groups;
}

// What the greedy histogram phase keeps from round to round: the groups, and a task's memory.
class Workspace {
 public:
  Workspace(const Bins& bins, std::size_t lanes, bool has_curvature,
            const std::vector<Stretch>& stretches)
      : groups_(group_bundles(bins, lanes == 1 ? 4 : 2,
                              BundleLimits(lanes, has_curvature, stretches))) {}

  const std::vector<BundleGroup>& groups() const noexcept { return groups_; }
  void set_tasks(std::size_t n) {
    if (memory_.size() < n) memory_.resize(n);
  }

  // Memory for a task, all zero.
  unsigned char* get(std::size_t task, std::size_t bytes) {
    // Much memory is taken as one large page: scattered small ones get into each other's way in the
    // second cache.
    constexpr std::size_t kMuch = 1u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    if (memory_[task].size() < wanted) memory_[task].resize(wanted);
    std::fill_n(memory_[task].data(), bytes, static_cast<unsigned char>(0));
    return memory_[task].data();
  }

 private:
  std::vector<BundleGroup> groups_;
  std::vector<Aligned<unsigned char>> memory_;
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
      if (has_curvature) return visitor(detail::RowTerms<true, true>());
      return visitor(detail::RowTerms<false, true>());
    } else {
      if (has_curvature) return visitor(detail::RowTerms<true, false>());
      return visitor(detail::RowTerms<false, false>());
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

// One group's part in one stretch of rows, begin to end, and at the stretch's end.
template <class Terms>
class GroupSums {
 public:
  using Sum = typename Terms::Sum;
  using Joint = decltype(joint_terms(Terms()));

  static std::size_t bytes(const BundleGroup& group) {
    const std::size_t n = group.joint() ? sizeof(typename Joint::Sum) : sizeof(Sum);
    return (n * group.sums() + 63) / 64 * 64;
  }

  GroupSums(const BundleGroup& group, unsigned char* memory) : group_(group), memory_(memory) {}

  void add(const Codes& codes, const Bins& bins, const Terms& terms, std::size_t begin,
           std::size_t end) {
    visit_size(group_.bundles.size(), [&](auto size) {
      constexpr std::size_t kSize = size;
      if (group_.joint()) {
        constexpr std::size_t kStride = BundleLimits::most_cells(sizeof(typename Joint::Sum));
        vectorized([&, joint = joint_terms(terms), begin, end, to = sums<Joint>()] {
          add_joint_terms<kSize, kStride>(group_.bundles.data(), bins, codes, joint, begin, end,
                                          to);
        });
        return;
      }
      const std::uint8_t* code[kSize];
      for (std::size_t k = 0; k < kSize; ++k) {
        code[k] = codes.feature(group_.bundles[k].features.front());
      }
      if (group_.stride == BundleGroup::kNarrow) {
        vectorized([&code, terms = terms, begin, end, to = sums<Terms>()] {
          add_terms<kSize, BundleGroup::kNarrow>(code, terms, begin, end, to);
        });
      } else {
        vectorized([&code, terms = terms, begin, end, to = sums<Terms>()] {
          add_terms<kSize, kMaxCodes>(code, terms, begin, end, to);
        });
      }
    });
  }

  void flush_into(CellTable& cells, const Bins& bins, const SegmentRoles& roles) {
    for (std::size_t k = 0; k < group_.bundles.size(); ++k) {
      const Bundle& bundle = group_.bundles[k];
      const std::size_t at = k * group_.stride;
      if (bundle.joint()) {
        vectorized([&, to = sums<Joint>() + at] { flush_joint(to, bundle, bins, roles, cells); });
      } else {
        const std::size_t f = bundle.features.front();
        vectorized([&, f, width = bundle.cells, to = sums<Terms>() + at] {
          flush(to, width, roles, cells, f);
        });
      }
    }
  }

 private:
  template <class Kind>
  typename Kind::Sum* sums() const {
    return reinterpret_cast<typename Kind::Sum*>(memory_);
  }

  const BundleGroup& group_;
  unsigned char* memory_;
};

// The cells of the features of every `tasks`-th group, from the task's on.
template <class Terms>
void fill_groups(const Codes& codes, const Bins& bins, const std::vector<Stretch>& stretches,
                 const Terms& terms, std::size_t task, std::size_t tasks, Workspace& workspace,
                 CellTable& cells) {
  std::size_t bytes = 0;
  for (std::size_t g = task; g < workspace.groups().size(); g += tasks) {
    bytes += GroupSums<Terms>::bytes(workspace.groups()[g]);
  }
  unsigned char* memory = workspace.get(task, bytes);
  std::vector<GroupSums<Terms>> groups;
  for (std::size_t g = task; g < workspace.groups().size(); g += tasks) {
    const BundleGroup& group = workspace.groups()[g];
    groups.emplace_back(group, memory);
    memory += GroupSums<Terms>::bytes(group);
    for (const Bundle& bundle : group.bundles) {
      for (const std::size_t f : bundle.features) cells.clear(f);
    }
  }
  for (const Stretch& stretch : stretches) {
    for (const auto& [begin_range, end_range] : stretch.ranges) {
      for (std::size_t begin = begin_range; begin < end_range;) {
        const std::size_t end = begin + std::min(Terms::kRows, end_range - begin);
        for (GroupSums<Terms>& group : groups) group.add(codes, bins, terms, begin, end);
        begin = end;
      }
    }
    for (GroupSums<Terms>& group : groups) group.flush_into(cells, bins, *stretch.roles);
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
  visit_terms(lanes, curvature != nullptr, sample_weight != nullptr, [&](auto kind) {
    using Terms = decltype(kind);
    const Terms terms = kind.of(weight, curvature, sample_weight);
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
