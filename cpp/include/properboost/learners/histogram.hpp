// The histogram weak learner: every bin is a cell (BoostLR section 7; a look-up table).
#pragma once

#include <array>
#include <numeric>

#include "properboost/learners/learner.hpp"
#include "properboost/learners/smoothing.hpp"

namespace properboost::learners {

class Histogram final : public FeatureLearner {
 public:
  static constexpr const char* name = "histogram";
  explicit Histogram(const LearnerOptions& options)
      : FeatureLearner(options), smoothing_(options.smoothing) {}
  bool cuts_in_two() const noexcept override { return false; }
  bool knows_shares() const noexcept override { return smoothing_.exchanges(); }

  double cost(const FeatureCells& feature, const Criterion& criterion,
              const Regularizers& r) const override {
    if (!smoothing_.smooths(feature)) return criterion.cost(feature.cells, feature.width(), r);
    std::array<Cell, kMaxCodes> cells;
    smoothing_.smooth(feature, cells.data());
    return criterion.cost(cells.data(), feature.width(), r);
  }

  // The bins as they are: smoothing would have to be charged for less than their number.
  Contrast contrast(const FeatureCells& feature, const Criterion&, const Regularizers&,
                    const EffectiveRows& rows) const override {
    return {chi_square(feature.cells, feature.width(), rows),
            static_cast<double>(feature.occupied_codes()) - 1.0};
  }

  Partition partition(const FeatureCells& feature, const Criterion&,
                      const Regularizers&) const override {
    Partition p;
    const std::size_t n = feature.width();
    p.cells.assign(feature.cells, feature.cells + n);
    p.occupied.assign(feature.occupied, feature.occupied + n);
    std::iota(p.cell_of.begin(), p.cell_of.end(), std::uint8_t{0});
    if (!smoothing_.smooths(feature)) {
      p.shares = {{1.0, p.cell_of}};
      return p;
    }
    smoothing_.smooth(feature, p.cells.data());
    if (knows_shares()) p.shares = smoothing_.shares(feature);
    return p;
  }

 private:
  Smoothing smoothing_;
};

}  // namespace properboost::learners
