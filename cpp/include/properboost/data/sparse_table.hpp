// A borrowed table whose columns have entries of some rows, and 0 in all others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properboost/data/table.hpp"

namespace properboost {

struct SparseTable {
  std::size_t rows, columns;
  const std::int64_t* starts;      // column f has the entries starts[f] to starts[f + 1]
  const std::int32_t* entry_rows;  // in ascending order in each column
  Column values;                   // of entries

  std::size_t entries() const noexcept { return static_cast<std::size_t>(starts[columns]); }
};

// The value of entry k of a table of this type.
template <class T>
ValueOf<T> value_at(const SparseTable& table, std::size_t k) {
  return static_cast<ValueOf<T>>(reinterpret_cast<const T*>(table.values.data)[k]);
}

}  // namespace properboost
