#include "properboost/data/binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "properboost/core/parallel.hpp"
#include "properboost/data/edge_search.hpp"
#include "properboost/data/encode_tile.hpp"
#include "properboost/data/sparse_table.hpp"
#include "properboost/data/table.hpp"
#include "properboost/data/tiles.hpp"

namespace properboost {
namespace {

// Checks bin edges and counts the bins between them.
int count_bins(const std::vector<double>& edges) {
  if (edges.size() > kMaxCodes - 2) {
    throw std::invalid_argument("a numeric feature has at most 254 edges");
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (std::isnan(edges[i]) || (i > 0 && edges[i] <= edges[i - 1])) {
      throw std::invalid_argument("edges must be numbers in strictly ascending order");
    }
  }
  return static_cast<int>(edges.size()) + 1;
}

// Checks a grid and counts its cells.
int count_cells(const Grid& grid) {
  // Each by itself: the product may be beyond an int.
  for (const int levels : {grid.rows, grid.columns}) {
    if (levels < 1 || levels > kMaxCodes - 2) {
      throw std::invalid_argument("a grid has 1 to 254 rows and columns; got " +
                                  std::to_string(levels));
    }
  }
  return grid.rows * grid.columns;
}

// Half of each where their difference would be infinite.
double share_of_range(double x, double low, double high) {
  const double range = high - low;
  if (std::isfinite(range)) return (x - low) / range;
  return (0.5 * x - 0.5 * low) / (0.5 * high - 0.5 * low);
}

}  // namespace

FeatureBins::FeatureBins(const std::vector<double>& edges, const std::vector<double>& means)
    : ordered_(true), bins_(count_bins(edges)), search_(std::make_shared<const EdgeSearch>(edges)) {
  if (means.empty()) return;
  if (means.size() != static_cast<std::size_t>(bins_)) {
    throw std::invalid_argument("means must have an entry per bin");
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (!std::isfinite(means[i]) || (i > 0 && means[i] < means[i - 1])) {
      throw std::invalid_argument("means must be finite numbers in ascending order");
    }
  }
  if (!(means.back() > means.front())) return;
  auto positions = std::make_shared<std::array<double, kMaxCodes>>();
  positions->fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < means.size(); ++i) {
    (*positions)[i] = share_of_range(means[i], means.front(), means.back());
  }
  positions_ = std::move(positions);
}

FeatureBins::FeatureBins(int categories) : ordered_(false), bins_(categories) {
  if (categories < 1 || categories > kMaxCodes - 2) {
    throw std::invalid_argument("a categorical feature has 1 to 254 bins; got " +
                                std::to_string(categories));
  }
}

FeatureBins::FeatureBins(const Grid& grid) : FeatureBins(count_cells(grid)) {
  const auto holds = [](int ordered, int levels) { return ordered >= 0 && ordered <= levels; };
  if (!holds(grid.ordered_rows, grid.rows) || !holds(grid.ordered_columns, grid.columns)) {
    throw std::invalid_argument("a grid must not have more ordered levels than levels");
  }
  grid_ = grid;
  const auto make_levels = [](int levels, int ordered) {
    if (ordered == 0) return FeatureBins(levels);
    std::vector<double> edges(static_cast<std::size_t>(ordered) - 1);
    std::iota(edges.begin(), edges.end(), 0.0);
    return FeatureBins(edges);
  };
  levels_ = std::make_shared<const std::vector<FeatureBins>>(std::vector<FeatureBins>{
      make_levels(grid.rows, grid.ordered_rows), make_levels(grid.columns, grid.ordered_columns)});
}

template <class Value>
void FeatureBins::encode(const Value* x, std::size_t n, std::uint8_t* codes) const {
  if (ordered_) return search_->encode(x, n, static_cast<std::uint8_t>(missing()), codes);
  for (std::size_t i = 0; i < n; ++i) {
    const bool known = x[i] >= Value(0) && x[i] < static_cast<Value>(bins_);
    const int code = known ? static_cast<int>(x[i]) : x[i] == Value(-1) ? bins_ : bins_ + 1;
    codes[i] = static_cast<std::uint8_t>(code);
  }
}

template void FeatureBins::encode(const float*, std::size_t, std::uint8_t*) const;
template void FeatureBins::encode(const double*, std::size_t, std::uint8_t*) const;

Bins::Bins(std::vector<FeatureBins> features) : features_(std::move(features)), offsets_{0} {
  for (const FeatureBins& feature : features_) {
    offsets_.push_back(offsets_.back() + static_cast<std::size_t>(feature.width()));
  }
}

std::vector<std::size_t> Bins::all_features() const {
  std::vector<std::size_t> features(size());
  std::iota(features.begin(), features.end(), std::size_t{0});
  return features;
}

void Bins::encode(const Table& table, RowOrder order, std::size_t n, std::uint8_t* codes,
                  Team& team) const {
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table);
  const double nanoseconds = 2.0 * static_cast<double>(n * size());
  for_each_tile(n, nanoseconds, team, [&](const TileRows& rows) {
    for (const ColumnBlock& block : blocks) {
      encode_tile(*this, table, block, order, rows,
                  [&](std::size_t w) { return codes + block.wanted[w] * n + rows.begin; });
    }
  });
}

void Bins::encode(const SparseTable& table, std::uint8_t* codes, std::uint8_t* of_zero,
                  Team& team) const {
  constexpr std::size_t kTogether = 512;
  const double nanoseconds = 3.0 * static_cast<double>(table.entries() + size());
  team.for_each(size(), nanoseconds, [&](std::size_t f) {
    const double zero = 0.0;
    features_[f].encode(&zero, 1, of_zero + f);
    visit(table.values.type, [&](auto type) {
      using T = decltype(type);
      std::array<ValueOf<T>, kTogether> x;
      const auto end = static_cast<std::size_t>(table.starts[f + 1]);
      for (auto first = static_cast<std::size_t>(table.starts[f]); first < end;) {
        const std::size_t n = std::min(kTogether, end - first);
        for (std::size_t i = 0; i < n; ++i) x[i] = value_at<T>(table, first + i);
        features_[f].encode(x.data(), n, codes + first);
        first += n;
      }
    });
  });
}

}  // namespace properboost
