#include "properboost/data/edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "properboost/core/parallel.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/random.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/edge_search.hpp"
#include "properboost/data/tiles.hpp"

namespace properboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double to_value(std::uint32_t key) {
  const std::uint32_t bits = (key >> 31) != 0 ? key & 0x7fff'ffffu : ~key;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return static_cast<double>(x);
}

double to_value(std::uint64_t key) {
  const std::uint64_t bits = (key >> 63) != 0 ? key & ~(std::uint64_t{1} << 63) : ~key;
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// No number has this sort key.
template <class Key>
constexpr Key kMissing = static_cast<Key>(~Key{0});

template <class Key>
struct Unweighted {
  Key key;
  static constexpr double weight = 1.0;
};

template <class Key>
struct Weighted {
  Key key;
  double weight;
};

// Least-significant-digit radix sort by key; digits on which all keys agree cost nothing.
template <class Item>
void sort_by_key(std::vector<Item>& items) {
  using Key = decltype(Item::key);
  if (items.size() < 512) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.key < b.key; });
    return;
  }
  constexpr unsigned kBits = 11;
  constexpr unsigned kDigits = (8 * sizeof(Key) + kBits - 1) / kBits;
  constexpr std::size_t kRadix = std::size_t{1} << kBits;
  const auto digit = [](Key key, unsigned d) { return (key >> (d * kBits)) & (kRadix - 1); };
  Key varies = 0;
  for (const Item& item : items) varies |= item.key ^ items.front().key;
  std::vector<Item> other(items.size());
  for (unsigned d = 0; d < kDigits; ++d) {
    if (digit(varies, d) == 0) continue;
    std::array<std::uint32_t, kRadix> count{};
    for (const Item& item : items) ++count[digit(item.key, d)];
    std::exclusive_scan(count.begin(), count.end(), count.begin(), 0u);
    for (const Item& item : items) other[count[digit(item.key, d)]++] = item;
    items.swap(other);
  }
}

// Distinct values in ascending order.  before[i] is the weight of those below the i-th, and the
// last entry of all; weight[i] the i-th's own, or empty where rows are counted, whose sums are
// exact.
template <class Key>
struct Distinct {
  std::vector<Key> key;
  std::vector<double> before;
  std::vector<double> weight;

  std::size_t size() const { return key.size(); }
  double value(std::size_t i) const { return to_value(key[i]); }
  double weight_of(std::size_t i) const {
    return weight.empty() ? before[i + 1] - before[i] : weight[i];
  }
};

// Sums the weight of each value of a column with few values, in the order of the rows; returns
// nothing if there are more.
template <class Item>
auto tally_few(const std::vector<Item>& items) {
  using Key = decltype(Item::key);
  constexpr unsigned kBits = 10;
  constexpr std::size_t kSlots = std::size_t{1} << kBits, kFew = kSlots / 4;
  constexpr auto kGoldenRatio = static_cast<Key>(kStride >> (64 - 8 * sizeof(Key)));
  std::array<Weighted<Key>, kSlots> slots;
  slots.fill({kMissing<Key>, 0.0});
  std::vector<Weighted<Key>> values;
  std::size_t used = 0;
  for (const Item& item : items) {
    std::size_t at = static_cast<Key>(item.key * kGoldenRatio) >> (8 * sizeof(Key) - kBits);
    while (slots[at].key != item.key && slots[at].key != kMissing<Key>) at = (at + 1) % kSlots;
    if (slots[at].key == kMissing<Key>) {
      if (++used > kFew) return values;
      slots[at].key = item.key;
    }
    slots[at].weight += item.weight;
  }
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(values),
               [](const auto& slot) { return slot.key != kMissing<Key>; });
  return values;
}

// The distinct values of sorted items.
template <bool kWeighted, class Item>
auto merge_equal(const std::vector<Item>& items) {
  Distinct<decltype(Item::key)> result;
  result.key.resize(items.size());
  result.before.resize(items.size() + 1);
  if (kWeighted) result.weight.resize(items.size());
  std::size_t n = 0;
  double below = 0.0;   // weight of the values before the n-th
  double weight = 0.0;  // the n-th's, summed by itself: as much for one row of weight 2 as for two
  for (std::size_t i = 0; i < items.size(); ++i) {
    // Without a branch: the processor cannot predict which values are equal.
    const bool next = i > 0 && items[i - 1].key != items[i].key;
    n += next ? 1 : 0;
    below = next ? below + weight : below;
    weight = (next ? 0.0 : weight) + items[i].weight;
    result.key[n] = items[i].key;
    result.before[n + 1] = below + weight;
    if constexpr (kWeighted) result.weight[n] = weight;
  }
  const std::size_t size = items.empty() ? 0 : n + 1;
  result.key.resize(size);
  result.before.resize(size + 1);
  if (kWeighted) result.weight.resize(size);
  return result;
}

template <class Item>
auto find_distinct(std::vector<Item>& items) {
  constexpr bool kWeighted = std::is_same_v<Item, Weighted<decltype(Item::key)>>;
  auto few = tally_few(items);
  if (!few.empty()) {
    sort_by_key(few);
    return merge_equal<kWeighted>(few);
  }
  sort_by_key(items);
  return merge_equal<kWeighted>(items);
}

// An edge between neighbours a < b: a is not above it and b is.
double edge_between(double a, double b) {
  if (b == kInfinity) return std::numeric_limits<double>::max();
  if (a == -kInfinity) return a;
  const double middle = a / 2 + b / 2;
  return middle >= a && middle < b ? middle : a;
}

// Neighbouring light values, none of which fills a bin by itself, and the bins they share.
struct Run {
  std::size_t begin, end;
  double before;  // where its values' cumulative weights start
  double weight;
  double remainder = 0.0;
  int bins = 0;

  int distinct() const { return static_cast<int>(end - begin); }
};

// Divides `bins` among the runs in proportion to their weight, by largest remainder; no run gets
// more than its number of distinct values.
void share_bins(std::vector<Run>& runs, int bins) {
  double light = 0.0;
  for (const Run& run : runs) light += run.weight;
  int room = 0;
  for (Run& run : runs) {
    const double quota = light > 0.0 ? bins * run.weight / light : 0.0;
    run.bins = std::min(static_cast<int>(quota), run.distinct());
    run.remainder = quota - std::floor(quota);
    room += run.distinct() - run.bins;
  }
  for (const Run& run : runs) bins -= run.bins;
  std::vector<Run*> order;
  for (Run& run : runs) order.push_back(&run);
  std::stable_sort(order.begin(), order.end(),
                   [](const Run* a, const Run* b) { return a->remainder > b->remainder; });
  for (bins = std::min(bins, room); bins > 0;) {
    for (Run* run : order) {
      if (bins > 0 && run->bins < run->distinct()) {
        ++run->bins;
        --bins;
      }
    }
  }
}

// The values of a column that fill a bin by themselves, and the runs of light values between them.
struct Division {
  std::vector<std::size_t> heavy;
  std::vector<Run> runs;
};

// Appends the run of these values, unless it is empty.
template <class Key>
void add_run(std::vector<Run>& runs, Distinct<Key>& values, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  double before = values.before[begin];
  if (!values.weight.empty()) {
    // Sums that contain a heavy value have lost digits, so those of a run begin at 0.
    before = 0.0;
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) values.before[i + 1] = sum += values.weight[i];
  }
  runs.push_back({begin, end, before, values.before[end] - before});
}

// A value is heavy if it holds more than 1/max_bins of the weight.
template <class Key>
Division divide(Distinct<Key>& values, int max_bins) {
  const std::size_t n = values.size();
  const double total = values.before[n];
  Division division;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (values.weight_of(i) * max_bins <= total) continue;
    add_run(division.runs, values, begin, i);
    division.heavy.push_back(i);
    begin = i + 1;
  }
  add_run(division.runs, values, begin, n);
  return division;
}

// Appends the values at which the bins of a run start.  A bin ends with the first value that fills
// its share of the run's weight, and holds at least one value.
template <class Key>
void add_starts(std::vector<std::size_t>& starts, const Distinct<Key>& values, const Run& run) {
  starts.push_back(run.begin);
  const auto up_to = values.before.begin() + 1;  // up_to[i] includes the weight of value i
  std::size_t next = run.begin;
  for (int full = 1; full < run.bins && next < run.end; ++full) {
    const auto last = std::partition_point(
        up_to + static_cast<std::ptrdiff_t>(next), up_to + static_cast<std::ptrdiff_t>(run.end),
        [&](double weight) { return (weight - run.before) * run.bins < full * run.weight; });
    next = static_cast<std::size_t>(last - up_to) + 1;
    if (next <= run.end) starts.push_back(next);
  }
}

// The values at which bins start, in ascending order, for a column with more values than bins.
template <class Key>
std::vector<std::size_t> find_starts(Distinct<Key>& values, int max_bins) {
  const std::size_t n = values.size();
  Division division = divide(values, max_bins);
  share_bins(division.runs, max_bins - static_cast<int>(division.heavy.size()));
  std::vector<std::size_t> starts;
  for (const std::size_t i : division.heavy) {
    starts.push_back(i);
    starts.push_back(i + 1);
  }
  std::vector<std::size_t> joined;  // starts that are none, because two bins are joined there
  for (const Run& run : division.runs) {
    if (run.bins > 0) {
      add_starts(starts, values, run);
    } else if (run.end < n) {  // the run joins the heavy value after it
      starts.push_back(run.begin);
      joined.push_back(run.end);
    } else {  // or, at the end, the one before it
      joined.push_back(run.begin);
    }
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (const std::size_t i : joined) {
    starts.erase(std::remove(starts.begin(), starts.end(), i), starts.end());
  }
  return starts;
}

// The edges of at most max_bins bins.  With enough bins each value has its bin.  Otherwise a heavy
// value has its bin, because plain quantiles would spend several edges on it, and the light values
// share the other bins as quantiles.
template <class Key>
std::vector<double> quantile_edges(Distinct<Key> values, int max_bins) {
  const std::size_t n = values.size();
  std::vector<std::size_t> starts(n);
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  if (n > static_cast<std::size_t>(max_bins)) starts = find_starts(values, max_bins);
  std::vector<double> edges;
  for (const std::size_t i : starts) {
    if (i > 0 && i < n) edges.push_back(edge_between(values.value(i - 1), values.value(i)));
  }
  return edges;
}

// The power of two that brings the largest weight of these rows near 1, so that no sum overflows.
double find_scale(const std::vector<std::int64_t>& rows, RowSampleWeights weight) {
  double largest = 0.0;
  for (const std::int64_t row : rows) {
    largest = std::max(largest, weight[static_cast<std::size_t>(row)]);
  }
  return largest > 0.0 ? std::min(std::ldexp(1.0, -std::ilogb(largest)), 0x1p1000) : 1.0;
}

// The edges of a column whose sampled rows have these keys, in the order of `rows`; weights are
// multiplied by `scale`.
template <class Key>
std::vector<double> edges_of(const Key* keys, const std::vector<std::int64_t>& rows,
                             RowSampleWeights weight, double scale, int max_bins) {
  const auto of_items = [&](auto items, const auto& make) {
    items.resize(rows.size());
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      items[n] = make(i);
      n += keys[i] != kMissing<Key> ? 1 : 0;
    }
    items.resize(n);
    return quantile_edges(find_distinct(items), max_bins);
  };
  if (weight.all_ones()) {
    return of_items(std::vector<Unweighted<Key>>(),
                    [&](std::size_t i) { return Unweighted<Key>{keys[i]}; });
  }
  return of_items(std::vector<Weighted<Key>>(), [&](std::size_t i) {
    return Weighted<Key>{keys[i], scale * weight.stored(static_cast<std::size_t>(rows[i]))};
  });
}

// Adds a value that none of the others equals.
template <class Key>
void add_value(Distinct<Key>& values, Key key, double weight, bool is_weighted) {
  const auto at = std::lower_bound(values.key.begin(), values.key.end(), key) - values.key.begin();
  std::vector<double> weights;
  for (std::size_t i = 0; i < values.size(); ++i) weights.push_back(values.weight_of(i));
  weights.insert(weights.begin() + at, weight);
  values.key.insert(values.key.begin() + at, key);
  values.before.assign(1, 0.0);
  for (const double w : weights) values.before.push_back(values.before.back() + w);
  if (is_weighted) values.weight = std::move(weights);
}

template <class T>
using KeyOf = decltype(sort_key(ValueOf<T>{}));

std::size_t key_size(Type type) {
  return visit(type, [](auto zero) { return sizeof(KeyOf<decltype(zero)>); });
}

// Keys of a tile of the sample: of column c of the block in keys[c * n_sample].
template <class T>
void read_keys(const Table& table, const ColumnBlock& block, const std::vector<std::int64_t>& rows,
               const TileRows& tile, KeyOf<T>* keys) {
  const RowOrder order{rows.data()};
  ValueOf<T> x[Tile::kColumns * Tile::kRows];
  read<T>(table, block, order, tile.begin, tile.size, x);
  for (std::size_t c = 0; c < block.size; ++c) {
    prefetch(table, block, order, tile, c, block.size);
    const ValueOf<T>* const from = x + c * Tile::kRows;
    KeyOf<T>* const to = keys + c * rows.size() + tile.begin;
    for (std::size_t i = 0; i < tile.size; ++i) {
      to[i] = std::isnan(from[i]) ? kMissing<KeyOf<T>> : sort_key(from[i]);
    }
  }
}

// A sample of the rows of a sparse table.
struct SparseSample {
  const SparseTable& table;
  const std::vector<std::int64_t>& rows;
  RowSampleWeights weight;
  double scale;  // of weights
  std::vector<std::uint8_t> contains;

  SparseSample(const SparseTable& of, const std::vector<std::int64_t>& sampled, RowSampleWeights w)
      : table(of),
        rows(sampled),
        weight(w),
        scale(w.all_ones() ? 1.0 : find_scale(sampled, w)),
        contains(of.rows, 0) {
    for (const std::int64_t row : rows) contains[static_cast<std::size_t>(row)] = 1;
  }

  double weight_of(std::int64_t row) const {
    return weight.all_ones() ? 1.0 : scale * weight.stored(static_cast<std::size_t>(row));
  }
  // The weight of the rows that are not among `others`, which ascend; in the order of rows.
  double weight_without(const std::vector<std::int32_t>& others) const {
    if (weight.all_ones()) return static_cast<double>(rows.size() - others.size());
    auto next = others.begin();
    double sum = 0.0;
    for (const std::int64_t row : rows) {
      if (next != others.end() && *next == row) {
        ++next;
      } else {
        sum += weight_of(row);
      }
    }
    return sum;
  }
};

// The edges of column f; make(key, row) makes an item.
template <class T, class Make>
std::vector<double> edges_of_entries(const SparseSample& sample, std::size_t f, int max_bins,
                                     const Make& make) {
  using Key = KeyOf<T>;
  using Item = decltype(make(Key{}, std::int64_t{}));
  constexpr bool kWeighted = std::is_same_v<Item, Weighted<Key>>;
  const Key zero = sort_key(ValueOf<T>{});
  std::vector<Item> items;
  std::vector<std::int32_t> others;  // rows whose value is not 0
  const SparseTable& table = sample.table;
  const auto end = static_cast<std::size_t>(table.starts[f + 1]);
  for (auto k = static_cast<std::size_t>(table.starts[f]); k < end; ++k) {
    const std::int32_t row = table.entry_rows[k];
    const ValueOf<T> x = value_at<T>(table, k);
    if (sample.contains[static_cast<std::size_t>(row)] == 0 || x == ValueOf<T>{}) continue;
    others.push_back(row);
    if (!std::isnan(x)) items.push_back(make(sort_key(x), row));
  }
  Distinct<Key> values = find_distinct(items);
  if (others.size() < sample.rows.size()) {
    add_value(values, zero, sample.weight_without(others), kWeighted);
  }
  return quantile_edges(std::move(values), max_bins);
}

void check_max_bins(int max_bins) {
  if (max_bins < 2 || max_bins > kMaxCodes - 1) {
    throw std::invalid_argument("max_bins must be between 2 and 255; got " +
                                std::to_string(max_bins));
  }
}

}  // namespace

std::vector<std::vector<double>> find_edges(const SparseTable& table,
                                            const std::vector<std::int64_t>& rows,
                                            RowSampleWeights weight, int max_bins, Team& team) {
  check_max_bins(max_bins);
  const SparseSample sample(table, rows, weight);
  const std::size_t read = table.entries() + (weight.all_ones() ? 0 : rows.size() * table.columns);
  std::vector<std::vector<double>> edges(table.columns);
  team.for_each(table.columns, 20.0 * static_cast<double>(read), [&](std::size_t f) {
    visit(table.values.type, [&](auto type) {
      using T = decltype(type);
      using Key = KeyOf<T>;
      if (weight.all_ones()) {
        edges[f] = edges_of_entries<T>(sample, f, max_bins, [](Key key, std::int64_t /*row*/) {
          return Unweighted<Key>{key};
        });
      } else {
        edges[f] = edges_of_entries<T>(sample, f, max_bins, [&](Key key, std::int64_t row) {
          return Weighted<Key>{key, sample.weight_of(row)};
        });
      }
    });
  });
  return edges;
}

std::vector<std::vector<double>> find_edges(const Table& table,
                                            const std::vector<std::int64_t>& rows,
                                            RowSampleWeights weight, int max_bins, Team& team) {
  check_max_bins(max_bins);
  const double scale = weight.all_ones() ? 1.0 : find_scale(rows, weight);
  const std::vector<ColumnBlock> blocks = cut_into_column_blocks(table);
  std::vector<std::vector<double>> edges(table.columns.size());

  // The sample is read along the rows, and sorted along the columns: of as many blocks at a time as
  // fit this memory.
  constexpr std::size_t kMemory = std::size_t{32} << 20;
  std::unique_ptr<unsigned char[]> memory;  // not a vector, which would be cleared first
  std::size_t memory_size = 0;
  for (std::size_t first = 0; first < blocks.size();) {
    std::vector<std::size_t> place;  // of each block's keys
    std::size_t bytes = 0;
    std::size_t last = first;
    for (; last < blocks.size(); ++last) {
      const std::size_t more =
          blocks[last].size * rows.size() * key_size(table.columns[blocks[last].first].type);
      if (last > first && bytes + more > kMemory) break;
      place.push_back(bytes);
      bytes += (more + 63) / 64 * 64;
    }
    if (memory_size < bytes) {
      memory.reset(new unsigned char[bytes]);
      memory_size = bytes;
    }
    const std::size_t columns =
        blocks[last - 1].first + blocks[last - 1].size - blocks[first].first;
    const auto values = static_cast<double>(rows.size() * columns);
    for_each_tile(rows.size(), 2.0 * values, team, [&](const TileRows& tile) {
      for (std::size_t g = first; g < last; ++g) {
        visit(table.columns[blocks[g].first].type, [&](auto zero) {
          using T = decltype(zero);
          read_keys<T>(table, blocks[g], rows, tile,
                       reinterpret_cast<KeyOf<T>*>(memory.get() + place[g - first]));
        });
      }
    });
    team.for_each(columns, 10.0 * values, [&](std::size_t c) {
      const std::size_t f = blocks[first].first + c;
      std::size_t g = first;
      while (blocks[g].first + blocks[g].size <= f) ++g;
      visit(table.columns[f].type, [&](auto zero) {
        using Key = KeyOf<decltype(zero)>;
        const auto* keys = reinterpret_cast<const Key*>(memory.get() + place[g - first]);
        edges[f] =
            edges_of(keys + (f - blocks[g].first) * rows.size(), rows, weight, scale, max_bins);
      });
    });
    first = last;
  }
  return edges;
}

}  // namespace properboost
