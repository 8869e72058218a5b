// How many rows of equal weight would scatter as much as those of a batch do, class by class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "properboost/core/peers.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/margins/sample_weights.hpp"
#include "properboost/rounds/model_batch.hpp"

namespace properboost {

class Team;

class EffectiveRowCount {
 public:
  // All arguments must outlive it.
  EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                    const ModelBatch& batch);

  // Sums the statistics that count them, under the weights of the last pass; the sums are those of
  // all processes once the all-reduce has run.
  void sum(AllReduce& all_reduce, Team& team) {
    if (summed_ == batch_.margins->renewals()) return;
    sum(batch_.blocks, all_reduce, team);
    summed_ = batch_.margins->renewals();
  }
  // The same of some rows.
  void sum(const std::vector<AccumulationBlock>& blocks, AllReduce& all_reduce, Team& team) {
    Most most{};
    for (std::size_t k = 0; k < batch_.models.size(); ++k) {
      most[k] = batch_.margins->most_weight(k);
    }
    sum(blocks, most, all_reduce, team);
  }
  // The same of all rows of a single lane, before an upper bound on the weights is known; of none,
  // where some weights are known to exceed it.
  void sum_ahead(double most_weight, bool fits, AllReduce& all_reduce, Team& team) {
    sum(fits ? batch_.blocks : std::vector<AccumulationBlock>(), {most_weight}, all_reduce, team);
  }
  // Whether the sums of a single lane are in the units that go with this largest weight.
  bool are_in_units_of(double most_weight) const;
  // For each lane, once that is done.
  std::vector<EffectiveRows> count() const;

 private:
  struct Units {
    TermUnits weights, squares;
  };
  using Most = std::array<double, kMostLanes>;  // upper bounds on the weights of a lane
  void set(Units& units, const Most& most_weight) const;
  void sum(const std::vector<AccumulationBlock>& blocks, const Most& most_weight,
           AllReduce& all_reduce, Team& team);
  double rows_of(double sum, double squares) const;

  const TrainingRows& rows_;
  const SampleWeights& weights_;
  const ModelBatch& batch_;
  std::optional<std::uint64_t> summed_;  // the weights, of all rows, that sums are of
  // The negative class is the first.
  std::array<WholeSums, 2> weights_of_class_{}, squares_of_class_{};
  Units units_;
  std::array<TermUnits::Lost, 2> lost_{};  // whether any process has lost a sum
};

}  // namespace properboost
