#include "properboost/data/edge_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properboost/core/intrinsics.hpp"

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

// Vectors of values that walk at the same time, so that one need not wait for another's look-up,
// and whose codes make a vector of bytes.
constexpr std::size_t kWalks = 4;

// The contribution of four turns, the first or the last, to a code: the first turn of all is its
// most significant bit.
struct CodeOfTurns {
  alignas(16) std::uint8_t of_low[16], of_high[16];
};
constexpr CodeOfTurns code_of_turns(int levels) {
  CodeOfTurns code{};
  for (int turns = 0; turns < 16; ++turns) {
    for (int k = 0; k < 8 && k < levels; ++k) {
      if ((turns >> (k % 4) & 1) == 0) continue;
      std::uint8_t& of = k < 4 ? code.of_low[turns] : code.of_high[turns];
      of = static_cast<std::uint8_t>(of | 1 << (levels - 1 - k));
    }
  }
  return code;
}

// Sixty-four walks down a tree that lives in registers.  A node is identified by the turns taken to
// get there: bit k is set if the k-th went right.  Level k is 2^k edges in the order of their
// nodes; up to 32 of them are one permutation, deeper levels are several, of which the last turns
// choose.
template <int kLevels>
class Tree {
 public:
  PROPERBOOST_KERNEL explicit Tree(const float* edges) {
    for (std::ptrdiff_t r = 0; r < first(kLevels); ++r) edges_[r] = _mm512_load_ps(edges + 16 * r);
    of_low_ = broadcast(kCodes.of_low);
    of_high_ = broadcast(kCodes.of_high);
  }

  // The number of edges below x, one byte each.
  PROPERBOOST_KERNEL __m512i count_below(const __m512* x) const {
    __m512i node[kWalks];
    for (std::size_t k = 0; k < kWalks; ++k) node[k] = _mm512_setzero_si512();
    descend<0>(x, node);
    return codes(node);
  }

 private:
  static constexpr int registers(int level) { return level > 4 ? 1 << (level - 4) : 1; }
  static constexpr int first(int level) {
    int count = 0;
    for (int l = 0; l < level; ++l) count += registers(l);
    return count;
  }

  template <int kCount>
  PROPERBOOST_KERNEL __m512 look_up(int from, __m512i node) const {
    if constexpr (kCount == 1) {
      return _mm512_permutexvar_ps(node, edges_[from]);
    } else if constexpr (kCount == 2) {
      return _mm512_permutex2var_ps(edges_[from], node, edges_[from + 1]);
    } else {
      const __m512 left = look_up<kCount / 2>(from, node);
      const __m512 right = look_up<kCount / 2>(from + kCount / 2, node);
      const __mmask16 turn = _mm512_test_epi32_mask(node, _mm512_set1_epi32(8 * kCount));
      return _mm512_mask_blend_ps(turn, left, right);
    }
  }

  template <int kLevel>
  PROPERBOOST_KERNEL void descend(const __m512* x, __m512i* node) const {
    if constexpr (kLevel < kLevels) {
      for (std::size_t k = 0; k < kWalks; ++k) {
        const __m512 edge = look_up<registers(kLevel)>(first(kLevel), node[k]);
        const __mmask16 right = _mm512_cmp_ps_mask(edge, x[k], _CMP_LT_OQ);
        node[k] = _mm512_mask_or_epi32(node[k], right, node[k], _mm512_set1_epi32(1 << kLevel));
      }
      descend<kLevel + 1>(x, node);
    }
  }

  PROPERBOOST_KERNEL __m512i codes(const __m512i* node) const {
    // Byte k of the 32 bits of a row is from walk k: gathered four rows at a time, then all.
    __m512i turns = node[0];
    turns = _mm512_or_si512(turns, _mm512_slli_epi32(node[1], 8));
    turns = _mm512_or_si512(turns, _mm512_slli_epi32(node[2], 16));
    turns = _mm512_or_si512(turns, _mm512_slli_epi32(node[3], 24));
    const __m128i by_walk = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    turns = _mm512_shuffle_epi8(turns, _mm512_broadcast_i32x4(by_walk));
    turns = _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), turns);
    const __m512i four_bits = _mm512_set1_epi8(15);
    const __m512i low = _mm512_and_si512(turns, four_bits);
    const __m512i high = _mm512_and_si512(_mm512_srli_epi16(turns, 4), four_bits);
    return _mm512_or_si512(_mm512_shuffle_epi8(of_low_, low), _mm512_shuffle_epi8(of_high_, high));
  }

  PROPERBOOST_KERNEL static __m512i broadcast(const std::uint8_t (&bytes)[16]) {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
  }

  static constexpr CodeOfTurns kCodes = code_of_turns(kLevels);

  __m512 edges_[first(kLevels)];
  __m512i of_low_, of_high_;
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
PROPERBOOST_KERNEL __mmask64 join(const __mmask16* masks) {
  return _mm512_kunpackd(_mm512_kunpackw(masks[3], masks[2]), _mm512_kunpackw(masks[1], masks[0]));
}

PROPERBOOST_KERNEL void store_codes(__m512i count, const __mmask16* nan, const __mmask16* rows,
                                    std::uint8_t missing, std::uint8_t* codes) {
  const __m512i of_nan = _mm512_set1_epi8(static_cast<char>(missing));
  const __m512i code = _mm512_mask_mov_epi8(count, join(nan), of_nan);
  if (rows[kWalks - 1] == 0xffff) {  // a store of chosen bytes is slow
    _mm512_storeu_si512(codes, code);
  } else {
    _mm512_mask_storeu_epi8(codes, join(rows), code);
  }
}

template <int kLevels>
[[gnu::target(PROPERBOOST_AVX512)]] void walk(const float* nodes, const float* x, std::size_t n,
                                              std::uint8_t missing, std::uint8_t* codes) {
  const Tree<kLevels> tree(nodes);
  for (std::size_t i = 0; i < n; i += 16 * kWalks) {
    __m512 value[kWalks];
    __mmask16 rows[kWalks], nan[kWalks];
    for (std::size_t k = 0; k < kWalks; ++k) {
      rows[k] = first_rows(i + 16 * k, n);
      value[k] = _mm512_maskz_loadu_ps(rows[k], x + i + 16 * k);
      nan[k] = _mm512_cmp_ps_mask(value[k], value[k], _CMP_UNORD_Q);
    }
    store_codes(tree.count_below(value), nan, rows, missing, codes + i);
  }
}

// edges[0] is a NaN, for values below all edges.
template <int kLevels>
[[gnu::target(PROPERBOOST_AVX512)]] void walk(const float* nodes, const double* edges,
                                              int ambiguous, const double* x, std::size_t n,
                                              std::uint8_t missing, std::uint8_t* codes) {
  constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  const Tree<kLevels> tree(nodes);
  for (std::size_t i = 0; i < n; i += 16 * kWalks) {
    __m512d low[kWalks], high[kWalks];
    __m512 above[kWalks];
    __mmask16 rows[kWalks], nan[kWalks];
    for (std::size_t k = 0; k < kWalks; ++k) {
      rows[k] = first_rows(i + 16 * k, n);
      const double* const from = x + i + 16 * k;
      low[k] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(rows[k]), from);
      high[k] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(rows[k] >> 8), from + 8);
      above[k] = join(_mm512_cvt_roundpd_ps(low[k], kUp), _mm512_cvt_roundpd_ps(high[k], kUp));
      nan[k] = _mm512_cmp_ps_mask(above[k], above[k], _CMP_UNORD_Q);
    }
    __m512i count = tree.count_below(above);
    for (int a = 0; a < ambiguous; ++a) {
      __mmask16 too_many[kWalks];
      const __m128i quarters[] = {
          _mm512_castsi512_si128(count), _mm512_extracti32x4_epi32(count, 1),
          _mm512_extracti32x4_epi32(count, 2), _mm512_extracti32x4_epi32(count, 3)};
      for (std::size_t k = 0; k < kWalks; ++k) {
        const __m256i of_low = _mm256_cvtepu8_epi32(quarters[k]);
        const __m256i of_high = _mm256_cvtepu8_epi32(_mm_srli_si128(quarters[k], 8));
        too_many[k] =
            join(_mm512_cmp_pd_mask(_mm512_i32gather_pd(of_low, edges, 8), low[k], _CMP_GE_OQ),
                 _mm512_cmp_pd_mask(_mm512_i32gather_pd(of_high, edges, 8), high[k], _CMP_GE_OQ));
      }
      count = _mm512_mask_sub_epi8(count, join(too_many), count, _mm512_set1_epi8(1));
    }
    store_codes(count, nan, rows, missing, codes + i);
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
  cells_.reset(new AllCells{edges});
}

void EdgeSearch::plant(const std::vector<double>& edges) {
  levels_ = 4;
  while ((std::size_t{1} << levels_) <= edges.size()) ++levels_;
  const std::size_t size = std::size_t{1} << levels_;
  std::vector<float> rounded(size, std::numeric_limits<float>::infinity());
  std::transform(edges.begin(), edges.end(), rounded.begin(), round_down<float>);
  nodes_.clear();
  for (int level = 0; level < levels_; ++level) {
    const std::size_t nodes = std::size_t{1} << level;
    for (std::size_t node = 0; node < nodes; ++node) {
      std::size_t place = 0;  // from the left
      for (int k = 0; k < level; ++k) place = 2 * place + (node >> k & 1);
      nodes_.push_back(rounded[(2 * place + 1) * (size >> (level + 1)) - 1]);
    }
    while (nodes_.size() % 16 != 0) nodes_.push_back(0.0f);
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

// Both are monotone in x, rounding included, so that a bin edge in a lower cell is below x.
template <class T>
std::uint32_t EdgeSearch::Cells<T>::cell_by_value(T x) const {
  T cell = (x - low_) * scale_;
  cell = cell > T(0) ? cell : T(0);  // also for NaN
  cell = cell < last_ ? cell : last_;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(cell));
}

template <class T>
std::uint32_t EdgeSearch::Cells<T>::cell_by_key(T x) const {
  const Key key = std::min(std::max(sort_key(x), low_key_), high_key_);
  return static_cast<std::uint32_t>((key - low_key_) >> shift_);
}

template <class T>
void EdgeSearch::Cells<T>::build(const std::vector<double>& edges) {
  // A model of many features with few bins each holds one of these for every feature.
  const std::size_t cells = std::clamp(kCellsPerEdge * edges.size(), std::size_t{1}, kMostCells);
  last_ = static_cast<T>(cells - 1);
  for (const double e : edges) edges_.push_back(round_down<T>(e) + T(0));
  if (!edges.empty()) {
    low_ = edges_.front();
    scale_ = static_cast<T>(cells) / (edges_.back() - low_);
    low_key_ = sort_key(edges_.front());
    high_key_ = sort_key(edges_.back());
  }
  if (!std::isfinite(scale_) || !std::isfinite(low_)) low_ = scale_ = T(0);
  while (((high_key_ - low_key_) >> shift_) >= cells) ++shift_;
  const auto deal = [&](auto cell_of) {
    std::vector<std::size_t> counts(cells, 0);
    for (const T e : edges_) ++counts[cell_of(e)];
    return counts;
  };
  std::vector<std::size_t> counts = deal([&](T x) { return cell_by_value(x); });
  const std::vector<std::size_t> by_key = deal([&](T x) { return cell_by_key(x); });
  const auto fullest = [](const auto& cells) {
    return *std::max_element(cells.begin(), cells.end());
  };
  by_key_ = fullest(by_key) < fullest(counts);
  if (by_key_) counts = by_key;
  first_.reserve(cells);
  std::size_t before = 0;
  for (const std::size_t here : counts) {
    first_.push_back(static_cast<std::uint8_t>(before));
    before += here;
  }
  while ((std::size_t{1} << steps_) <= fullest(counts)) ++steps_;
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
    Key any = 0;  // looking for NaN is quicker than writing codes again
    for (std::size_t i = 0; i < n; ++i) any |= x[i] == x[i] ? Key{0} : Key{1};
    if (any == 0) return;
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

template <class T>
const EdgeSearch::Cells<T>& EdgeSearch::MadeCells<T>::of(const std::vector<double>& edges) {
  if (const Cells<T>* const made = made_.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> only_one(mutex_);
  if (cells_ == nullptr) {
    auto cells = std::make_unique<Cells<T>>();
    cells->build(edges);
    cells_ = std::move(cells);
    made_.store(cells_.get(), std::memory_order_release);
  }
  return *cells_;
}

void EdgeSearch::encode(const float* x, std::size_t n, std::uint8_t missing,
                        std::uint8_t* codes) const {
#if PROPERBOOST_X86_SETS
  if (levels_ > 0) return walk_levels(levels_, nodes_.data(), x, n, missing, codes);
#endif
  cells_->cells32.of(cells_->edges).encode(x, n, missing, codes);
}

void EdgeSearch::encode(const double* x, std::size_t n, std::uint8_t missing,
                        std::uint8_t* codes) const {
#if PROPERBOOST_X86_SETS
  if (levels_ > 0) {
    return walk_levels(levels_, nodes_.data(), edges_.data(), ambiguous_, x, n, missing, codes);
  }
#endif
  cells_->cells64.of(cells_->edges).encode(x, n, missing, codes);
}

}  // namespace properboost
