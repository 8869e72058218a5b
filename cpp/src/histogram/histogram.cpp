#include "properboost/histogram/histogram.hpp"

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {

void Histogram::add_to(AllReduce& all_reduce) { all_reduce.sum(sums_.data(), sums_.size()); }

void Histogram::add_to(AllReduce& all_reduce, std::size_t f) {
  const std::size_t n = numbers_of(f);
  all_reduce.sum(positive(f), n).sum(negative(f), n);
  if (has_curvature_) all_reduce.sum(curvature(f), n);
}

void Histogram::all_reduce(std::size_t f, Team& team) {
  AllReduce all_reduce = team.all_reduce();
  add_to(all_reduce, f);
  all_reduce.run();
}

}  // namespace properboost
