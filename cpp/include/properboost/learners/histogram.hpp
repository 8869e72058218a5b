// The histogram weak learner: every bin is a cell (BoostLR section 7; a look-up table).
#pragma once

#include <algorithm>
#include <utility>

#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class Histogram final : public FeatureLearner {
 public:
  static constexpr const char* name = "histogram";
  explicit Histogram(const LearnerOptions& options) : smoothing_(options.smoothing) {}

  double cost(const FeatureCells& feature, const Response& response,
              const Regularizers& r) const override {
    if (!smooths(feature)) return response.cost(feature.cells, feature.width(), r);
    std::array<Cell, kMaxCodes> cells;
    smooth(feature, cells.data());
    return response.cost(cells.data(), feature.width(), r);
  }

  Partition partition(const FeatureCells& feature, const Response&,
                      const Regularizers&) const override {
    Partition p;
    const std::size_t n = feature.width();
    p.cells.assign(feature.cells, feature.cells + n);
    p.occupied.assign(feature.occupied, feature.occupied + n);
    for (std::size_t b = 0; b < n; ++b) p.cell_of[b] = static_cast<std::uint8_t>(b);
    if (!smooths(feature)) {
      p.shares = {{1.0, p.cell_of}};
      return p;
    }
    smooth(feature, p.cells.data());
    RowShare left{smoothing_, p.cell_of};
    RowShare right{smoothing_, p.cell_of};
    for (std::size_t b = 1; b < static_cast<std::size_t>(feature.bins->bins()); ++b) {
      left.cell_of[b] = p.cell_of[b - 1];
      right.cell_of[b - 1] = p.cell_of[b];
    }
    p.shares = {{1.0 - 2.0 * smoothing_, p.cell_of}, left, right};
    return p;
  }

 private:
  bool smooths(const FeatureCells& feature) const {
    return smoothing_ > 0.0 && feature.bins->ordered() && feature.bins->bins() > 1;
  }

  // Each ordered bin gives a share of its weight to its neighbours, the ends keeping what would
  // fall off.  The missing bin has no neighbours.
  void smooth(const FeatureCells& feature, Cell* out) const {
    const Cell* in = feature.cells;
    const auto n = static_cast<std::size_t>(feature.bins->bins());
    const auto blend = [&](double left, double centre, double right) {
      return (1.0 - 2.0 * smoothing_) * centre + smoothing_ * (left + right);
    };
    for (std::size_t b = 0; b < n; ++b) {
      const Cell& left = in[b == 0 ? 0 : b - 1];
      const Cell& right = in[b + 1 == n ? b : b + 1];
      out[b].positive = blend(left.positive, in[b].positive, right.positive);
      out[b].negative = blend(left.negative, in[b].negative, right.negative);
      out[b].curvature = blend(left.curvature, in[b].curvature, right.curvature);
    }
    std::copy(in + n, in + feature.width(), out + n);
  }

  double smoothing_;
};

}  // namespace properboost::learners
