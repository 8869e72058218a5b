// Histograms: the cells of all features.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "properboost/core/aligned.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/histogram/lane_units.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

class AllReduce;
class Team;

// The sums of the cells of all features in all lanes, [code][lane], in whole units.
class Histogram {
 public:
  Histogram(const Bins& bins, std::size_t lanes, bool needs_curvature)
      : bins_(&bins), lanes_(lanes), has_curvature_(needs_curvature) {
    sums_.resize(numbers_in_all());
  }

  static std::size_t bytes(const Bins& bins, std::size_t lanes, bool needs_curvature) noexcept {
    return bins.total_width() * lanes * (needs_curvature ? 3 : 2) * sizeof(std::int64_t);
  }

  // Sums of feature f; null if there is no curvature.
  std::int64_t* positive(std::size_t f) noexcept { return sums_.data() + first(f); }
  std::int64_t* negative(std::size_t f) noexcept { return positive(f) + all(); }
  std::int64_t* curvature(std::size_t f) noexcept {
    return has_curvature_ ? negative(f) + all() : nullptr;
  }

  void clear(std::size_t f) {
    const std::size_t n = numbers_of(f);
    std::fill_n(positive(f), n, std::int64_t{0});
    std::fill_n(negative(f), n, std::int64_t{0});
    if (has_curvature_) std::fill_n(curvature(f), n, std::int64_t{0});
  }

  // The units of the sums.
  void set_units(const LaneUnits& units) noexcept { units_ = units; }

  // Whether the other one has the same cells.
  bool is_for(const Histogram& other) const noexcept {
    return bins_ == other.bins_ && lanes_ == other.lanes_ && has_curvature_ == other.has_curvature_;
  }

  // Adds the sums of other rows in feature f.
  void add(const Histogram& other, std::size_t f) {
    const std::size_t n = numbers_of(f);
    for (std::size_t k = first(f); k < numbers_in_all(); k += all()) {
      for (std::size_t i = k; i < k + n; ++i) sums_[i] += other.sums_[i];
    }
  }

  // Adds the sums of other processes' rows when the all-reduce runs, in all features or in one; or
  // in one at once.
  void add_to(AllReduce& all_reduce);
  void add_to(AllReduce& all_reduce, std::size_t f);
  void all_reduce(std::size_t f, Team& team);

  // One lane's cells of feature f, gathered into `buffer`; `occupied` has a byte for each of its
  // codes.
  FeatureCells feature(std::size_t f, std::size_t lane, const std::uint8_t* occupied,
                       std::array<Cell, kMaxCodes>& buffer, FurtherLanes further = {}) const {
    const FeatureCells result{buffer.data(), occupied, &(*bins_)[f]};
    std::size_t i = first(f) + lane;
    const CellUnits& units = units_[lane];
    if (further.any()) {
      for (std::size_t b = 0; b < result.width(); ++b, i += lanes_) {
        const std::size_t against = i + further.against;
        std::int64_t curvature = 0;
        if (further.curvature > 0) curvature = sums_[i + further.curvature];
        if (has_curvature_) curvature = sums_[i + 2 * all()] + sums_[against + 2 * all()];
        buffer[b] = {units.weight.value(sums_[i]), units.weight.value(sums_[against + all()]),
                     units.curvature.value(curvature)};
      }
      return result;
    }
    for (std::size_t b = 0; b < result.width(); ++b, i += lanes_) {
      buffer[b] = {units.weight.value(sums_[i]), units.weight.value(sums_[i + all()]),
                   has_curvature_ ? units.curvature.value(sums_[i + 2 * all()]) : 0.0};
    }
    return result;
  }

 private:
  std::size_t first(std::size_t f) const noexcept { return bins_->offset(f) * lanes_; }
  std::size_t all() const noexcept { return bins_->total_width() * lanes_; }
  std::size_t numbers_in_all() const noexcept { return all() * (has_curvature_ ? 3 : 2); }
  std::size_t numbers_of(std::size_t f) const noexcept {
    return lanes_ * static_cast<std::size_t>((*bins_)[f].width());
  }

  const Bins* bins_;
  std::size_t lanes_;
  bool has_curvature_;
  LaneUnits units_;
  Aligned<std::int64_t> sums_;
};

}  // namespace properboost
