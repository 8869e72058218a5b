// Means of bins: the values of a numeric feature for models that are linear in them.
//
// A mean is of the finite training values in a bin, by their sample weight.  Sums are exact
// (core/exact_sum.hpp), so no order of the rows changes a mean.  Unlike sums of values that are
// rounded to a grid, they need no pass for the smallest and largest value first, which a stream
// cannot have.  A bin without finite values (only infinite ones, or none) has its neighbour's mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/exact_sum.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/table.hpp"

namespace properboost {

class Team;

// The means of each feature's bins, which ascend; none of a categorical feature.  `weight` is that
// of the n rows of the order.
std::vector<std::vector<double>> find_bin_means(const Table& table, const Bins& bins,
                                                RowOrder order, std::size_t n,
                                                RowSampleWeights weight, Team& team);

// The sums of one bin.  Weights of one are counted.
struct BinSum {
  ExactSum values, weights;
  std::uint64_t rows = 0;
};

// The same of rows that come in batches: all sums are held, 280 KB for a feature of 255 bins.
class BinSums {
 public:
  // `bins` are borrowed.  No row's weight is larger than `largest`.
  BinSums(const Bins& bins, double largest);
  void add(const Table& table, RowOrder order, std::size_t n, RowSampleWeights weight, Team& team);
  std::vector<std::vector<double>> means() const;
  // The sums as whole numbers, which those of other rows can be added to.
  std::vector<std::int64_t> digits() const;
  void add_digits(const std::vector<std::int64_t>& digits);

 private:
  const Bins& bins_;
  double unit_;
  std::vector<std::vector<BinSum>> sums_;  // by feature
};

}  // namespace properboost
