// How many rows of equal weight would scatter as much as those of a batch do, class by class.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/boosting/model_batch.hpp"
#include "properboost/boosting/sample_weights.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/learners/contrast.hpp"

namespace properboost {

class EffectiveRowCount {
 public:
  // All arguments must outlive it.
  EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                    const ModelBatch& batch);

  // For each lane, under the weights of the last pass.
  std::vector<EffectiveRows> count(Team& team) const;

 private:
  EffectiveRows count_all(Team& team) const;
  double rows_of(double sum, double squares) const;

  const TrainingRows& rows_;
  const SampleWeights& weights_;
  const ModelBatch& batch_;
  double total_;  // sample weight
  std::vector<double> segment_weight_;
};

}  // namespace properboost
