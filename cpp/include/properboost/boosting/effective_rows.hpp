// How many rows of equal weight would scatter as much as those of a batch do, class by class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/boosting/model_batch.hpp"
#include "properboost/boosting/sample_weights.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/learners/contrast.hpp"

namespace properboost {

class EffectiveRowCount {
 public:
  // All arguments must outlive it.
  EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                    const ModelBatch& batch);

  // Sums what counts them in a lone lane, under the weights of the last pass; the sums are those of
  // all processes when the share has gone.
  void sum(Share& share, Team& team) { sum(batch_.blocks, share, team); }
  // The same of some rows.
  void sum(const std::vector<AccumulationBlock>& blocks, Share& share, Team& team);
  // For each lane, once that is done.
  std::vector<EffectiveRows> count() const;

 private:
  double rows_of(double sum, double squares) const;

  const TrainingRows& rows_;
  const SampleWeights& weights_;
  const ModelBatch& batch_;
  using OfClasses = std::array<std::int64_t, 2>;  // of the negative class, and of the positive
  OfClasses weights_of_class_{}, squares_of_class_{};
  TermUnits units_, units_of_squares_;
};

}  // namespace properboost
