#include "properboost/histogram/histogram.hpp"

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {

void Histogram::add_to(Share& share) { share.sum(sums_.data(), sums_.size()); }

void Histogram::add_to(Share& share, std::size_t f) {
  const std::size_t n = numbers_of(f);
  share.sum(positive(f), n).sum(negative(f), n);
  if (has_curvature_) share.sum(curvature(f), n);
}

void Histogram::share(std::size_t f, Team& team) {
  Share share = team.share();
  add_to(share, f);
  share.go();
}

}  // namespace properboost
