// Steppers: how far lanes move along their round updates.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "properboost/ensemble/ensemble.hpp"
#include "properboost/margins/moving_margins.hpp"

namespace properboost {

class Team;

struct RoundContext;
struct RoundUpdate;

class Stepper {
 public:
  virtual ~Stepper() = default;
  // Moves the margins, sets the step of every lane's update, and returns each lane's sums after the
  // move.  Updates that do not move the margins are marked so.  There is one request per batch;
  // `context` is the first batch's.  `progress` may throw.
  virtual std::vector<Point> take(const RoundContext& context, MovingMargins& margins,
                                  std::vector<RoundUpdate>& updates,
                                  const std::vector<PassRequest>& requests,
                                  const std::function<void()>& progress, Team& team) = 0;
  // Corrects the rounds of a lane after one has been added.
  virtual void revise(std::size_t /*lane*/, double /*gain*/, Rounds& /*rounds*/) const {}

  // A row's margin at gain 1, in the highest precision stored.
  virtual double u(const MovingMargins& margins, std::size_t row, std::size_t lane) const {
    return static_cast<double>(margins.u(row, lane));
  }
  virtual void set_u(MovingMargins& margins, std::size_t row, std::size_t lane, double u) {
    margins.set_u(row, lane, static_cast<float>(u));
  }
  // Takes note of a lane's move in a round that is repeated.
  virtual void repeat(std::size_t /*lane*/, double /*taken*/) {}
  // Keeps only these lanes, which have moved to another batch.
  virtual void keep(const std::vector<std::size_t>& lanes) = 0;
};

// The stepper for the algorithm's step.  It is for batches that advance in step, of which `context`
// is the first one's; `models` are those of all their lanes.
std::unique_ptr<Stepper> make_stepper(const RoundContext& context,
                                      const std::vector<std::size_t>& models,
                                      const MovingMargins& margins);

}  // namespace properboost
