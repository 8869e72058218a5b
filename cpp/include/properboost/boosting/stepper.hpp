// Steppers: how far the lanes of a model batch move along their round updates.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/boosting/margins.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/ensemble/ensemble.hpp"

namespace properboost {

struct RoundContext;
struct RoundUpdate;

class Stepper {
 public:
  virtual ~Stepper() = default;
  // Moves the margins of the batch, sets the step of every update, and returns each lane's sums
  // after the move.  Updates that do not move the margins are marked so.  `progress` may throw.
  virtual std::vector<Margins::Point> take(const RoundContext& context,
                                           std::vector<RoundUpdate>& updates,
                                           const PassRequest& request,
                                           const std::function<void()>& progress, Team& team) = 0;
  // Corrects the rounds of a lane after one has been added.
  virtual void revise(std::size_t /*lane*/, double /*gain*/, Rounds& /*rounds*/) const {}

  // A row's margin at gain 1, in the highest precision stored.
  virtual double u(const Margins& margins, std::size_t row, std::size_t lane) const {
    return static_cast<double>(margins.u(row, lane));
  }
  virtual void set_u(Margins& margins, std::size_t row, std::size_t lane, double u) {
    margins.u(row, lane) = static_cast<float>(u);
  }
  // Keeps only these lanes, which have moved to another batch.
  virtual void keep(const std::vector<std::size_t>& lanes) = 0;
};

// The stepper for the algorithm's step, for a batch whose margins exist.
std::unique_ptr<Stepper> make_stepper(const RoundContext& context);

}  // namespace properboost
