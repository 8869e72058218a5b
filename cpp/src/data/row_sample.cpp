#include "properboost/data/row_sample.hpp"

#include <algorithm>
#include <stdexcept>

#include "properboost/core/random.hpp"

namespace properboost {

RowSample::RowSample(std::size_t size, std::uint64_t seed) : size_(size), seed_(seed) {
  if (size == 0) throw std::invalid_argument("size must be positive; got 0");
}

void RowSample::keep_least(std::vector<HashedRow>& drawn, std::size_t size) {
  if (drawn.size() <= size) return;
  // No two hashes are the same.
  std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(size - 1),
                   drawn.end(),
                   [](const HashedRow& a, const HashedRow& b) { return a.hash < b.hash; });
  drawn.resize(size);
}

std::vector<std::int64_t> RowSample::add(std::size_t n, RowSampleWeights weight) {
  std::vector<HashedRow> candidates;
  for (std::size_t i = 0; i < n; ++i) {
    if (!weight.all_ones() && !(weight.stored(i) > 0.0)) continue;
    const std::uint64_t hash = draw_bits(seed_, counted_++);
    if (hash > bound_) continue;
    candidates.push_back({hash, static_cast<std::int64_t>(i)});
    drawn_.push_back({hash, seen_ + static_cast<std::int64_t>(i)});
    if (drawn_.size() / 2 < size_) continue;
    keep_least(drawn_, size_);
    bound_ = drawn_[size_ - 1].hash;
  }
  seen_ += static_cast<std::int64_t>(n);
  std::vector<std::int64_t> rows;
  for (const HashedRow& drawn : candidates) {
    if (drawn.hash <= bound_) rows.push_back(drawn.row);
  }
  return rows;
}

std::vector<std::int64_t> RowSample::rows() const {
  auto least = drawn_;
  keep_least(least, size_);
  std::vector<std::int64_t> rows;
  for (const HashedRow& drawn : least) rows.push_back(drawn.row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::int64_t> sample_rows(std::size_t n, RowSampleWeights weight, std::size_t size,
                                      std::uint64_t seed) {
  RowSample sample(size, seed);
  sample.add(n, weight);
  return sample.rows();
}

}  // namespace properboost
