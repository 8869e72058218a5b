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
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

// The cells of all features in all lanes.
class Histogram {
 public:
  Histogram(const Bins& bins, std::size_t lanes, bool needs_curvature)
      : bins_(&bins),
        lanes_(lanes),
        positive_(bins.total_width() * lanes),
        negative_(bins.total_width() * lanes),
        curvature_(needs_curvature ? bins.total_width() * lanes : 0) {}

  static std::size_t bytes(const Bins& bins, std::size_t lanes, bool needs_curvature) noexcept {
    return bins.total_width() * lanes * (needs_curvature ? 3 : 2) * sizeof(double);
  }

  // Sums of feature f, [code][lane]; null if there is no curvature.
  double* positive(std::size_t f) noexcept { return positive_.data() + first(f); }
  double* negative(std::size_t f) noexcept { return negative_.data() + first(f); }
  double* curvature(std::size_t f) noexcept {
    return curvature_.empty() ? nullptr : curvature_.data() + first(f);
  }

  void clear(std::size_t f) {
    const std::size_t n = lanes_ * static_cast<std::size_t>((*bins_)[f].width());
    std::fill_n(positive(f), n, 0.0);
    std::fill_n(negative(f), n, 0.0);
    if (!curvature_.empty()) std::fill_n(curvature(f), n, 0.0);
  }

  // Adds the sums of other rows.
  void operator+=(const Histogram& other) {
    const auto add = [](Aligned<double>& to, const Aligned<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    add(positive_, other.positive_);
    add(negative_, other.negative_);
    add(curvature_, other.curvature_);
  }

  // One lane's cells of feature f, gathered into `buffer`; `occupied` has one byte per code, all
  // features side by side.
  FeatureCells feature(std::size_t f, std::size_t lane, const std::uint8_t* occupied,
                       std::array<Cell, kMaxCodes>& buffer) const {
    const FeatureCells result{buffer.data(), occupied + bins_->offset(f), &(*bins_)[f]};
    std::size_t i = first(f) + lane;
    for (std::size_t b = 0; b < result.width(); ++b, i += lanes_) {
      buffer[b] = {positive_[i], negative_[i], curvature_.empty() ? 0.0 : curvature_[i]};
    }
    return result;
  }

 private:
  std::size_t first(std::size_t f) const noexcept { return bins_->offset(f) * lanes_; }

  const Bins* bins_;
  std::size_t lanes_;
  Aligned<double> positive_, negative_, curvature_;
};

// What sums take while they are made, by task.  Builders that work one after the other share it:
// it is several megabytes per thread.
struct HistogramMemory {
  std::vector<Aligned<unsigned char>> sums;  // zero between fills
  std::vector<std::vector<double>> scratch;
};

// Sums the weights of the same rows in every round.
class HistogramBuilder {
 public:
  // Everything that `rows` refers to must outlive it.  crowding[f] is the share of the rows in the
  // fullest code of feature f.
  HistogramBuilder(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
                   const std::vector<double>& crowding, std::size_t lanes, bool has_curvature,
                   std::shared_ptr<HistogramMemory> memory);
  ~HistogramBuilder();

  // Cells of every feature from the rows' weights and curvatures (null where there are none).  No
  // sum depends on the number of threads.
  void fill(const float* weight, const float* curvature, Histogram& histogram, Team& team);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
