// A borrowed table: columns of any real type at any stride.  Nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
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

// The type that values of a column are read as: float if that loses nothing.
template <class T>
using ValueOf =
    std::conditional_t<std::is_same_v<T, float> || (std::is_integral_v<T> && sizeof(T) <= 2), float,
                       double>;

}  // namespace properboost
