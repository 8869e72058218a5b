// The mean scores of a model on held-out rows.
#pragma once

namespace properboost {

// Per unit of weight; NaN where there are no rows.
struct HeldOutMeans {
  double log_loss = 0.0, error = 0.0, brier = 0.0;
};

}  // namespace properboost
