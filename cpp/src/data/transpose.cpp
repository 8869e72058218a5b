#include "properboost/data/transpose.hpp"

#include <algorithm>
#include <cstring>

#include "properboost/core/intrinsics.hpp"

namespace properboost {
namespace {

// A block of the table: where its rows begin, and where its columns go.
template <class T>
struct Block {
  const char* const* row;
  std::size_t column;
  std::size_t stride;
  T* out;

  // A row need not be aligned: only loads of any alignment may take it as a T.
  const char* bytes(std::size_t i) const { return row[i] + column * sizeof(T); }
  const T* operator[](std::size_t i) const { return reinterpret_cast<const T*>(bytes(i)); }
  T* to(std::size_t c) const { return out + c * stride; }
};

template <class T>
void copy(const Block<T>& block, std::size_t rows, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(block.to(c) + i, block.bytes(i) + c * sizeof(T), sizeof(T));
    }
  }
}

#if PROPERBOOST_X86_SETS

// The baseline has SSE2.
struct Sse2 {
  static constexpr std::size_t kBytes = 16;

  static void copy(const Block<float>& block) {
    __m128 x[4];
    for (std::size_t k = 0; k < 4; ++k) x[k] = _mm_loadu_ps(block[k]);
    _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
    for (std::size_t c = 0; c < 4; ++c) _mm_storeu_ps(block.to(c), x[c]);
  }

  static void copy(const Block<double>& block) {
    const __m128d a = _mm_loadu_pd(block[0]);
    const __m128d b = _mm_loadu_pd(block[1]);
    _mm_storeu_pd(block.to(0), _mm_unpacklo_pd(a, b));
    _mm_storeu_pd(block.to(1), _mm_unpackhi_pd(a, b));
  }
};

// Quarters of a register are filled from rows that lie a quarter of the block apart, so that
// shuffles within quarters are all that is left to do.
struct Avx512 {
  static constexpr std::size_t kBytes = 64;

  [[gnu::target(PROPERBOOST_AVX512)]] static void copy(const Block<float>& block) {
    __m512 x[4];
    for (std::size_t k = 0; k < 4; ++k) {
      x[k] = _mm512_castps128_ps512(_mm_loadu_ps(block[k]));
      x[k] = _mm512_mask_broadcast_f32x4(x[k], 0x00f0, _mm_loadu_ps(block[k + 4]));
      x[k] = _mm512_mask_broadcast_f32x4(x[k], 0x0f00, _mm_loadu_ps(block[k + 8]));
      x[k] = _mm512_mask_broadcast_f32x4(x[k], 0xf000, _mm_loadu_ps(block[k + 12]));
    }
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(x[0], x[1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(x[0], x[1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(x[2], x[3]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(x[2], x[3]));
    _mm512_storeu_ps(block.to(0), _mm512_castpd_ps(_mm512_unpacklo_pd(a, c)));
    _mm512_storeu_ps(block.to(1), _mm512_castpd_ps(_mm512_unpackhi_pd(a, c)));
    _mm512_storeu_ps(block.to(2), _mm512_castpd_ps(_mm512_unpacklo_pd(b, d)));
    _mm512_storeu_ps(block.to(3), _mm512_castpd_ps(_mm512_unpackhi_pd(b, d)));
  }

  [[gnu::target(PROPERBOOST_AVX512)]] static void copy(const Block<double>& block) {
    __m512d x[2];
    for (std::size_t k = 0; k < 2; ++k) {
      x[k] = _mm512_castpd128_pd512(_mm_loadu_pd(block[k]));
      x[k] = _mm512_mask_broadcast_f64x2(x[k], 0x0c, _mm_loadu_pd(block[k + 2]));
      x[k] = _mm512_mask_broadcast_f64x2(x[k], 0x30, _mm_loadu_pd(block[k + 4]));
      x[k] = _mm512_mask_broadcast_f64x2(x[k], 0xc0, _mm_loadu_pd(block[k + 6]));
    }
    _mm512_storeu_pd(block.to(0), _mm512_unpacklo_pd(x[0], x[1]));
    _mm512_storeu_pd(block.to(1), _mm512_unpackhi_pd(x[0], x[1]));
  }
};

// Covers rows and columns, which fill a block, with blocks; the last overlap those before them.
template <class Set, class T>
void cover(const Block<T>& all, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kRows = Set::kBytes / sizeof(T), kColumns = 16 / sizeof(T);
  for (std::size_t i = 0; i < rows; i += kRows) {
    const std::size_t row = std::min(i, rows - kRows);
    for (std::size_t c = 0; c < columns; c += kColumns) {
      const std::size_t column = std::min(c, columns - kColumns);
      Set::copy({all.row + row, column, all.stride, all.to(column) + row});
    }
  }
}

template <class T>
[[gnu::target(PROPERBOOST_AVX512), gnu::flatten]] void cover_avx512(const Block<T>& all,
                                                                    std::size_t rows,
                                                                    std::size_t columns) {
  cover<Avx512>(all, rows, columns);
}

#endif

template <class T>
void copy_all(const Block<T>& all, std::size_t rows, std::size_t columns) {
#if PROPERBOOST_X86_SETS
  if (columns >= 16 / sizeof(T)) {
    if (instruction_set() == InstructionSet::kAvx512 && rows >= 64 / sizeof(T)) {
      return cover_avx512(all, rows, columns);
    }
    if (rows >= 16 / sizeof(T)) return cover<Sse2>(all, rows, columns);
  }
#endif
  copy(all, rows, columns);
}

}  // namespace

void transpose(const char* const* row, std::size_t rows, std::size_t columns, std::size_t stride,
               float* out) {
  copy_all(Block<float>{row, 0, stride, out}, rows, columns);
}

void transpose(const char* const* row, std::size_t rows, std::size_t columns, std::size_t stride,
               double* out) {
  copy_all(Block<double>{row, 0, stride, out}, rows, columns);
}

}  // namespace properboost
