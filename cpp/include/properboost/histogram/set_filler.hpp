// Fillers: they sum rows into the cells of sets of features, by the kernels of one kind of terms.
//
// Kernels take longest to compile, so those of each width of lanes have an object of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/flush_schedule.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// The rows whose numbers are summed in one fill, and the sets of features they are summed in.
struct FilledRows {
  const Codes& codes;
  const Bins& bins;
  RowSampleWeights sample_weight;
  const std::vector<BundleSet>& sets;
  const std::vector<AccumulationBlock>& blocks;
  const float* weight;     // [row][lane]
  const float* curvature;  // null where there is none
  const LaneUnits& units;
};

// A task's part of a fill: the cells of every `step`-th set from `first` on, in some blocks.
struct FillTask {
  std::size_t first, step;
  const std::vector<const AccumulationBlock*>& blocks;
  Aligned<unsigned char>& sums;  // zero, and again when the task has ended
  Aligned<unsigned char>& scratch;
  Aligned<unsigned char>& terms;
};

class SetFiller {
 public:
  virtual ~SetFiller() = default;
  // Whether sums are flushed by a schedule, which `fill` then needs.
  virtual bool needs_schedule() const = 0;
  // How many features' sums a task may have: they stay in a cache.
  virtual std::size_t features_per_task() const = 0;
  virtual void fill(const FillTask& task, const FlushSchedule* schedule,
                    Histogram& histogram) const = 0;
};

// The filler of batches of W lanes; `narrow` is for terms of 32 bits.
template <std::size_t W>
std::unique_ptr<SetFiller> make_set_filler(const FilledRows& rows, bool narrow);
extern template std::unique_ptr<SetFiller> make_set_filler<1>(const FilledRows&, bool);
extern template std::unique_ptr<SetFiller> make_set_filler<2>(const FilledRows&, bool);
extern template std::unique_ptr<SetFiller> make_set_filler<4>(const FilledRows&, bool);
extern template std::unique_ptr<SetFiller> make_set_filler<8>(const FilledRows&, bool);
extern template std::unique_ptr<SetFiller> make_set_filler<16>(const FilledRows&, bool);

}  // namespace properboost
