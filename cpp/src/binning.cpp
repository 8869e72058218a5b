#include "properboost/binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

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

// A value as an unsigned integer of the same order, so that it can be sorted by digits.
std::uint32_t to_key(float x) {
  std::uint32_t bits;
  x += 0.0f;  // -0 and +0 are one value
  std::memcpy(&bits, &x, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000u;
}

std::uint64_t to_key(double x) {
  std::uint64_t bits;
  x += 0.0;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

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
  if (items.size() < 512) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.key < b.key; });
    return;
  }
  constexpr unsigned kBits = 11;
  constexpr unsigned kDigits = (8 * sizeof(Item::key) + kBits - 1) / kBits;
  constexpr std::size_t kRadix = std::size_t{1} << kBits;
  std::vector<std::array<std::size_t, kRadix>> counts(kDigits);
  for (auto& count : counts) count.fill(0);
  for (const Item& item : items) {
    for (unsigned d = 0; d < kDigits; ++d) ++counts[d][(item.key >> (d * kBits)) & (kRadix - 1)];
  }
  std::vector<Item> other(items.size());
  for (unsigned d = 0; d < kDigits; ++d) {
    auto& count = counts[d];
    if (std::find(count.begin(), count.end(), items.size()) != count.end()) continue;
    std::exclusive_scan(count.begin(), count.end(), count.begin(), std::size_t{0});
    for (const Item& item : items) other[count[(item.key >> (d * kBits)) & (kRadix - 1)]++] = item;
    items.swap(other);
  }
}

// Distinct values in ascending order, with the weight each holds.
struct Distinct {
  std::vector<double> value;
  std::vector<double> weight;
};

template <class Item>
Distinct distinct(std::vector<Item>& items) {
  sort_by_key(items);
  Distinct result;
  result.value.reserve(items.size());
  result.weight.reserve(items.size());
  for (std::size_t i = 0; i < items.size();) {
    double weight = 0.0;
    std::size_t j = i;
    for (; j < items.size() && items[j].key == items[i].key; ++j) weight += items[j].weight;
    result.value.push_back(to_value(items[i].key));
    result.weight.push_back(weight);
    i = j;
  }
  return result;
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
  double weight = 0.0;
  double remainder = 0.0;
  int bins = 0;

  int distinct() const { return static_cast<int>(end - begin); }
};

// Deals `bins` to the runs in proportion to their weight, by largest remainder; no run gets more
// than it has distinct values.
void share_bins(std::vector<Run>& runs, int bins) {
  double light = 0.0;
  for (const Run& run : runs) light += run.weight;
  int room = 0;
  for (Run& run : runs) {
    const double quota = bins * run.weight / light;
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

// Edges of at most max_bins bins.  A value that holds more than 1/max_bins of the weight is a bin
// of its own (plain quantiles would waste several edges on it); the light values between share the
// rest as quantiles of their own.
std::vector<double> quantile_edges(const Distinct& d, int max_bins) {
  const std::size_t n = d.value.size();
  std::vector<std::uint8_t> starts(n + 1, 0);  // whether a bin starts at this distinct value
  if (n <= static_cast<std::size_t>(max_bins)) {
    std::fill(starts.begin(), starts.end(), std::uint8_t{1});
  } else {
    const double total = std::accumulate(d.weight.begin(), d.weight.end(), 0.0);
    std::vector<Run> runs;
    int left = max_bins;
    for (std::size_t i = 0; i < n; ++i) {
      if (d.weight[i] * max_bins > total) {
        starts[i] = starts[i + 1] = 1;
        --left;
        continue;
      }
      if (runs.empty() || runs.back().end != i) runs.push_back({i, i});
      runs.back().end = i + 1;
      runs.back().weight += d.weight[i];
    }
    share_bins(runs, left);
    for (const Run& run : runs) {
      if (run.bins == 0) {  // shares the bin of the heavy value after it, or of the one before
        starts[run.begin] = run.end < n;
        if (run.end < n) starts[run.end] = 0;
        continue;
      }
      starts[run.begin] = 1;
      double so_far = 0.0;
      int closed = 0;
      for (std::size_t i = run.begin; i < run.end; ++i) {
        so_far += d.weight[i];
        if (so_far * run.bins >= (closed + 1) * run.weight) {
          starts[i + 1] = 1;
          ++closed;
        }
      }
    }
  }
  std::vector<double> edges;
  for (std::size_t i = 1; i < n; ++i) {
    if (starts[i] != 0) edges.push_back(edge_between(d.value[i - 1], d.value[i]));
  }
  return edges;
}

// The rows that edges are found from: all that have weight, or one drawn from each of sample_size
// equal stretches of them.
std::vector<std::int64_t> sample_rows(std::size_t n, const double* weight, std::size_t sample_size,
                                      std::uint64_t seed) {
  std::vector<std::int64_t> rows;
  if (weight != nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      if (weight[i] > 0.0) rows.push_back(static_cast<std::int64_t>(i));
    }
    n = rows.size();
  }
  if (n <= sample_size) {
    if (weight == nullptr) {
      rows.resize(n);
      std::iota(rows.begin(), rows.end(), std::int64_t{0});
    }
    return rows;
  }
  std::vector<std::int64_t> sample(sample_size);
  std::uint64_t state = seed;
  for (std::size_t k = 0; k < sample_size; ++k) {
    // splitmix64 (Steele, Lea and Flood 2014): the same sequence with every standard library.
    std::uint64_t z = (state += 0x9e37'79b9'7f4a'7c15u);
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
    z ^= z >> 31;
    const double stretch = static_cast<double>(n) / static_cast<double>(sample_size);
    const double where =
        (static_cast<double>(k) + static_cast<double>(z >> 11) * 0x1p-53) * stretch;
    const std::size_t i = std::min(static_cast<std::size_t>(where), n - 1);
    sample[k] = weight == nullptr ? static_cast<std::int64_t>(i) : rows[i];
  }
  return sample;
}

// float32 columns are sorted as floats: half the digits.
template <class T>
Distinct read_distinct(const Column& column, const std::vector<std::int64_t>& rows,
                       const double* weight) {
  using Value = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using Key = decltype(to_key(Value{}));
  std::vector<Value> values(rows.size());
  read<T>(column, RowOrder{rows.data()}, 0, rows.size(), values.data());
  if (weight == nullptr) {
    std::vector<Unweighted<Key>> items;
    items.reserve(rows.size());
    for (const Value x : values) {
      if (!std::isnan(x)) items.push_back({to_key(x)});
    }
    return distinct(items);
  }
  std::vector<Weighted<Key>> items;
  items.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!std::isnan(values[i])) items.push_back({to_key(values[i]), weight[rows[i]]});
  }
  return distinct(items);
}

}  // namespace

std::vector<std::vector<double>> find_edges(const Table& table, const double* weight, int max_bins,
                                            std::size_t sample_size, std::uint64_t seed,
                                            Team& team) {
  if (max_bins < 2 || max_bins > kMaxCodes - 1) {
    throw std::invalid_argument("max_bins must be between 2 and 255; got " +
                                std::to_string(max_bins));
  }
  const std::vector<std::int64_t> rows = sample_rows(table.rows, weight, sample_size, seed);
  std::vector<std::vector<double>> edges(table.columns.size());
  const double nanoseconds = 20.0 * static_cast<double>(rows.size() * edges.size());
  team.for_each(edges.size(), nanoseconds, [&](std::size_t f) {
    visit(table.columns[f].type, [&](auto zero) {
      const Distinct d = read_distinct<decltype(zero)>(table.columns[f], rows, weight);
      edges[f] = quantile_edges(d, max_bins);
    });
  });
  return edges;
}

template <class T>
EdgeSearch<T>::EdgeSearch(const std::vector<double>& edges) {
  for (const double e : edges) edges_.push_back(round_down<T>(e) + T(0));
  if (!edges_.empty()) {
    low_ = to_key(edges_.front());
    high_ = to_key(edges_.back());
  }
  while (((high_ - low_) >> shift_) >= kCells) ++shift_;
  std::vector<std::size_t> held(((high_ - low_) >> shift_) + 1, 0);
  for (const T e : edges_) ++held[(to_key(e) - low_) >> shift_];
  std::size_t before = 0;
  for (const std::size_t here : held) {
    first_.push_back(static_cast<std::uint8_t>(before));
    before += here;
  }
  while ((std::size_t{1} << steps_) <= *std::max_element(held.begin(), held.end())) ++steps_;
  edges_.resize(edges_.size() + (std::size_t{1} << steps_), std::numeric_limits<T>::infinity());
}

// Without branches, and a step at a time over a run of values, so that their loads overlap.
template <class T>
template <int kSteps>
void EdgeSearch<T>::count(const T* x, std::size_t n, std::uint8_t* codes) const {
  constexpr std::size_t kRun = 8;
  const T* const edges = edges_.data();
  const std::uint8_t* const first = first_.data();
  const Key low = low_;
  const Key high = high_;
  const int shift = shift_;
  const auto count_run = [&](const T* value, std::uint8_t* code) {
    std::uint32_t below[kRun];
    for (std::size_t i = 0; i < kRun; ++i) {
      const Key key = std::min(std::max(to_key(value[i]), low), high);
      below[i] = first[(key - low) >> shift];
    }
    for (int step = kSteps - 1; step >= 0; --step) {
      const std::uint32_t half = (1u << step) - 1;
      for (std::size_t i = 0; i < kRun; ++i) {
        below[i] += static_cast<std::uint32_t>(edges[below[i] + half] < value[i]) << step;
      }
    }
    for (std::size_t i = 0; i < kRun; ++i) code[i] = static_cast<std::uint8_t>(below[i]);
  };
  std::size_t i = 0;
  for (; i + kRun <= n; i += kRun) count_run(x + i, codes + i);
  if (i < n) {
    T value[kRun] = {};
    std::uint8_t code[kRun];
    std::copy(x + i, x + n, value);
    count_run(value, code);
    std::copy_n(code, n - i, codes + i);
  }
}

template <class T>
void EdgeSearch<T>::count_below(const T* x, std::size_t n, std::uint8_t* codes) const {
  switch (steps_) {
    case 0: return count<0>(x, n, codes);
    case 1: return count<1>(x, n, codes);
    case 2: return count<2>(x, n, codes);
    case 3: return count<3>(x, n, codes);
    case 4: return count<4>(x, n, codes);
    case 5: return count<5>(x, n, codes);
    case 6: return count<6>(x, n, codes);
    case 7: return count<7>(x, n, codes);
    default: return count<8>(x, n, codes);
  }
}

namespace {

const std::vector<double>& checked(const std::vector<double>& edges) {
  if (edges.size() > kMaxCodes - 2) {
    throw std::invalid_argument("a numeric feature has at most 254 edges");
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (std::isnan(edges[i]) || (i > 0 && edges[i] <= edges[i - 1])) {
      throw std::invalid_argument("edges must be numbers in strictly ascending order");
    }
  }
  return edges;
}

}  // namespace

FeatureBins::FeatureBins(const std::vector<double>& edges)
    : ordered_(true),
      bins_(static_cast<int>(checked(edges).size()) + 1),
      search32_(edges),
      search64_(edges) {}

FeatureBins::FeatureBins(int categories)
    : ordered_(false), bins_(categories), search32_({}), search64_({}) {
  if (categories < 1 || categories > kMaxCodes - 2) {
    throw std::invalid_argument("a categorical feature has 1 to 254 bins; got " +
                                std::to_string(categories));
  }
}

template <class T>
void FeatureBins::encode_numbers(const EdgeSearch<T>& search, const T* x, std::size_t n,
                                 std::uint8_t* codes) const {
  search.count_below(x, n, codes);
  const auto missing_code = static_cast<std::uint8_t>(missing());
  for (std::size_t i = 0; i < n; ++i) codes[i] = std::isnan(x[i]) ? missing_code : codes[i];
}

void FeatureBins::encode(const Column& column, RowOrder order, std::size_t begin, std::size_t n,
                         std::uint8_t* codes) const {
  if (!ordered_) {
    std::int32_t bin[kBinningBlock];
    visit(column.type, [&](auto zero) { read<decltype(zero)>(column, order, begin, n, bin); });
    for (std::size_t i = 0; i < n; ++i) {
      const int code = bin[i] >= 0 && bin[i] < bins_ ? bin[i] : bin[i] == -1 ? bins_ : bins_ + 1;
      codes[i] = static_cast<std::uint8_t>(code);
    }
  } else if (column.type == Type::f32) {
    float x[kBinningBlock] = {};
    read<float>(column, order, begin, n, x);
    encode_numbers(search32_, x, n, codes);
  } else {
    double x[kBinningBlock] = {};
    visit(column.type, [&](auto zero) { read<decltype(zero)>(column, order, begin, n, x); });
    encode_numbers(search64_, x, n, codes);
  }
}

Bins::Bins(std::vector<FeatureBins> features) : features_(std::move(features)), offsets_{0} {
  for (const FeatureBins& feature : features_) {
    offsets_.push_back(offsets_.back() + static_cast<std::size_t>(feature.width()));
  }
}

void Bins::encode(const Table& table, RowOrder order, std::size_t n, std::uint8_t* codes,
                  Team& team) const {
  // A task is a stretch of rows over all features: a row-major table is then read once, in order.
  const std::size_t blocks = (n + kBinningBlock - 1) / kBinningBlock;
  team.for_each(blocks, 3.0 * static_cast<double>(n * size()), [&](std::size_t block) {
    const std::size_t begin = block * kBinningBlock;
    const std::size_t rows = std::min(kBinningBlock, n - begin);
    for (std::size_t f = 0; f < size(); ++f) {
      features_[f].encode(table.columns[f], order, begin, rows, codes + f * n + begin);
    }
  });
}

}  // namespace properboost
