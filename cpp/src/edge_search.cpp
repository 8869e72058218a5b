#include "properboost/edge_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properboost/instruction_set.hpp"

#if PROPERBOOST_X86_SETS
// GCC 12 warns of the undefined registers its own intrinsics start from.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace properboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest T not above x: a T exceeds it exactly when it exceeds x.
template <class T>
T round_down(double x) {
  if constexpr (std::is_same_v<T, float>) {
    // Beyond the largest float the conversion is undefined.
    constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());
    if (std::abs(x) > kLargest) {
      if (x == kInfinity) return std::numeric_limits<float>::infinity();
      return x > 0 ? std::numeric_limits<float>::max() : -std::numeric_limits<float>::infinity();
    }
    const float nearest = static_cast<float>(x);
    return static_cast<double>(nearest) > x
               ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
               : nearest;
  } else {
    return x;
  }
}

#if PROPERBOOST_X86_SETS

// The helpers below are part of one kernel: with its target, and inlined into it.
#define PROPERBOOST_KERNEL [[gnu::target(PROPERBOOST_AVX512), gnu::always_inline]] inline

// Vectors of values that walk at the same time, so that one need not wait for another's look-up.
constexpr std::size_t kWalks = 4;

// Sixteen walks down a tree that lives in registers: a level of up to 16 nodes is one permutation,
// deeper ones are several, of which the bits of the node's number choose.
template <int kLevels>
struct Tree {
  static constexpr int kDeep = kLevels > 4 ? (1 << (kLevels - 4)) : 1;  // registers of 16 nodes
  __m512 nodes[kDeep];

  PROPERBOOST_KERNEL void load(const float* from) {
    for (int r = 0; r < kDeep; ++r) nodes[r] = _mm512_load_ps(from + 16 * r);
  }

  // The entry `node` of the level in registers first to first + count.
  template <int kCount>
  PROPERBOOST_KERNEL __m512 look_up(int first, __m512i node) const {
    if constexpr (kCount == 1) {
      return _mm512_permutexvar_ps(node, nodes[first]);
    } else if constexpr (kCount == 2) {
      return _mm512_permutex2var_ps(nodes[first], node, nodes[first + 1]);
    } else {
      const __m512 low = look_up<kCount / 2>(first, node);
      const __m512 high = look_up<kCount / 2>(first + kCount / 2, node);
      const __mmask16 upper = _mm512_test_epi32_mask(node, _mm512_set1_epi32(8 * kCount));
      return _mm512_mask_blend_ps(upper, low, high);
    }
  }

  template <int kLevel>
  PROPERBOOST_KERNEL void descend(const __m512* x, __m512i* node) const {
    if constexpr (kLevel < kLevels) {
      constexpr int kFirst = kLevel < 4 ? 0 : (1 << (kLevel - 4));
      for (std::size_t k = 0; k < kWalks; ++k) {
        const __m512 edge = look_up<(kLevel < 4 ? 1 : kFirst)>(kFirst, node[k]);
        const __mmask16 right = _mm512_cmp_ps_mask(edge, x[k], _CMP_LT_OQ);
        node[k] = _mm512_add_epi32(node[k], node[k]);
        node[k] = _mm512_mask_add_epi32(node[k], right, node[k], _mm512_set1_epi32(1));
      }
      descend<kLevel + 1>(x, node);
    }
  }

  PROPERBOOST_KERNEL void count_below(const __m512* x, __m512i* count) const {
    for (std::size_t k = 0; k < kWalks; ++k) count[k] = _mm512_set1_epi32(1);
    descend<0>(x, count);
    for (std::size_t k = 0; k < kWalks; ++k) {
      count[k] = _mm512_sub_epi32(count[k], _mm512_set1_epi32(1 << kLevels));
    }
  }
};

// Which of the 16 rows from `begin` on are among n.
PROPERBOOST_KERNEL __mmask16 first_rows(std::size_t begin, std::size_t n) {
  if (begin + 16 <= n) return 0xffff;
  return static_cast<__mmask16>(begin < n ? (1u << (n - begin)) - 1 : 0);
}

PROPERBOOST_KERNEL __m512 join(__m256 low, __m256 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
PROPERBOOST_KERNEL __mmask16 join(__mmask8 low, __mmask8 high) {
  return static_cast<__mmask16>(low | (static_cast<unsigned>(high) << 8));
}

PROPERBOOST_KERNEL void store_codes(__m512i count, __mmask16 nan, __mmask16 rows,
                                    std::uint8_t missing, std::uint8_t* codes) {
  const __m512i code = _mm512_mask_blend_epi32(nan, count, _mm512_set1_epi32(missing));
  _mm512_mask_cvtepi32_storeu_epi8(codes, rows, code);
}

template <int kLevels>
[[gnu::target(PROPERBOOST_AVX512)]] void walk(const float* nodes, const float* x, std::size_t n,
                                              std::uint8_t missing, std::uint8_t* codes) {
  Tree<kLevels> tree;
  tree.load(nodes);
  for (std::size_t i = 0; i < n; i += 16 * kWalks) {
    __m512 value[kWalks];
    __m512i count[kWalks];
    __mmask16 rows[kWalks];
    for (std::size_t k = 0; k < kWalks; ++k) {
      rows[k] = first_rows(i + 16 * k, n);
      value[k] = _mm512_maskz_loadu_ps(rows[k], x + i + 16 * k);
    }
    tree.count_below(value, count);
    for (std::size_t k = 0; k < kWalks; ++k) {
      const __mmask16 nan = _mm512_cmp_ps_mask(value[k], value[k], _CMP_UNORD_Q);
      store_codes(count[k], nan, rows[k], missing, codes + i + 16 * k);
    }
  }
}

// edges[0] is a NaN, for values below all edges.
template <int kLevels>
[[gnu::target(PROPERBOOST_AVX512)]] void walk(const float* nodes, const double* edges,
                                              int ambiguous, const double* x, std::size_t n,
                                              std::uint8_t missing, std::uint8_t* codes) {
  constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  Tree<kLevels> tree;
  tree.load(nodes);
  for (std::size_t i = 0; i < n; i += 16 * kWalks) {
    __m512d low[kWalks], high[kWalks];
    __m512 above[kWalks];
    __m512i count[kWalks];
    __mmask16 rows[kWalks];
    for (std::size_t k = 0; k < kWalks; ++k) {
      rows[k] = first_rows(i + 16 * k, n);
      const double* const from = x + i + 16 * k;
      low[k] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(rows[k]), from);
      high[k] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(rows[k] >> 8), from + 8);
      above[k] = join(_mm512_cvt_roundpd_ps(low[k], kUp), _mm512_cvt_roundpd_ps(high[k], kUp));
    }
    tree.count_below(above, count);
    for (std::size_t k = 0; k < kWalks; ++k) {
      for (int a = 0; a < ambiguous; ++a) {
        const __m512d low_edge = _mm512_i32gather_pd(_mm512_castsi512_si256(count[k]), edges, 8);
        const __m512d high_edge =
            _mm512_i32gather_pd(_mm512_extracti64x4_epi64(count[k], 1), edges, 8);
        const __mmask16 too_many = join(_mm512_cmp_pd_mask(low_edge, low[k], _CMP_GE_OQ),
                                        _mm512_cmp_pd_mask(high_edge, high[k], _CMP_GE_OQ));
        count[k] = _mm512_mask_sub_epi32(count[k], too_many, count[k], _mm512_set1_epi32(1));
      }
      const __mmask16 nan = join(_mm512_cmp_pd_mask(low[k], low[k], _CMP_UNORD_Q),
                                 _mm512_cmp_pd_mask(high[k], high[k], _CMP_UNORD_Q));
      store_codes(count[k], nan, rows[k], missing, codes + i + 16 * k);
    }
  }
}

#undef PROPERBOOST_KERNEL

template <class... Arguments>
void walk_levels(int levels, const Arguments&... arguments) {
  switch (levels) {
    case 4: return walk<4>(arguments...);
    case 5: return walk<5>(arguments...);
    case 6: return walk<6>(arguments...);
    case 7: return walk<7>(arguments...);
    default: return walk<8>(arguments...);
  }
}

#endif

}  // namespace

EdgeSearch::EdgeSearch(const std::vector<double>& edges) {
#if PROPERBOOST_X86_SETS
  if (instruction_set() == InstructionSet::kAvx512) {
    plant(edges);
    return;
  }
#endif
  cells32_.build(edges);
  cells64_.build(edges);
}

void EdgeSearch::plant(const std::vector<double>& edges) {
  levels_ = 4;
  while ((std::size_t{1} << levels_) <= edges.size()) ++levels_;
  const std::size_t size = std::size_t{1} << levels_;
  std::vector<float> rounded(size, std::numeric_limits<float>::infinity());
  std::transform(edges.begin(), edges.end(), rounded.begin(), round_down<float>);
  nodes_.assign(size, 0.0f);
  for (int level = 0; level < levels_; ++level) {
    const std::size_t nodes = std::size_t{1} << level;
    for (std::size_t k = 0; k < nodes; ++k) {
      nodes_[nodes + k] = rounded[(2 * k + 1) * (size >> (level + 1)) - 1];
    }
  }
  edges_.assign(1, std::numeric_limits<double>::quiet_NaN());
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t j = i;
    bool exact = true;
    for (; j < edges.size() && rounded[j] == rounded[i]; ++j) {
      exact = exact && static_cast<double>(rounded[j]) == edges[j];
    }
    if (!exact) ambiguous_ = std::max(ambiguous_, static_cast<int>(j - i));
    i = j;
  }
}

// Both are monotone in x, rounding included, so that an edge in a lower cell is below x.
template <class T>
std::uint32_t EdgeSearch::Cells<T>::cell_by_value(T x) const {
  constexpr T kLast = static_cast<T>(kCells - 1);
  T cell = (x - low_) * scale_;
  cell = cell > T(0) ? cell : T(0);  // a NaN, too
  cell = cell < kLast ? cell : kLast;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(cell));
}

template <class T>
std::uint32_t EdgeSearch::Cells<T>::cell_by_key(T x) const {
  const Key key = std::min(std::max(sort_key(x), low_key_), high_key_);
  return static_cast<std::uint32_t>((key - low_key_) >> shift_);
}

template <class T>
void EdgeSearch::Cells<T>::build(const std::vector<double>& edges) {
  for (const double e : edges) edges_.push_back(round_down<T>(e) + T(0));
  if (!edges.empty()) {
    low_ = edges_.front();
    scale_ = static_cast<T>(kCells) / (edges_.back() - low_);
    low_key_ = sort_key(edges_.front());
    high_key_ = sort_key(edges_.back());
  }
  if (!std::isfinite(scale_) || !std::isfinite(low_)) low_ = scale_ = T(0);
  while (((high_key_ - low_key_) >> shift_) >= kCells) ++shift_;
  const auto deal = [&](auto cell_of) {
    std::vector<std::size_t> held(kCells, 0);
    for (const T e : edges_) ++held[cell_of(e)];
    return held;
  };
  std::vector<std::size_t> held = deal([&](T x) { return cell_by_value(x); });
  const std::vector<std::size_t> by_key = deal([&](T x) { return cell_by_key(x); });
  const auto fullest = [](const auto& cells) {
    return *std::max_element(cells.begin(), cells.end());
  };
  by_key_ = fullest(by_key) < fullest(held);
  if (by_key_) held = by_key;
  std::size_t before = 0;
  for (const std::size_t here : held) {
    first_.push_back(static_cast<std::uint8_t>(before));
    before += here;
  }
  while ((std::size_t{1} << steps_) <= fullest(held)) ++steps_;
  edges_.resize(edges_.size() + (std::size_t{1} << steps_), std::numeric_limits<T>::infinity());
}

// A step at a time over a run of values: their loads overlap, and the arithmetic is done in
// vectors.
template <class T>
template <int kSteps>
void EdgeSearch::Cells<T>::encode_run(const T* x, std::size_t n, std::uint8_t missing,
                                      std::uint8_t* codes) const {
  const T* const edge = edges_.data();
  const std::uint8_t* const first = first_.data();
  std::uint32_t below[kRun];
  vectorized([&below, x, n, this] {
    if (by_key_) {
      for (std::size_t i = 0; i < n; ++i) below[i] = cell_by_key(x[i]);
    } else {
      for (std::size_t i = 0; i < n; ++i) below[i] = cell_by_value(x[i]);
    }
  });
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t count = first[below[i]];
    for (int step = kSteps - 1; step >= 0; --step) {
      const std::uint32_t half = (1u << step) - 1;
      count += static_cast<std::uint32_t>(edge[count + half] < x[i]) << step;
    }
    codes[i] = static_cast<std::uint8_t>(count);
  }
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) codes[i] = x[i] == x[i] ? codes[i] : missing;
  });
}

template <class T>
void EdgeSearch::Cells<T>::encode(const T* x, std::size_t n, std::uint8_t missing,
                                  std::uint8_t* codes) const {
  const auto encode_runs = [&](auto steps) {
    for (std::size_t begin = 0; begin < n; begin += kRun) {
      encode_run<steps>(x + begin, std::min(kRun, n - begin), missing, codes + begin);
    }
  };
  switch (steps_) {
    case 0: return encode_runs(std::integral_constant<int, 0>{});
    case 1: return encode_runs(std::integral_constant<int, 1>{});
    case 2: return encode_runs(std::integral_constant<int, 2>{});
    case 3: return encode_runs(std::integral_constant<int, 3>{});
    case 4: return encode_runs(std::integral_constant<int, 4>{});
    case 5: return encode_runs(std::integral_constant<int, 5>{});
    case 6: return encode_runs(std::integral_constant<int, 6>{});
    case 7: return encode_runs(std::integral_constant<int, 7>{});
    default: return encode_runs(std::integral_constant<int, 8>{});
  }
}

void EdgeSearch::encode(const float* x, std::size_t n, std::uint8_t missing,
                        std::uint8_t* codes) const {
#if PROPERBOOST_X86_SETS
  if (levels_ > 0) return walk_levels(levels_, nodes_.data(), x, n, missing, codes);
#endif
  cells32_.encode(x, n, missing, codes);
}

void EdgeSearch::encode(const double* x, std::size_t n, std::uint8_t missing,
                        std::uint8_t* codes) const {
#if PROPERBOOST_X86_SETS
  if (levels_ > 0) {
    return walk_levels(levels_, nodes_.data(), edges_.data(), ambiguous_, x, n, missing, codes);
  }
#endif
  cells64_.encode(x, n, missing, codes);
}

}  // namespace properboost
