// The line-search oracle: the only access of a step to the rows.
#pragma once

namespace properboost {

// One lane's risk along its look-up table, as a function of the step.
class LineSearchOracle {
 public:
  virtual ~LineSearchOracle() = default;
  // How fast the risk falls at t, without moving there.
  virtual double slope_at(double t) = 0;
  // Moves the lane to t; arguments of `slope_at` are still counted from where it began.
  virtual void moved_to(double t) = 0;
};

}  // namespace properboost
