// Trees that vote: best-first growth by a vote's cost, over any number of classes.
//
// TreeGrower sums two classes in integers and takes its children's sums from their parent; here a
// cell has a sum for every slot of the vote, and every leaf adds up its own rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/trees/tree.hpp"
#include "properboost/votes/vote.hpp"

namespace properboost {

// The rows that vote, and what each of them weighs.
class Voters {
 public:
  // All arguments must outlive it; rows without a side in `roles` do not count.
  Voters(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
         const Electorate& electorate);

  // The weight a row has in this round: `weight` times `sample_weight` (null for ones).
  void weigh(const float* weight, const double* sample_weight, Team& team);

  const Codes& codes() const noexcept { return codes_; }
  const Bins& bins() const noexcept { return bins_; }
  const Vote& vote() const noexcept { return *electorate_.vote; }
  const std::vector<std::uint32_t>& rows() const noexcept { return rows_; }
  double weight(std::size_t row) const noexcept { return weight_[row]; }
  std::size_t slot(std::size_t row) const noexcept { return slot_[row]; }

 private:
  const Codes& codes_;
  const Bins& bins_;
  const Electorate& electorate_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint16_t> slot_;  // of each row
  std::vector<double> weight_;
};

// Sums of some rows by the codes of feature f: [code][slot].
std::vector<double> add_up(const Voters& voters, const std::vector<std::uint32_t>& rows,
                           std::size_t f);

// Nodes, and the sums of each: [node][slot].
struct VoteTree {
  Tree tree;
  std::vector<double> sums;
};

// Grows a tree from all voters, the split that saves most first and of equal ones the earlier
// node's.  `progress` is called before each split, and may throw.
VoteTree grow(const Voters& voters, std::size_t leaves, std::size_t depth,
              const std::function<void()>& progress, Team& team);

}  // namespace properboost
