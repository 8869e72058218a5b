// The look-up table: every bin of a feature is a cell (BoostLR section 7), or its bins form the
// best few cells.
#pragma once

#include <array>
#include <numeric>
#include <optional>

#include "properboost/learners/few_cells.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/learners/smoothing.hpp"

namespace properboost::learners {

class TableLearner final : public FeatureLearner {
 public:
  static constexpr const char* name = "table";
  using Fields = TableFields;
  TableLearner(const Fields& fields, const LearnerOptions& options)
      : FeatureLearner(options),
        smoothing_(fields.smoothing),
        most_(fields.max_cells),
        least_saving_(fields.min_saving) {}
  bool cuts_in_two() const noexcept override { return false; }
  bool has_shares() const noexcept override { return smoothing_.exchanges(); }

  // The sums of a grid's few cells are of many rows.
  bool shrinks(const FeatureCells& feature) const noexcept override {
    return !crosses(feature, most_);
  }
  bool counts_rows() const noexcept override { return most_ > 0 && least_saving_ > 0.0; }

  double cost(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
              const EffectiveRows& rows) const override {
    std::array<Cell, kMaxCodes> buffer;
    const FeatureCells smooth = smoothed(feature, buffer);
    if (most_ > 0) return CellCutter(smooth, criterion, r, most_, least(rows)).cut().cost;
    return criterion.cost(smooth.cells, smooth.width(), r);
  }

  // One cell per code: the sums as they are, since smooth or shrunk ones would have to be charged
  // for less than the number of cells.
  double statistic(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
                   const EffectiveRows& rows) const override {
    if (most_ > 0) {
      std::array<Cell, kMaxCodes> buffer;
      const FeatureCells smooth = smoothed(feature, buffer);
      const CellCutter cutter(smooth, criterion, r, most_, least(rows));
      if (crosses(feature, most_)) return cutter.cut().statistic(feature, rows);  // of all or none
      const std::optional<Split> first = cutter.find_first_cut();
      if (!first) return 0.0;
      return CellCutter(smooth, criterion, r, most_).cut_on(*first).statistic(feature, rows);
    }
    return chi_square(feature.cells, feature.width(), rows);
  }

  double freedom(const FeatureCells& feature) const override {
    if (most_ > 0) return freedom_of_few_cells(feature, most_);
    if (feature.are_in_order()) return freedom_in_order(feature);
    return static_cast<double>(feature.occupied_codes()) - 1.0;
  }

  Partition partition(const FeatureCells& feature, const Criterion& criterion,
                      const Regularizers& r, const EffectiveRows& rows) const override {
    std::array<Cell, kMaxCodes> buffer;
    const FeatureCells smooth = smoothed(feature, buffer);
    Partition p;
    if (most_ > 0) {
      p = CellCutter(smooth, criterion, r, most_, least(rows)).cut().partition(smooth);
    } else {
      const std::size_t n = smooth.width();
      p.cells.assign(smooth.cells, smooth.cells + n);
      p.occupied.assign(smooth.occupied, smooth.occupied + n);
      std::iota(p.cell_of.begin(), p.cell_of.end(), std::uint8_t{0});
      p.shares = {{1.0, p.cell_of}};
    }
    if (!smoothing_.smooths(feature)) return p;
    p.shares.clear();
    if (!has_shares()) return p;
    p.shares = smoothing_.shares(feature);
    if (most_ == 0) return p;  // a cell is a code
    for (RowShare& share : p.shares) {
      for (std::uint8_t& cell : share.cell_of) cell = p.cell_of[cell];
    }
    return p;
  }

 private:
  LeastSaving least(const EffectiveRows& rows) const { return {least_saving_, rows}; }

  // The feature with smooth sums, which are in the buffer, or as it is.
  FeatureCells smoothed(const FeatureCells& feature, std::array<Cell, kMaxCodes>& buffer) const {
    if (!smoothing_.smooths(feature)) return feature;
    smoothing_.smooth(feature, buffer.data());
    return {buffer.data(), feature.occupied, feature.bins, feature.directions};
  }

  const Smoothing smoothing_;
  const std::size_t most_;  // cells; 0 for one per code
  const double least_saving_;
};

}  // namespace properboost::learners
