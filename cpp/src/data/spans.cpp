#include "properboost/data/spans.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/tiles.hpp"

namespace properboost {
namespace {

constexpr std::size_t kLanes = Tile::kColumns;

// The smallest and largest values of several columns, or of rows that take turns.
template <class Value>
struct Lanes {
  alignas(64) Value low[kLanes], high[kLanes];

  Lanes() {
    std::fill_n(low, kLanes, std::numeric_limits<Value>::infinity());
    std::fill_n(high, kLanes, -std::numeric_limits<Value>::infinity());
  }
  template <class T>
  void take(const T* x, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      const auto value = static_cast<Value>(x[k]);  // NaN is neither less nor more
      low[k] = value < low[k] ? value : low[k];
      high[k] = value > high[k] ? value : high[k];
    }
  }
  void give(std::size_t k, Span& span) const {
    span.low = std::min(span.low, static_cast<double>(low[k]));
    span.high = std::max(span.high, static_cast<double>(high[k]));
  }
};

// Widens the spans of a block's columns by the values of some rows.
template <class T>
void widen(const Column& first, std::size_t columns, RowSampleWeights weight, std::size_t begin,
           std::size_t end, Span* spans) {
  Lanes<ValueOf<T>> lanes;
  // memcpy: a strided field need not be aligned
  const auto at = [&](std::size_t i) {
    return first.data + static_cast<std::ptrdiff_t>(i) * first.stride;
  };
  const auto counts = [&](std::size_t i) { return weight.all_ones() || weight.stored(i) > 0.0; };
  const bool is_dense = weight.all_ones() && first.stride == sizeof(T);
  vectorized([&] {
    T x[kLanes];
    for (std::size_t i = begin; columns > 1 && i < end; ++i) {
      if (!counts(i)) continue;
      std::memcpy(x, at(i), columns * sizeof(T));
      lanes.take(x, columns);
    }
    for (std::size_t i = begin; columns == 1 && i < end;) {
      std::size_t n = 0;
      if (is_dense) {
        n = std::min(kLanes, end - i);
        std::memcpy(x, at(i), n * sizeof(T));
        i += n;
      } else {
        for (; n < kLanes && i < end; ++i) {
          if (counts(i)) std::memcpy(&x[n++], at(i), sizeof(T));
        }
      }
      lanes.take(x, n);
    }
  });
  for (std::size_t k = 0; k < (columns > 1 ? columns : kLanes); ++k) {
    lanes.give(k, spans[columns > 1 ? k : 0]);
  }
}

}  // namespace

std::vector<Span> find_spans(const Table& table, RowSampleWeights weight, Team& team) {
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table);
  std::vector<Span> all(table.columns.size());
  std::mutex adding;
  constexpr std::size_t kTurn = 8'192;
  const double nanoseconds = 0.5 * static_cast<double>(table.rows * table.columns.size());
  team.for_each((table.rows + kTurn - 1) / kTurn, nanoseconds, [&](std::size_t turn) {
    std::vector<Span> turn_spans(all.size());
    const std::size_t end = std::min((turn + 1) * kTurn, table.rows);
    for (const ColumnBlock& block : blocks) {
      const Column& first = table.columns[block.first];
      visit(first.type, [&](auto zero) {
        widen<decltype(zero)>(first, block.size, weight, turn * kTurn, end,
                              &turn_spans[block.first]);
      });
    }
    const std::lock_guard lock(adding);
    for (std::size_t f = 0; f < all.size(); ++f) {
      all[f] = {std::min(all[f].low, turn_spans[f].low), std::max(all[f].high, turn_spans[f].high)};
    }
  });
  // That of the two zeros which does not depend on the order of rows.
  for (Span& span : all) span = {span.low + 0.0, span.high + 0.0};
  return all;
}

std::vector<Span> find_spans(const SparseTable& table, RowSampleWeights weight, Team& team) {
  const auto counts = [&](std::size_t i) { return weight.all_ones() || weight.stored(i) > 0.0; };
  std::size_t rows = 0;  // of positive weight
  for (std::size_t i = 0; i < table.rows; ++i) rows += counts(i) ? 1 : 0;
  std::vector<Span> spans(table.columns);
  team.for_each(table.columns, 2.0 * static_cast<double>(table.entries()), [&](std::size_t f) {
    Span& span = spans[f];
    std::size_t n = 0;
    const auto widen = [&](double x) {  // NaN is neither less nor more
      span.low = x < span.low ? x : span.low;
      span.high = x > span.high ? x : span.high;
    };
    const auto end = static_cast<std::size_t>(table.starts[f + 1]);
    for (auto k = static_cast<std::size_t>(table.starts[f]); k < end; ++k) {
      if (!counts(static_cast<std::size_t>(table.entry_rows[k]))) continue;
      ++n;
      visit(table.values.type,
            [&](auto zero) { widen(static_cast<double>(value_at<decltype(zero)>(table, k))); });
    }
    if (n < rows) widen(0.0);
    span = {span.low + 0.0, span.high + 0.0};
  });
  return spans;
}

}  // namespace properboost
