// The lanes of one batch, classes of a joint model, as planners see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/margins/blocks_together.hpp"
#include "properboost/margins/coupled_rows.hpp"
#include "properboost/margins/coupled_strip.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

class Team;

class CoupledBatch final : public BatchMargins {
 public:
  // The lanes from the first one on, with these roles by segment.  All arguments must outlive it.
  CoupledBatch(const CoupledRows& rows, const MovedRows& moved, std::size_t first,
               std::size_t lanes, const std::vector<SegmentRoles>& roles, FurtherLanes further);

  std::size_t lanes() const noexcept override { return width_; }
  double training_weight(std::size_t /*lane*/) const noexcept override {
    return rows_.training_weight;
  }
  const float* weight() const noexcept override { return weight_.data(); }
  const float* curvature() const noexcept override {
    return curvature_.empty() ? nullptr : curvature_.data();
  }
  const float* against() const noexcept override {
    return against_.empty() ? nullptr : against_.data();
  }
  const float* shares() const noexcept override {
    return shares_.empty() ? nullptr : shares_.data();
  }
  std::uint64_t renewals() const noexcept override { return moved_.renewals; }
  const LaneUnits& cell_units() const noexcept override { return units_; }
  double most_weight(std::size_t /*lane*/) const noexcept override { return moved_.largest.weight; }
  double directional_slope(const Move& direction, Team& team) override;
  std::unique_ptr<RowsByCell> rows_by_cell(std::size_t lane, const std::uint8_t* codes,
                                           const std::vector<RowShare>& shares, std::size_t n_cells,
                                           Team& team) override;

  void begin() {
    if (!weight_.empty()) return;
    weight_.assign(rows_.codes.rows * width_, 0.0F);
    if (further_.any()) return;
    if (rows_.needs_curvature) curvature_.assign(rows_.codes.rows * width_, 0.0F);
    if (rows_.labels.any()) against_.assign(rows_.codes.rows * width_, 0.0F);
  }
  void forget() {
    weight_ = {};
    curvature_ = {};
    against_ = {};
  }
  // Gets the sums of a lane's weights, and curvatures.
  void set_units(std::size_t lane, const CellUnits& units) noexcept {
    units_[lane] = units;
    if (further_.any()) units_[lane + further_.against] = units;
    if (further_.curvature > 0) units_[lane + further_.curvature].weight = units.curvature;
  }
  std::size_t first() const noexcept { return first_; }
  std::size_t models() const noexcept { return models_; }
  // Keeps the weights of some rows.
  void store(const CoupledStrip& strip);
  // Sums the weights of one feature into its cells.
  void fill(const CellsOfFeature& cells, Aligned<unsigned char>& memory, Team& team) const;

 private:
  // Writes the numbers of n rows in all lanes, [lane][row] and lanes so far apart, as [row][lane].
  void spread(const float* from, std::size_t stride, std::size_t n, float* to) const;
  // The same of all numbers of a strip's rows from `place` on.
  void spread_all(const CoupledStrip& strip, std::size_t place, std::size_t n, float* to) const;

  const CoupledRows& rows_;
  const MovedRows& moved_;
  const std::size_t first_, models_, width_;
  const FurtherLanes further_;
  const std::vector<SegmentRoles>& roles_;
  std::vector<RowBlock> blocks_;          // of the segments that it trains on
  std::vector<BlocksTogether> together_;  // of those
  Aligned<float> weight_, curvature_;
  // With soft labels, [row][lane]: weights that are no further lanes, and the classes' shares.
  Aligned<float> against_, shares_;
  LaneUnits units_{};
};

}  // namespace properboost
