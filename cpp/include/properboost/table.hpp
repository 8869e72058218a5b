// A borrowed table: columns of any real type at any stride.  Nothing is copied; values are read a
// tile at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace properboost {

enum class Type { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

struct Column {
  const char* data;
  std::ptrdiff_t stride;  // bytes from one row to the next
  Type type;
};

struct Table {
  std::size_t rows = 0;
  std::vector<Column> columns;
};

// Row i of a pass over a table: all rows in their order, or those an index names.
struct RowOrder {
  const std::int64_t* rows = nullptr;
  std::size_t operator[](std::size_t i) const noexcept {
    return rows == nullptr ? i : static_cast<std::size_t>(rows[i]);
  }
};

// Calls visitor(T{}) with the C++ type behind `type`.
template <class Visitor>
decltype(auto) visit(Type type, Visitor&& visitor) {
  switch (type) {
    case Type::f32: return visitor(float{});
    case Type::f64: return visitor(double{});
    case Type::i8: return visitor(std::int8_t{});
    case Type::i16: return visitor(std::int16_t{});
    case Type::i32: return visitor(std::int32_t{});
    case Type::i64: return visitor(std::int64_t{});
    case Type::u8: return visitor(std::uint8_t{});
    case Type::u16: return visitor(std::uint16_t{});
    case Type::u32: return visitor(std::uint32_t{});
    case Type::u64: return visitor(std::uint64_t{});
  }
  throw std::logic_error("unknown column type");
}

// What values of a column are read as: float where that loses nothing.
template <class T>
using ValueOf =
    std::conditional_t<std::is_same_v<T, float> || (std::is_integral_v<T> && sizeof(T) <= 2), float,
                       double>;

// A block of rows by a group of columns, the unit of reading.  Columns of a row-major table that
// share cache lines make a group, so that a line is fetched once; others are read by themselves.
struct Tile {
  static constexpr std::size_t kRows = 128;
  static constexpr std::size_t kColumns = 32;
};

// Columns first to first + size, all of one type; those wanted of them.
struct ColumnGroup {
  std::size_t first, size;
  std::vector<std::size_t> wanted;
};

// Groups of the columns asked for, which ascend.
inline std::vector<ColumnGroup> group_columns(const Table& table,
                                              const std::vector<std::size_t>& wanted) {
  std::vector<ColumnGroup> groups;
  const auto side_by_side = [&](std::size_t a, std::size_t b) {
    const Column& left = table.columns[a];
    const Column& right = table.columns[b];
    const auto size = visit(left.type, [](auto zero) { return sizeof(zero); });
    return left.type == right.type && left.stride == right.stride &&
           right.data - left.data == static_cast<std::ptrdiff_t>((b - a) * size);
  };
  for (const std::size_t f : wanted) {
    if (!groups.empty() && f - groups.back().first < Tile::kColumns &&
        side_by_side(groups.back().first, f)) {
      groups.back().size = f - groups.back().first + 1;
      groups.back().wanted.push_back(f);
    } else {
      groups.push_back({f, 1, {f}});
    }
  }
  return groups;
}

// Groups of all columns.
inline std::vector<ColumnGroup> group_columns(const Table& table) {
  std::vector<std::size_t> all(table.columns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return group_columns(table, all);
}

namespace detail {

// Transposes as many rows and columns as make whole vectors; returns how many.
struct Extent {
  std::size_t rows, columns;
};

#if defined(__SSE2__)
inline Extent transpose(const char* const* row, std::size_t rows, std::size_t columns, float* out) {
  rows -= rows % 4;
  columns -= columns % 4;
  for (std::size_t i = 0; i < rows; i += 4) {
    for (std::size_t c = 0; c < columns; c += 4) {
      __m128 x[4];
      for (std::size_t k = 0; k < 4; ++k) {
        x[k] = _mm_loadu_ps(reinterpret_cast<const float*>(row[i + k]) + c);
      }
      _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
      for (std::size_t k = 0; k < 4; ++k) _mm_storeu_ps(out + (c + k) * Tile::kRows + i, x[k]);
    }
  }
  return {rows, columns};
}
inline Extent transpose(const char* const* row, std::size_t rows, std::size_t columns,
                        double* out) {
  rows -= rows % 2;
  columns -= columns % 2;
  for (std::size_t i = 0; i < rows; i += 2) {
    for (std::size_t c = 0; c < columns; c += 2) {
      const __m128d a = _mm_loadu_pd(reinterpret_cast<const double*>(row[i]) + c);
      const __m128d b = _mm_loadu_pd(reinterpret_cast<const double*>(row[i + 1]) + c);
      _mm_storeu_pd(out + c * Tile::kRows + i, _mm_unpacklo_pd(a, b));
      _mm_storeu_pd(out + (c + 1) * Tile::kRows + i, _mm_unpackhi_pd(a, b));
    }
  }
  return {rows, columns};
}
#endif

}  // namespace detail

// out[c * Tile::kRows + i] = the value of the group's column c in row order[begin + i], read as T.
template <class T>
void read(const Table& table, const ColumnGroup& group, RowOrder order, std::size_t begin,
          std::size_t n, ValueOf<T>* out) {
  const Column& first = table.columns[group.first];
  const char* row[Tile::kRows];
  for (std::size_t i = 0; i < n; ++i) {
    row[i] = first.data + static_cast<std::ptrdiff_t>(order[begin + i]) * first.stride;
  }
  const auto read_rest = [&](std::size_t from_row, std::size_t c) {
    for (std::size_t i = from_row; i < n; ++i) {
      T value;  // memcpy: a strided field need not be aligned
      std::memcpy(&value, row[i] + c * sizeof(T), sizeof(T));
      out[c * Tile::kRows + i] = static_cast<ValueOf<T>>(value);
    }
  };
  detail::Extent done{0, 0};
#if defined(__SSE2__)
  if constexpr (std::is_floating_point_v<T>) done = detail::transpose(row, n, group.size, out);
#endif
  for (std::size_t c = 0; c < group.size; ++c) read_rest(c < done.columns ? done.rows : 0, c);
}

}  // namespace properboost
