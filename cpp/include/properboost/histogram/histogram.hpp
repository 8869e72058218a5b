// Histograms: the cells of all features, and how the rows' weights are summed into them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/aligned.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

class Share;
class Team;

// Those of each lane.
using LaneUnits = std::array<CellUnits, kMostLanes>;

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

  // Adds the sums of other processes' rows when the share goes, in all features or in one; or in
  // one at once.
  void add_to(Share& share);
  void add_to(Share& share, std::size_t f);
  void share(std::size_t f, Team& team);

  // One lane's cells of feature f, gathered into `buffer`; `occupied` has one byte per code, all
  // features side by side.
  FeatureCells feature(std::size_t f, std::size_t lane, const std::uint8_t* occupied,
                       std::array<Cell, kMaxCodes>& buffer) const {
    const FeatureCells result{buffer.data(), occupied + bins_->offset(f), &(*bins_)[f]};
    std::size_t i = first(f) + lane;
    const CellUnits& units = units_[lane];
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

// What sums take while they are made.  Builders that work one after the other share it: it is
// several megabytes per thread.
struct HistogramMemory {
  std::vector<Aligned<unsigned char>> sums;  // by task; zero between fills
  std::vector<Aligned<unsigned char>> scratch, terms;
  std::vector<std::unique_ptr<Histogram>> others;  // of all parts of the rows but the first
};

// Sums the weights of the same rows in every round.
class HistogramBuilder {
 public:
  // Everything that `rows` refers to must outlive it.  crowding[f] is the share of the rows in the
  // fullest code of feature f, whether it is one of these features or not.
  HistogramBuilder(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
                   std::vector<std::size_t> features, const std::vector<double>& crowding,
                   std::size_t lanes, bool has_curvature, std::shared_ptr<HistogramMemory> memory);
  HistogramBuilder(HistogramBuilder&&) noexcept;
  ~HistogramBuilder();

  // Cells of its features from the rows' weights and curvatures (null where there are none), in
  // these units.  No sum depends on the number of threads, nor on the order of rows.  They are of
  // this process's rows.
  void fill(const float* weight, const float* curvature, const LaneUnits& units,
            Histogram& histogram, Team& team);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
