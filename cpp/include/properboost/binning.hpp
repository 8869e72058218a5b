// Binning: where each feature is cut, and the code of a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/parallel.hpp"
#include "properboost/table.hpp"

namespace properboost {

constexpr int kMaxCodes = 256;              // a code is one byte
constexpr std::size_t kBinningBlock = 512;  // rows read, cut and written at a time

// How one feature is cut.  Numeric: code(x) is the number of edges below x; one code more is
// missing. Categorical: the table already holds bins; codes after the last are missing, then
// unseen.
class FeatureBins {
 public:
  explicit FeatureBins(std::vector<double> edges);  // numeric; edges ascend
  explicit FeatureBins(int categories);             // categorical

  bool ordered() const noexcept { return ordered_; }
  int bins() const noexcept { return bins_; }
  int missing() const noexcept { return bins_; }
  int width() const noexcept { return bins_ + (ordered_ ? 1 : 2); }

  // codes[i] = code of the column's value in row order[begin + i], n <= kBinningBlock.
  void encode(const Column& column, RowOrder order, std::size_t begin, std::size_t n,
              std::uint8_t* codes) const;

 private:
  template <class T>
  void locate(const std::vector<T>& edges, const T* x, std::size_t n, std::uint8_t* codes) const;

  bool ordered_;
  int bins_;
  int levels_ = 0;              // of the binary search
  std::vector<double> edges_;   // padded with +inf to 2^levels - 1
  std::vector<float> edges32_;  // the same, rounded down: x > e and x > edges32 agree for float x
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
