// Votes: how a weak classifier votes, in a cell, over several targets.
//
// A target is one class, or a label that all rows have or lack.  A cell has a sum of weights for
// every slot of every target; a vote is a criterion on them, and gives each target the entry of the
// look-up table that moves the cell's rows of that target.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace properboost {

class Vote {
 public:
  virtual ~Vote() = default;
  virtual std::size_t slots() const noexcept = 0;
  // Where a row's weight is added; `positive` is whether its segment has that role.
  virtual std::size_t slot(std::size_t target, bool positive) const noexcept = 0;
  // The cost of a cell; that of several cells is the sum.  Smaller is better.
  virtual double cost(const double* sums) const noexcept = 0;
  // The entry of each target; all 0 where the cell has no rows.
  virtual void values(const double* sums, double* out) const noexcept = 0;
  // The number of answers, one of which is right: guessing errs with 1 - 1/ways().
  virtual std::size_t ways() const noexcept = 0;

  const std::size_t targets;

 protected:
  explicit Vote(std::size_t its_targets) : targets(its_targets) {}
};

// The criteria by which votes may choose cells.
enum class VoteCriterion { kGini, kError };

std::unique_ptr<Vote> make_vote(const std::string& name, std::size_t targets,
                                VoteCriterion criterion);
std::vector<std::string> vote_names();

}  // namespace properboost
