// The slots of a vote in the cells of a tree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "properboost/data/binning.hpp"
#include "properboost/trees/cells/class_adder.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/cells/vote_cuts.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/limits.hpp"

namespace properboost {

class VoteCells {
 public:
  using Adder = ClassAdder<false>;
  using Unit = Adder::Unit;
  using Total = SlotSums;

  VoteCells(const Vote& vote, const TreeLimits& limits, const RowUnits<false>& units)
      : vote_{vote, units.unit_of_weight()}, limits_(limits) {}

  Total total(const Unit* sums, std::size_t width) const {
    Total total(vote_.vote.slots());
    for (std::size_t k = 0; k < total.size(); ++k) {
      total[k] = std::accumulate(sums + k * width, sums + (k + 1) * width, Unit{0});
    }
    return total;
  }
  // The code that a feature's j-th number belongs to.
  static std::size_t code_at(std::size_t j, std::size_t width) { return j % width; }
  static void add(Total& to, const Total& rows) { properboost::add(to, rows); }
  double weight(const Total& total) const {
    return vote_.unit * static_cast<double>(std::accumulate(total.begin(), total.end(), Unit{0}));
  }
  double weight_of_branch(const Total& total) const { return weight(total); }
  double cost(const Total& total) const { return vote_.cost(total); }
  bool may_be_split(const Total& total) const { return cost(total) > 0.0; }
  // Votes are the papers' and allow for no chance.
  using Squares = std::array<std::int64_t, 0>;
  static Squares squares(const LeafRows& /*rows*/, std::size_t /*node*/, Team& /*team*/) {
    return {};
  }
  static constexpr bool spreads_squares() noexcept { return false; }
  static Squares spread(const Squares& root, const Total& /*all*/, const Total& /*node*/) {
    return root;
  }
  static constexpr bool is_quadratic() noexcept { return true; }
  static ChanceSaving saving_by_chance(const Total& /*total*/, const Squares& /*squares*/,
                                       double /*categories*/) {
    return {0.0, 1.0};
  }
  const CountingVote& vote() const noexcept { return vote_; }

  class Feature {
   public:
    Feature(const VoteCells& cells, const FeatureBins& bins, const Unit* sums)
        : cells_(cells), bins_(bins), sums_(sums) {}

    // There are no directions.
    VoteCuts cuts(const Total& beside_left, const Total& beside_right, int /*direction*/) const {
      return {cells_.vote_,
              sums_,
              static_cast<std::size_t>(bins_.width()),
              cells_.limits_.fields.min_child_weight,
              beside_left,
              beside_right};
    }

   private:
    const VoteCells& cells_;
    const FeatureBins& bins_;
    const Unit* sums_;
  };

 private:
  CountingVote vote_;
  const TreeLimits& limits_;
};

}  // namespace properboost
