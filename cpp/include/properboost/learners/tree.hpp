// The tree: splits of several features, best first or by level; every leaf is a cell.
#pragma once

#include "properboost/learners/learner.hpp"

namespace properboost::learners {

class TreeLearner final : public GrownLearner {
 public:
  static constexpr const char* name = "tree";
  using Fields = TreeFields;
  TreeLearner(const Fields& fields, const LearnerOptions& options)
      : GrownLearner(TreeLimits(fields), options) {}

  Partition partition(const Tree& tree) const override {
    Partition p;
    p.cells.assign(tree.size(), Cell{});
    p.occupied.assign(tree.size(), 0);
    for (std::size_t node = 0; node < tree.size(); ++node) {
      p.cell_of[node] = static_cast<std::uint8_t>(node);
      if (!tree.is_leaf(node)) continue;
      p.cells[node] = tree.cell[node];
      p.occupied[node] = 1;
    }
    p.shares = {{1.0, p.cell_of}};
    return p;
  }
};

}  // namespace properboost::learners
