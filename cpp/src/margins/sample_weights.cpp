#include "properboost/margins/sample_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "properboost/core/exact_sum.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {

SampleWeights::SampleWeights(RowSampleWeights weight, std::size_t n, Team& team) {
  if (weight.all_ones()) return;
  ExactSum total = weight.add_up(0, n);
  auto rows = static_cast<std::int64_t>(n);
  AllReduce all_reduce = team.all_reduce();
  total.add_to(all_reduce);
  all_reduce.sum(rows).run();
  int exponent = 0;
  const double mean = std::frexp(total.value() / static_cast<double>(rows), &exponent);
  unit_ = std::ldexp(1.0, mean < std::sqrt(0.5) ? exponent - 1 : exponent);
  weights_.resize(std::max<std::size_t>(n, 1));  // they are not ones, even of no rows
  for (std::size_t i = 0; i < n; ++i) weights_[i] = scaled(weight[i]);
}

}  // namespace properboost
