// Omega-R.AdaBoost: boosting the regularised exponential loss of rados,
//
//     1/n sum_j exp(-theta . rado_j + Omega(theta)),
//
// one coordinate of theta per round (Nock, NIPS 2016, Algorithms 1 and 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/rado/regularizers/regularizer.hpp"

namespace properboost {

class Team;

struct RadoRound {
  std::int32_t feature;
  double edge;      // r, in [-1, 1]
  double step;      // alpha: the addition to theta
  double penalty;   // delta: the addition to Omega
  double log_loss;  // the logarithm of the regularised loss after the round
};

struct RadoBoosting {
  // Rado j's coordinate k is rados[j * features + k].  All are finite, and the largest of a
  // coordinate is in [1e-150, 1e150] in size, so that squares of steps are finite, or 0.
  const double* rados;
  std::size_t n_rados;
  std::size_t features;
  std::size_t rounds;
  double largest_edge;  // gamma: edges beyond are taken to be this
  Penalty& penalty;     // Omega, at 0
};

// Edges are at most this in size, so that steps are finite even if all rados agree.
constexpr double kLargestEdge = 1.0 - 1e-9;

// A round's feature is that of largest |r| - delta; of those within 1e-10 of it the lowest wins,
// and coordinates that are 0 in all rados are left alone.  There is no round if all are, nor after
// the penalties of all of them have left the range of float64.  `progress` is called on the calling
// thread after every round, with the number of rounds and the logarithm of the loss after the last
// one; it may throw.
std::vector<RadoRound> boost_rados(const RadoBoosting& boosting,
                                   const std::function<void(std::size_t, double)>& progress,
                                   Team& team);

}  // namespace properboost
