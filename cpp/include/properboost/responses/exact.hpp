// The value that minimises each cell's risk.  The feature is the one that `real` would choose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "properboost/responses/real.hpp"

namespace properboost::responses {

struct Exact : ResponseDefaults {
  static constexpr const char* name = "exact";
  static double cost(const Cell& c, const Regularizers& r) { return Real::cost(c, r); }

  // Newton's method in all cells at once, each inside a bracket that its slopes' signs keep
  // shrinking.  Two pseudo-rows, one per class, keep the minimiser of a pure cell finite.
  static void values(const Cell* cells, std::size_t n, const Regularizers& r, RowsByCell& rows,
                     double* out) {
    constexpr int kMostRounds = 60;
    constexpr double kTolerance = 1e-6;  // of a scaled margin; they are float32
    std::vector<double> low(n, -r.largest), high(n, r.largest), slope(n), curvature(n);
    std::fill_n(out, n, 0.0);
    for (int round = 0; round < kMostRounds; ++round) {
      rows.evaluate(out, slope.data(), curvature.data());
      double moved = 0.0;
      for (std::size_t b = 0; b < n; ++b) {
        double pseudo_slope = 0.0;
        double pseudo_curvature = 0.0;
        rows.evaluate_pseudo_rows(out[b], &pseudo_slope, &pseudo_curvature);
        const double s = slope[b] + r.pseudo_rows * pseudo_slope;
        const double c = curvature[b] + r.pseudo_rows * pseudo_curvature;
        if (s == 0.0 || cells[b].weight() == 0.0) continue;
        (s > 0.0 ? low[b] : high[b]) = out[b];
        double next = c > 0.0 ? out[b] + s / c : low[b];
        if (!(next > low[b] && next < high[b])) next = 0.5 * (low[b] + high[b]);
        moved = std::max(moved, std::abs(next - out[b]));
        out[b] = next;
      }
      if (moved <= kTolerance) break;
    }
    for (std::size_t b = 0; b < n; ++b) out[b] *= r.gain;
  }
};

}  // namespace properboost::responses
