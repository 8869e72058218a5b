// How the rows' weights are summed into the cells of sparse features.
//
// Entries are added by their codes, and the common code gets what is left of the sum of all rows.
// Sums are of whole numbers, so that these are the sums of the same feature if it were dense.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/code_sums.hpp"
#include "properboost/histogram/histogram.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

class Team;
struct TrainingRows;

class SparseBuilder {
 public:
  // Everything that `rows` and `blocks` refer to must outlive it.
  SparseBuilder(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
                std::vector<std::size_t> features, std::size_t lanes, bool has_curvature);

  // Cells of its features, as `HistogramBuilder::fill` makes them.
  void fill(const float* weight, const float* curvature, const LaneUnits& units,
            Histogram& histogram, Team& team);

 private:
  // Neighbouring blocks whose rows are summed together: no lane has them with two signs.
  struct Stretch {
    SegmentRoles roles;
    std::vector<const AccumulationBlock*> blocks;
  };
  // The numbers of the rows, in the units of their sums.
  struct Numbers {
    const float* weight;
    const float* curvature;
    const LaneUnits& units;
  };

  std::unique_ptr<CodeSums> make_sums(std::size_t codes, const LaneUnits& units,
                                      Aligned<unsigned char>& memory) const;
  void sum_all(const Numbers& numbers, Team& team);
  void sum_feature(std::size_t f, const Numbers& numbers, Histogram& histogram,
                   Aligned<unsigned char>& memory) const;
  void add_entries(const CodeEntries& entries, const Numbers& numbers, CodeSums& sums) const;
  // The cells of the common code of feature f.
  void set_common(std::size_t f, Histogram& histogram);

  const Codes& codes_;
  const Bins& bins_;
  const RowSampleWeights sample_weight_;
  const std::vector<AccumulationBlock> blocks_;
  const std::vector<std::size_t> features_;
  const std::size_t lanes_;
  const bool has_curvature_;
  std::vector<Stretch> stretches_;
  std::size_t entries_ = 0;
  const Bins one_;  // feature, in the only bin of which all rows are
  Histogram all_;
};

}  // namespace properboost
