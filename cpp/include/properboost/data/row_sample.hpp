// The sample of rows that bin edges are found from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

// The rows of positive weight that have the least hashes, at most `size` of them.  A hash is of the
// seed and of the number of such rows before, so neither rows of weight 0 nor how rows are cut into
// batches change the sample.
class RowSample {
 public:
  RowSample(std::size_t size, std::uint64_t seed);

  // Adds the next n rows, and returns those that are in the sample so far, the first of them as 0.
  std::vector<std::int64_t> add(std::size_t n, RowSampleWeights weight);

  // The rows of the sample in ascending order, counted from the first that was added.
  std::vector<std::int64_t> rows() const;

 private:
  struct HashedRow {
    std::uint64_t hash;
    std::int64_t row;
  };
  static void keep_least(std::vector<HashedRow>& drawn, std::size_t size);

  std::size_t size_;
  std::uint64_t seed_;
  std::uint64_t counted_ = 0;
  std::int64_t seen_ = 0;
  std::uint64_t bound_ = std::numeric_limits<std::uint64_t>::max();  // no larger hash is drawn
  std::vector<HashedRow> drawn_;
};

// The sample of n rows together.
std::vector<std::int64_t> sample_rows(std::size_t n, RowSampleWeights weight, std::size_t size,
                                      std::uint64_t seed);

}  // namespace properboost
