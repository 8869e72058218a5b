// Sums over random subsets by the method of the four Russians: of six rows there are 64 subsets,
// whose sums make a table, and a rado adds one entry of it.  A table costs as many additions as 64
// rados, and saves five additions per rado; the ten tables of sixty rows stay in the first cache.
#include "properboost/rado/rados.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/random.hpp"

namespace properboost {
namespace {

constexpr std::size_t kTableRows = 6;
constexpr std::size_t kSubsets = 1u << kTableRows;
constexpr std::size_t kTables = 10;
constexpr std::size_t kWordRows = kTables * kTableRows;  // rows whose signs are one draw
constexpr std::size_t kWords = 128;       // words of rows that are summed before float64
constexpr std::size_t kMostRados = 4096;  // whose sums stay in the second cache
constexpr std::size_t kLineBytes = 64;    // of the features summed together
constexpr double kAdd = 0.3;              // nanoseconds for a line of features
constexpr double kFill = 1000.0;          // for reading a line of a word's rows and its tables
constexpr double kDraw = 1.0;             // for a word's signs
constexpr double kSlice = 5e7;            // between two calls of progress

template <class T>
constexpr std::size_t kLine = kLineBytes / sizeof(T);

bool is_single(const RadoFeature& feature) {
  const auto* const number = std::get_if<NumberFeature>(&feature);
  return number == nullptr || visit(number->column->type, [](auto zero) {
           return std::is_same_v<ValueOf<decltype(zero)>, float>;
         });
}

// Neighbouring features that are summed together, in one type.
struct FeatureLine {
  std::size_t first, size;
  bool single;
};

std::vector<FeatureLine> cut_lines(const std::vector<RadoFeature>& features) {
  std::vector<FeatureLine> lines;
  for (std::size_t k = 0; k < features.size(); ++k) {
    const bool single = is_single(features[k]);
    const std::size_t most = single ? kLine<float> : kLine<double>;
    if (lines.empty() || lines.back().single != single || lines.back().size == most) {
      lines.push_back({k, 0, single});
    }
    ++lines.back().size;
  }
  return lines;
}

// Whether a line's features are the numbers of neighbouring columns of a row-major table.
template <class T>
bool side_by_side(const std::vector<RadoFeature>& features, const FeatureLine& line) {
  const auto* const first = std::get_if<NumberFeature>(&features[line.first]);
  for (std::size_t c = 0; c < line.size; ++c) {
    const auto* const number = std::get_if<NumberFeature>(&features[line.first + c]);
    if (first == nullptr || number == nullptr) return false;
    const Column& column = *number->column;
    if (column.type != (std::is_same_v<T, float> ? Type::f32 : Type::f64) ||
        column.stride != first->column->stride ||
        column.data - first->column->data != static_cast<std::ptrdiff_t>(c * sizeof(T))) {
      return false;
    }
  }
  return true;
}

// out[i * kLine] = the feature in row begin + i.
template <class T>
void read_feature(const RadoFeature& feature, std::size_t begin, std::size_t size, T* out) {
  const auto read = [&](const Column& column, const auto& entry_of) {
    const char* at = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
    visit(column.type, [&](auto value) {
      for (std::size_t i = 0; i < size; ++i, at += column.stride) {
        std::memcpy(&value, at, sizeof value);  // a strided field need not be aligned
        out[i * kLine<T>] = entry_of(value);
      }
    });
  };
  if (const auto* const number = std::get_if<NumberFeature>(&feature)) {
    read(*number->column, [](auto value) { return static_cast<T>(value); });
  } else if (const auto* const indicator = std::get_if<LevelFeature>(&feature)) {
    read(*indicator->column, [level = indicator->level](auto value) {
      if constexpr (std::is_floating_point_v<decltype(value)>) {
        return T(value == static_cast<decltype(value)>(level) ? 1 : 0);  // it may be no integer
      } else {
        return T(static_cast<std::int64_t>(value) == level ? 1 : 0);
      }
    });
  } else {
    for (std::size_t i = 0; i < size; ++i) out[i * kLine<T>] = T(1);
  }
}

// The given rows within a word: the first of them, their number, and the bit of the first.
struct WordRows {
  std::size_t begin, size, shift;
};

// edges[i * kLine + c] = y_i x_ic for a line's features and the rows of a word, 0 where there is no
// row or feature.  Returns the first feature that is not finite, or the number of features.
template <class T>
std::size_t read_edges(const std::vector<RadoFeature>& features, const FeatureLine& line,
                       bool side_by_side, const std::uint8_t* positive, const WordRows& rows,
                       T* edges) {
  std::fill_n(edges, kWordRows * kLine<T>, T(0));
  edges += rows.shift * kLine<T>;
  if (side_by_side) {
    const Column& column = *std::get<NumberFeature>(features[line.first]).column;
    const char* at = column.data + static_cast<std::ptrdiff_t>(rows.begin) * column.stride;
    for (std::size_t i = 0; i < rows.size; ++i, at += column.stride) {
      std::memcpy(edges + i * kLine<T>, at, line.size * sizeof(T));
    }
  } else {
    for (std::size_t c = 0; c < line.size; ++c) {
      read_feature(features[line.first + c], rows.begin, rows.size, edges + c);
    }
  }
  std::array<T, kLine<T>> check{};  // stays 0 if everything is finite
  for (std::size_t i = 0; i < rows.size; ++i, edges += kLine<T>) {
    const T sign = positive[rows.begin + i] != 0 ? T(1) : T(-1);
    for (std::size_t c = 0; c < kLine<T>; ++c) {
      edges[c] *= sign;
      check[c] += edges[c] * T(0);
    }
  }
  const auto bad =
      std::find_if(check.begin(), check.begin() + static_cast<std::ptrdiff_t>(line.size),
                   [](T x) { return !(x == T(0)); });
  return static_cast<std::size_t>(bad - check.begin());
}

// tables[(g * kSubsets + s) * kLine + c]: the sum of edges over the subset s of the g-th six rows.
template <class T>
void fill_tables(const T* edges, T* tables) {
  for (std::size_t g = 0; g < kTables; ++g, tables += kSubsets * kLine<T>) {
    std::fill_n(tables, kLine<T>, T(0));
    for (std::size_t half = 1; half < kSubsets; half *= 2, edges += kLine<T>) {
      T* const with = tables + half * kLine<T>;
      for (std::size_t s = 0; s < half; ++s) {
        for (std::size_t c = 0; c < kLine<T>; ++c) {
          with[s * kLine<T> + c] = tables[s * kLine<T> + c] + edges[c];
        }
      }
    }
  }
}

// sums[j * kLine + c] += the sum of the rows of a word that are in rado j.
template <class T, std::size_t... Part>
void add_word(const T* tables, const std::uint64_t* included, std::size_t n_rados, T* sums,
              std::index_sequence<Part...> /*tables*/) {
  for (std::size_t j = 0; j < n_rados; ++j, sums += kLine<T>) {
    const std::uint64_t word = included[j];
    const std::array<const T*, kTables> entry = {
        tables + (Part * kSubsets + (word >> (kTableRows * Part)) % kSubsets) * kLine<T>...};
    std::array<T, kLine<T>> sum;
    for (std::size_t c = 0; c < kLine<T>; ++c) sum[c] = sums[c] + (... + entry[Part][c]);
    std::copy(sum.begin(), sum.end(), sums);
  }
}

// A loop that takes `nanoseconds` on one thread, with `progress` called between slices of it.
template <class Task>
void for_each_in_slices(std::size_t n, double nanoseconds, const std::function<void()>& progress,
                        Team& team, const Task& task) {
  const double shared = kSlice * static_cast<double>(team.size());
  const std::size_t slices = std::min(n, 1 + static_cast<std::size_t>(nanoseconds / shared));
  for (std::size_t s = 0; s < slices; ++s) {
    const std::size_t begin = n * s / slices, end = n * (s + 1) / slices;
    team.for_each(end - begin, nanoseconds / static_cast<double>(slices),
                  [&](std::size_t i) { task(begin + i); });
    progress();
  }
}

class Maker {
 public:
  Maker(const std::vector<RadoFeature>& features, const RadoRows& rows, std::uint64_t seed,
        std::size_t n_rados, double* out)
      : features_(features),
        rows_(rows),
        lines_(cut_lines(features)),
        out_(out),
        keys_(n_rados),
        included_(std::min(kWords, rows.size / kWordRows + 2) * n_rados),
        first_bad_(features.size()) {
    for (std::size_t j = 0; j < n_rados; ++j) keys_[j] = stream_key(seed, j);
    std::fill_n(out, n_rados * features.size(), 0.0);
  }

  std::size_t run(const std::function<void()>& progress, Team& team) {
    const std::size_t parts = (keys_.size() + kMostRados - 1) / kMostRados;
    // Words number all owners' rows: the first and the last may hold other owners' rows.
    const std::uint64_t end = (rows_.first + rows_.size + kWordRows - 1) / kWordRows;
    for (std::uint64_t word = rows_.first / kWordRows; word < end; word += kWords) {
      const auto words = static_cast<std::size_t>(std::min<std::uint64_t>(kWords, end - word));
      const double drawing = kDraw * static_cast<double>(keys_.size());
      for_each_in_slices(words, drawing * static_cast<double>(words), progress, team,
                         [&](std::size_t w) { draw(word + w, w); });
      const double adding =
          kFill * static_cast<double>(parts) + kAdd * kTables * static_cast<double>(keys_.size());
      for_each_in_slices(lines_.size() * parts, adding * static_cast<double>(lines_.size() * words),
                         progress, team, [&](std::size_t task) {
                           const FeatureLine& line = lines_[task / parts];
                           const std::size_t part = task % parts;
                           const std::size_t begin = keys_.size() * part / parts;
                           const std::size_t size = keys_.size() * (part + 1) / parts - begin;
                           if (line.single) {
                             add<float>(line, word, words, begin, size);
                           } else {
                             add<double>(line, word, words, begin, size);
                           }
                         });
    }
    return first_bad_;
  }

 private:
  WordRows find(std::uint64_t word) const {
    const std::uint64_t first = std::max(word * kWordRows, rows_.first);
    const std::uint64_t end = std::min((word + 1) * kWordRows, rows_.first + rows_.size);
    return {static_cast<std::size_t>(first - rows_.first), static_cast<std::size_t>(end - first),
            static_cast<std::size_t>(first % kWordRows)};
  }

  // Which rows of a word each rado includes: those whose sign is that of their class.
  void draw(std::uint64_t word, std::size_t w) {
    const WordRows rows = find(word);
    std::uint64_t other = ~std::uint64_t{0};  // rows of the negative class, and rows not given
    for (std::size_t i = 0; i < rows.size; ++i) {
      if (rows_.positive[rows.begin + i] != 0) other ^= std::uint64_t{1} << (rows.shift + i);
    }
    const std::uint64_t* const keys = keys_.data();
    std::uint64_t* const out = included_.data() + w * keys_.size();
    vectorized([=, n = keys_.size()] {
      for (std::size_t j = 0; j < n; ++j) out[j] = draw_bits(keys[j], word) ^ other;
    });
  }

  template <class T>
  void add(const FeatureLine& line, std::uint64_t word, std::size_t words, std::size_t begin,
           std::size_t size) {
    Aligned<T> edges(kWordRows * kLine<T>), tables(kTables * kSubsets * kLine<T>);
    Aligned<T> sums(size * kLine<T>, T(0));
    const bool adjacent = side_by_side<T>(features_, line);
    std::size_t finite = line.size;
    for (std::size_t w = 0; w < words; ++w) {
      const WordRows rows = find(word + w);
      const std::uint64_t* const included = included_.data() + w * keys_.size() + begin;
      vectorized([&] {
        finite = std::min(
            finite, read_edges<T>(features_, line, adjacent, rows_.positive, rows, edges.data()));
        fill_tables<T>(edges.data(), tables.data());
        add_word<T>(tables.data(), included, size, sums.data(),
                    std::make_index_sequence<kTables>());
      });
    }
    for (std::size_t j = 0; j < size; ++j) {
      double* const to = out_ + (begin + j) * features_.size() + line.first;
      const T* const from = sums.data() + j * kLine<T>;
      for (std::size_t c = 0; c < line.size; ++c) to[c] += static_cast<double>(from[c]);
    }
    if (finite < line.size) refuse(line.first + finite);
  }

  void refuse(std::size_t feature) {
    std::size_t known = first_bad_.load();
    while (feature < known && !first_bad_.compare_exchange_weak(known, feature)) {
    }
  }

  const std::vector<RadoFeature>& features_;
  const RadoRows& rows_;
  std::vector<FeatureLine> lines_;
  double* out_;
  std::vector<std::uint64_t> keys_;      // one per rado
  std::vector<std::uint64_t> included_;  // [word][rado]: bits of rows
  std::atomic<std::size_t> first_bad_;
};

}  // namespace

std::size_t make_rados(const std::vector<RadoFeature>& features, const RadoRows& rows,
                       std::uint64_t seed, std::size_t n_rados, double* out,
                       const std::function<void()>& progress, Team& team) {
  return Maker(features, rows, seed, n_rados, out).run(progress, team);
}

}  // namespace properboost
