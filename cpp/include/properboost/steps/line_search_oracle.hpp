// The line-search oracle: all that a step knows of the rows.
#pragma once

namespace properboost {

// One lane's risk along its look-up table, as a function of how far it goes.
class LineSearchOracle {
 public:
  virtual ~LineSearchOracle() = default;
  // How fast the risk falls at t, without moving there.
  virtual double slope_at(double t) = 0;
  // The lane has moved to t; slopes are still asked for by their distance from where it began.
  virtual void moved_to(double t) = 0;
};

}  // namespace properboost
