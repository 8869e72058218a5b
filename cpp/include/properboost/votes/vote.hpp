// Votes: what a weak classifier says, in a cell, about several groups of rows.
//
// A group is the rows of one class, or all rows asked about one label.  A cell has a sum of weights
// for every slot of every group; a vote is a criterion on them, and gives each group of the cell
// the entry of the table that moves its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

class Vote {
 public:
  virtual ~Vote() = default;
  virtual std::size_t slots() const noexcept = 0;
  // Where a row's weight is added; `positive` is the side its segment is on.
  virtual std::size_t slot(std::size_t group, bool positive) const noexcept = 0;
  // How good a cell is; the cost of several is the sum.  Smaller is better.
  virtual double cost(const double* sums) const noexcept = 0;
  // The entry of each group; all 0 where the cell has no rows.
  virtual void values(const double* sums, double* out) const noexcept = 0;
  // Of how many answers one is right: guessing errs with 1 - 1/ways().
  virtual std::size_t ways() const noexcept = 0;

  const std::size_t groups;

 protected:
  explicit Vote(std::size_t its_groups) : groups(its_groups) {}
};

// What a vote may be asked to minimise.
enum class VoteCriterion { kGini, kError };

// The groups that segments belong to, and who votes.  Without a vote every segment is of group 0.
struct Electorate {
  const Vote* vote = nullptr;
  std::vector<std::uint16_t> group_of;  // segment

  std::size_t group(std::size_t segment) const noexcept {
    return group_of.empty() ? 0 : group_of[segment];
  }
  std::size_t groups() const noexcept { return vote == nullptr ? 1 : vote->groups; }
};

}  // namespace properboost
