// How the rows' weights are summed into the cells of all features.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/histogram/histogram.hpp"

namespace properboost {

class SparseBuilder;
class Team;
struct AccumulationBlock;
struct TrainingRows;

// Memory of the sums while they are computed.  Builders that run one after the other share it: it
// is several megabytes per thread.
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
                   const std::vector<std::size_t>& features, const std::vector<double>& crowding,
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
  std::unique_ptr<State> dense_;           // null without dense features
  std::unique_ptr<SparseBuilder> sparse_;  // null without sparse ones
};

}  // namespace properboost
