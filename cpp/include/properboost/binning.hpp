// Binning: where each feature is cut, and the code of a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "properboost/parallel.hpp"
#include "properboost/table.hpp"

namespace properboost {

constexpr int kMaxCodes = 256;              // a code is one byte
constexpr std::size_t kBinningBlock = 512;  // rows read, cut and written at a time

// Counts the edges below a value.  A table over the leading bits of the value's sort key says where
// to begin, and few steps of a binary search remain: keys follow the scale of the values, so skewed
// and heavy-tailed columns are served as well as even ones.
template <class T>
class EdgeSearch {
 public:
  explicit EdgeSearch(const std::vector<double>& edges);

  // codes[i] = edges below x[i]; anything for NaN.
  void count_below(const T* x, std::size_t n, std::uint8_t* codes) const;

 private:
  using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr std::size_t kCells = 4096;

  template <int kSteps>
  void count(const T* x, std::size_t n, std::uint8_t* codes) const;

  std::vector<T> edges_;             // padded with +inf for the last steps
  std::vector<std::uint8_t> first_;  // edges in the cells before each
  Key low_ = 0, high_ = 0;           // of the edges' keys
  int shift_ = 0;                    // key bits within a cell
  int steps_ = 0;                    // of the binary search within a cell
};

// How one feature is cut.  Numeric: code(x) is the number of edges below x; one code more is
// missing.  Categorical: the table already holds bins; codes after the last are missing, then
// unseen.
class FeatureBins {
 public:
  explicit FeatureBins(const std::vector<double>& edges);  // numeric; edges ascend
  explicit FeatureBins(int categories);                    // categorical

  bool ordered() const noexcept { return ordered_; }
  int bins() const noexcept { return bins_; }
  int missing() const noexcept { return bins_; }
  int width() const noexcept { return bins_ + (ordered_ ? 1 : 2); }

  // codes[i] = code of the column's value in row order[begin + i], n <= kBinningBlock.
  void encode(const Column& column, RowOrder order, std::size_t begin, std::size_t n,
              std::uint8_t* codes) const;

 private:
  template <class T>
  void encode_numbers(const EdgeSearch<T>& search, const T* x, std::size_t n,
                      std::uint8_t* codes) const;

  bool ordered_;
  int bins_;
  EdgeSearch<float> search32_;  // for float32 columns
  EdgeSearch<double> search64_;
};

class Bins {
 public:
  explicit Bins(std::vector<FeatureBins> features);

  std::size_t size() const noexcept { return features_.size(); }
  const FeatureBins& operator[](std::size_t f) const noexcept { return features_[f]; }
  std::size_t offset(std::size_t f) const noexcept { return offsets_[f]; }  // features side by side
  std::size_t total_width() const noexcept { return offsets_.back(); }

  // Codes of n rows, feature-major: codes[f * n + i] is row order[i]'s.
  void encode(const Table& table, RowOrder order, std::size_t n, std::uint8_t* codes,
              Team& team) const;

 private:
  std::vector<FeatureBins> features_;
  std::vector<std::size_t> offsets_;
};

// Edges of every column for at most max_bins bins each, from at most sample_size of the rows with
// weight (all of them when weight is null).
std::vector<std::vector<double>> find_edges(const Table& table, const double* weight, int max_bins,
                                            std::size_t sample_size, std::uint64_t seed,
                                            Team& team);

}  // namespace properboost
