// The rule: a conjunction of conditions, "this feature's code is in that set" (Nock and Nielsen
// 2009, section 5); there are two cells, the rows for which it holds and all others.
#pragma once

#include "properboost/learners/learner.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost::learners {

class Rule final : public GrownLearner {
 public:
  static constexpr const char* name = "rule";
  using Fields = RuleFields;
  Rule(const Fields& fields, const LearnerOptions& options)
      : GrownLearner(TreeLimits(fields), options) {}

  // Rows for which a condition does not hold end at another node than the left-most leaf.  They
  // end at an inner node if no training row had their code, so that the condition cannot be known
  // to hold.
  Partition partition(const Tree& tree) const override {
    constexpr std::uint8_t kHolds = 0, kDoesNot = 1;
    Partition p;
    p.cells.assign(2, Cell{});
    p.occupied.assign(2, 0);
    p.cell_of.fill(kDoesNot);
    p.cell_of[leftmost(tree)] = kHolds;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      p.cells[p.cell_of[node]] += tree.cell[node];
      if (tree.is_leaf(node)) p.occupied[p.cell_of[node]] = 1;
    }
    p.shares = {{1.0, p.cell_of}};
    return p;
  }

  // Where a condition is that a feature is above a value, or at most that, the value where the rule
  // holds and the one elsewhere are in the feature's direction.
  CellOrder order(const Tree& tree, const Bins& bins) const override {
    CellOrder order;
    const std::size_t end = leftmost(tree);
    for (std::size_t node = 0; !directions.empty() && node != end;
         node = static_cast<std::size_t>(tree.left[node])) {
      const auto f = static_cast<std::size_t>(tree.feature[node]);
      const auto last = static_cast<std::uint8_t>(bins[f].bins() - 1);
      const bool above = tree.goes_left[node].has(last), below = tree.goes_left[node].has(0);
      if (directions[f] == 0 || !bins[f].ordered() || above == below) continue;
      order.add(end + 1, end, above ? directions[f] : -directions[f]);  // from a row elsewhere
    }
    return order;
  }

 private:
  static std::size_t leftmost(const Tree& tree) {
    std::size_t node = 0;
    while (!tree.is_leaf(node)) node = static_cast<std::size_t>(tree.left[node]);
    return node;
  }
};

}  // namespace properboost::learners
