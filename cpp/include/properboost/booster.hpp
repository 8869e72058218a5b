// The booster: the only file that knows the order of the stages.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/codes.hpp"
#include "properboost/ensemble.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/parallel.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/step.hpp"

namespace properboost {

// What is asked of one model; what models share (codes, bins, team) stands outside.
struct Model {
  const Loss& loss;
  const WeakLearner& weak_learner;
  const Response& response;
  const Step& step;
  double gain;
  double learning_rate;
  double prior;  // e as a share of the total weight; 0 for 1/(rows' weight x occupied cells)
  double l2;
  std::size_t n_estimators;
  std::vector<bool> positive;   // on which side each segment is
  const double* sample_weight;  // in segment order, all positive; null for ones
};

// Called on the calling thread after each round with the rounds done and the training risk; may
// throw.
using Progress = std::function<void(std::size_t, double)>;

Rounds boost(const Codes& codes, const Bins& bins, const Model& model, const Progress& progress,
             Team& team);

}  // namespace properboost
