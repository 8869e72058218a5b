// A borrowed table: columns of any real type at any stride.  Nothing is copied; values are read a
// block at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

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
void visit(Type type, Visitor&& visitor) {
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

// out[i] = the column's value in row order[begin + i], read as T and converted to Out.
template <class T, class Out>
void read(const Column& column, RowOrder order, std::size_t begin, std::size_t n, Out* out) {
  for (std::size_t i = 0; i < n; ++i) {
    T value;  // memcpy: a strided field need not be aligned
    std::memcpy(&value, column.data + static_cast<std::ptrdiff_t>(order[begin + i]) * column.stride,
                sizeof(T));
    out[i] = static_cast<Out>(value);
  }
}

}  // namespace properboost
