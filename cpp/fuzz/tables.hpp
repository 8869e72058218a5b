// Tables and bins as a fuzz target's input has them: whatever the bindings let through.
#pragma once

#include <utility>
#include <vector>

#include "bytes.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/data/table.hpp"

namespace properboost::fuzz {

// A table and its memory, which ends where its last value does.
struct StoredTable {
  std::vector<std::vector<char>> memory;
  Table table;
};

template <class T>
void store(Bytes& bytes, char* at) {
  const T value = bytes.number<T>();
  std::memcpy(at, &value, sizeof value);
}

inline std::size_t size_of(Type type) {
  return visit(type, [](auto zero) { return sizeof(zero); });
}

inline Type pick_type(Bytes& bytes) { return static_cast<Type>(bytes.below(10)); }

// Columns of one type side by side, or each by itself with a stride of its own; any alignment,
// backwards or forwards.
inline StoredTable read_table(Bytes& bytes, std::size_t rows, std::size_t columns) {
  StoredTable stored;
  stored.table.rows = rows;
  const bool together = bytes.flip();
  const Type one = pick_type(bytes);
  const std::size_t groups = together ? std::min<std::size_t>(columns, 1) : columns;
  for (std::size_t g = 0; g < groups; ++g) {
    const Type type = together ? one : pick_type(bytes);
    const std::size_t width = (together ? columns : 1) * size_of(type);
    const std::size_t shift = bytes.below(4);
    const std::size_t stride = !together && bytes.below(8) == 7 ? 0 : width + bytes.below(5);
    const bool backwards = bytes.flip();
    const std::size_t length = rows == 0 ? 0 : (rows - 1) * stride + width;
    // Without rows a column has an address, too.
    std::vector<char>& memory =
        stored.memory.emplace_back(shift + std::max<std::size_t>(length, 1));
    char* const begin = memory.data() + shift;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c * size_of(type) < width; ++c) {
        char* const at = begin + i * stride + c * size_of(type);
        visit(type, [&](auto zero) { store<decltype(zero)>(bytes, at); });
      }
    }
    const auto step = static_cast<std::ptrdiff_t>(stride);
    const char* const first = begin + (backwards && rows > 0 ? (rows - 1) * stride : 0);
    for (std::size_t c = 0; c * size_of(type) < width; ++c) {
      stored.table.columns.push_back({first + c * size_of(type), backwards ? -step : step, type});
    }
  }
  return stored;
}

// A column's value, as the engine reads it.
inline double value_of(const Column& column, std::size_t row) {
  return visit(column.type, [&](auto value) {
    std::memcpy(&value, column.data + static_cast<std::ptrdiff_t>(row) * column.stride,
                sizeof value);
    return static_cast<double>(static_cast<ValueOf<decltype(value)>>(value));
  });
}

// The code that a value must have.
inline int code_of(const FeatureBins& bins, const std::vector<double>& edges, double value) {
  if (bins.ordered()) {
    if (std::isnan(value)) return bins.missing();
    return static_cast<int>(
        std::count_if(edges.begin(), edges.end(), [&](double edge) { return edge < value; }));
  }
  if (value >= 0.0 && value < bins.bins()) return static_cast<int>(value);
  return value == -1.0 ? bins.missing() : bins.missing() + 1;
}

// A feature's bins, and its edges if it is numeric.
inline std::pair<FeatureBins, std::vector<double>> read_bins(Bytes& bytes) {
  switch (bytes.below(4)) {
    case 0: return {FeatureBins(static_cast<int>(bytes.between(1, 254))), {}};
    case 1: {
      const int rows = static_cast<int>(bytes.between(1, 16));
      const int columns = static_cast<int>(bytes.between(1, 15));
      const auto ordered = [&](int most) {
        return static_cast<int>(bytes.below(static_cast<std::size_t>(most) + 1));
      };
      const int ordered_rows = ordered(rows);
      return {FeatureBins(Grid{rows, columns, ordered_rows, ordered(columns)}), {}};
    }
    default: break;
  }
  std::vector<double> edges;
  const std::size_t n = bytes.below(255);
  for (std::size_t i = 0; i < n; ++i) {
    const double edge = bytes.number<double>();
    if (!std::isnan(edge)) edges.push_back(edge);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  FeatureBins bins(edges);
  return {std::move(bins), std::move(edges)};
}

// Codes of rows in these features, feature-major.
inline std::vector<std::uint8_t> read_codes(Bytes& bytes, const Bins& bins, std::size_t rows) {
  std::vector<std::uint8_t> codes;
  codes.reserve(bins.size() * rows);
  for (std::size_t f = 0; f < bins.size(); ++f) {
    const auto width = static_cast<std::size_t>(bins[f].width());
    for (std::size_t i = 0; i < rows; ++i) {
      codes.push_back(static_cast<std::uint8_t>(bytes.content_below(width)));
    }
  }
  return codes;
}

// The same codes, with every other feature sparse: its common code is that of the first row.
struct SparseForm {
  std::vector<std::uint8_t> dense, codes, common;
  std::vector<std::int64_t> place, starts{0};
  std::vector<std::int32_t> rows;

  SparseForm(const std::vector<std::uint8_t>& all, std::size_t n, std::size_t first_sparse) {
    for (std::size_t f = 0; f * n < all.size(); ++f) {
      const std::uint8_t* const code = all.data() + f * n;
      common.push_back(code[0]);
      if (f % 2 != first_sparse) {
        place.push_back(static_cast<std::int64_t>(dense.size() / n));
        dense.insert(dense.end(), code, code + n);
      } else {
        place.push_back(-1);
        for (std::size_t i = 0; i < n; ++i) {
          if (code[i] == code[0]) continue;
          rows.push_back(static_cast<std::int32_t>(i));
          codes.push_back(code[i]);
        }
      }
      starts.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
  Codes borrow(std::size_t n, const std::vector<std::size_t>& segments) const {
    return {dense.data(),
            n,
            segments,
            {place.data(), starts.data(), rows.data(), codes.data(), common.data()}};
  }
};

inline Bins read_all_bins(Bytes& bytes, std::size_t features) {
  std::vector<FeatureBins> all;
  for (std::size_t f = 0; f < features; ++f) all.push_back(read_bins(bytes).first);
  return Bins(std::move(all));
}

// Where segments begin, and the number of rows; some are empty.
inline std::vector<std::size_t> read_segments(Bytes& bytes, std::size_t rows) {
  std::vector<std::size_t> segments{0};
  const std::size_t n = bytes.between(1, 6);
  for (std::size_t k = 1; k < n; ++k) segments.push_back(bytes.below(rows + 1));
  segments.push_back(rows);
  std::sort(segments.begin(), segments.end());
  return segments;
}

// A role for each segment, one of which learns.
inline std::vector<Role> read_roles(Bytes& bytes, std::size_t segments) {
  std::vector<Role> roles;
  for (std::size_t s = 0; s < segments; ++s) {
    roles.push_back(static_cast<Role>(static_cast<int>(bytes.below(5)) - 2));
  }
  if (std::none_of(roles.begin(), roles.end(), learns)) roles[0] = Role::kPositive;
  return roles;
}

}  // namespace properboost::fuzz
