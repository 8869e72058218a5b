// How the weights of rows follow from their margins.
#pragma once

#include <cstddef>

namespace properboost {

// By default a row's weight is the one its loss gives.  Weightings that change it override these
// functions.
class RowWeighting {
 public:
  virtual ~RowWeighting() = default;

  // Whether a row's weight is the derivative of the risk by its margin.
  virtual bool is_derivative() const noexcept { return true; }
  // The rows have moved by a step t along a look-up table.
  virtual void settle(double /*t*/) {}
  // Gets the least argument of the loss; returns whether the loss must be evaluated at other
  // arguments.
  virtual bool follow(double /*least*/) { return false; }
  // A lower bound on the arguments, and the largest factor on weights, where no margin is below
  // `least`.
  virtual double least_argument(double least) const { return least; }
  virtual double most_amplified(double /*least*/) const { return 1.0; }
  // The size of the derivatives that `place_ahead` returns, if those it is given are not larger.
  virtual double most_speed(double along) const { return along; }
  // The factor on the risk at these arguments.
  virtual double risk_factor() const { return 1.0; }
  // These two damp the moves x, and the weights, of n rows of margins u.
  virtual void damp_moves(std::size_t /*n*/, const float* /*u*/, float* /*x*/) const {}
  virtual void damp_weights(std::size_t /*n*/, const float* /*u*/, float* /*x*/) const {}

  // The arguments of the loss, for n rows from `begin` on whose margins are u: u itself or `out`.
  // `least` is lowered to the least argument before any offset.
  virtual const float* place(std::size_t /*begin*/, std::size_t /*n*/, const float* u,
                             float* /*out*/, float& /*least*/) const {
    return u;
  }
  // The same, in place, for the margins x that a step t would lead to; `along` is their derivative
  // by t.  Returns the derivative of the new x: `along` itself or `out`.
  virtual const float* place_ahead(std::size_t /*begin*/, std::size_t /*n*/, float /*t*/,
                                   const float* along, float* /*x*/, float* /*out*/) const {
    return along;
  }
  // Gets the weights of the rows from `begin` to `end` before the next step; `mean` is the mean
  // weight.
  virtual void note_weights(std::size_t /*begin*/, std::size_t /*end*/, const float* /*weight*/,
                            double /*mean*/) {}
};

}  // namespace properboost
