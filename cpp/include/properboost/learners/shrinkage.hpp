// Cells without an order shrunk towards their common mean, by their number of rows.
//
// The classes' difference in a category is its effect and chance.  The effects of categories are
// modelled as scattered about their common mean.  The variance is estimated from the excess of
// chi-square over its mean by chance (the method of moments for random effects; DerSimonian and
// Laird 1986), and a category keeps the share of its difference that is not chance.  A category of
// few rows has little evidence.
//
// A round's differences are the residuals of other rounds: small ones, of features with strong
// effects.  So the variance is not its mean but the largest plausible value, and where a few
// categories could be anything they stay as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "properboost/histogram/cells.hpp"
#include "properboost/learners/contrast.hpp"

namespace properboost::learners {

// Scatters of the chi-square by which chance may be less than its mean.
constexpr double kScatters = 3.0;

// The feature with shrunk sums, which are in the buffer, or as it is: if its bins have an order, or
// if it is not known how many rows count.
inline FeatureCells shrunk(const FeatureCells& feature, const EffectiveRows& rows,
                           std::array<Cell, kMaxCodes>& buffer) {
  if (feature.bins->ordered() || !rows.known()) return feature;
  const std::size_t n = feature.width();
  double positive = 0.0, negative = 0.0;
  for (std::size_t b = 0; b < n; ++b) {
    positive += feature.cells[b].positive;
    negative += feature.cells[b].negative;
  }
  if (!(positive > 0.0) || !(negative > 0.0)) return feature;
  // The classes' shares in a cell, and how many of both classes' rows it holds.
  const double share = rows.positive / (rows.positive + rows.negative);
  const double all_rows = 1.0 / rows.inverse();
  std::array<double, kMaxCodes> p, q, mean;
  double chi_square = 0.0, squares = 0.0, freedom = -1.0;
  for (std::size_t b = 0; b < n; ++b) {
    p[b] = feature.cells[b].positive / positive;
    q[b] = feature.cells[b].negative / negative;
    mean[b] = share * p[b] + (1.0 - share) * q[b];
    if (!(mean[b] > 0.0)) continue;
    chi_square += all_rows * ((p[b] - q[b]) * (p[b] - q[b]) / mean[b]);
    squares += mean[b] * mean[b];
    freedom += 1.0;
  }
  const double by_chance = freedom - kScatters * std::sqrt(2.0 * freedom);
  if (!(by_chance > 0.0)) return feature;
  const double variance = std::max(0.0, chi_square - by_chance) / (all_rows * (1.0 - squares));
  double p_sum = 0.0, q_sum = 0.0;
  for (std::size_t b = 0; b < n; ++b) {
    const double signal = all_rows * mean[b] * variance;
    const double factor = signal / (signal + 1.0);
    p[b] = mean[b] + factor * (p[b] - mean[b]);
    q[b] = mean[b] + factor * (q[b] - mean[b]);
    p_sum += p[b];
    q_sum += q[b];
  }
  for (std::size_t b = 0; b < n; ++b) {  // the sums of the classes are kept
    buffer[b] = {positive * (p[b] / p_sum), negative * (q[b] / q_sum), feature.cells[b].curvature};
  }
  return {buffer.data(), feature.occupied, feature.bins, feature.directions};
}

}  // namespace properboost::learners
