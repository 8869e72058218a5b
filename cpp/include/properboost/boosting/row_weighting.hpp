// How the weights of rows follow from their margins.
#pragma once

#include <cstddef>

namespace properboost {

// Rows weigh what their loss gives them.  Weightings that depart from it override what they change.
class RowWeighting {
 public:
  virtual ~RowWeighting() = default;

  // The rows go a step t along a look-up table.
  virtual void settle(double /*t*/) {}
  // Told the least of what the loss was taken at: whether it must be taken at other places.
  virtual bool follow(double /*least*/) { return false; }
  // What the risk at these places is multiplied by.
  virtual double risk_factor() const { return 1.0; }
  // How far n rows of margins u move, and what they weigh.
  virtual void damp_moves(std::size_t /*n*/, const float* /*u*/, float* /*x*/) const {}
  virtual void damp_weights(std::size_t /*n*/, const float* /*u*/, float* /*x*/) const {}

  // What the loss is taken at, for n rows from `begin` on whose margins are u: u itself or `out`.
  // `least` becomes the least of it before any offset, if that is less.
  virtual const float* place(std::size_t /*begin*/, std::size_t /*n*/, const float* u,
                             float* /*out*/, float& /*least*/) const {
    return u;
  }
  // The same for margins x, in place, that a step t would lead to and that change as fast as
  // `along`.  Returns how fast the new x change: `along` itself or `out`.
  virtual const float* place_ahead(std::size_t /*begin*/, std::size_t /*n*/, float /*t*/,
                                   const float* along, float* /*x*/, float* /*out*/) const {
    return along;
  }
  // What rows from `begin` to `end` weigh before the next step; `mean` is the mean row's weight.
  virtual void note_weights(std::size_t /*begin*/, std::size_t /*end*/, const float* /*weight*/,
                            double /*mean*/) {}
};

}  // namespace properboost
