// Growing trees, by the best split of all leaves, of a whole level or of one leaf only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "properboost/trees/tree.hpp"

namespace properboost {

class Criterion;
class LeafLines;
class PackedCodes;
class RowSampleWeights;
class Team;
class Vote;
struct Regularizers;
struct RowWeights;
struct Slots;
struct TreeLimits;

// A tree, and the weights at each of its nodes: [node][slot].
struct VoteTree {
  Tree tree;
  std::vector<double> weights;
};

// A tree that the classes of a joint model share, and each class's sums of rows that end at a node.
struct JointTree {
  Tree tree;
  std::vector<std::vector<Cell>> cells;  // [class][node]
};

// Grows trees from the training segments, whose weights are summed by class or by the slots of a
// vote.  The split with the largest saving comes first, of nodes or of levels; the earlier node
// wins a tie.  Sums are of whole numbers, so a child's sums are exactly its parent's minus its
// sibling's, in any order of additions.  Where a screen is given, splits are chosen by its rows
// alone, and a node's sums afterwards are of all rows.
class TreeGrower {
 public:
  // Codes and bins must outlive it.
  TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins);
  ~TreeGrower();

  // The bytes for `rows` rows, of which `training` are in the training segments.
  static std::size_t bytes(std::size_t rows, std::size_t training, bool needs_curvature) noexcept;
  // The same for trees that several classes share, with the sums of their nodes, which are large.
  static std::size_t joint_bytes(const Bins& bins, std::size_t rows, std::size_t training,
                                 std::size_t classes, std::size_t leaves) noexcept;

  // The tree's random choices are drawn by `key`.  `progress` is called on the calling thread
  // before each split, and may throw.
  Tree grow(const Slots& slots, const RowWeights& rows, const Criterion& criterion,
            const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
            const std::function<void()>& progress, Team& team);
  // The same by a vote's cost.  Every row of positive weight counts, even a very light one.
  VoteTree grow(const Slots& slots, const RowWeights& rows, const Vote& vote,
                const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
                Team& team);

  // One tree by the sum of several classes' costs; the slots are those of the classes.
  JointTree grow(const Slots& slots, const std::vector<RowWeights>& classes,
                 const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
                 std::uint64_t key, const std::function<void()>& progress, Team& team);

  // The node of every row that has a role, as a byte, in the tree grown last.
  static constexpr std::size_t kMostNodes = 255;
  static constexpr std::size_t kMostLevels = 7;  // of splits, of which each node may have two
  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const;
  // Lines in its leaves, to be fitted before the next tree is grown; `total` is the sample weight
  // of all rows.
  LeafLines lines(const Tree& tree, const TreeLimits& limits, RowSampleWeights sample_weight,
                  double total, Team& team);
  // The sample weight of its rows, by class and node; `total` is that of all rows.  With soft
  // labels `shares` has those of the positive class, or else it is null.
  std::vector<Cell> weigh(const Tree& tree, const Slots& slots, RowSampleWeights sample_weight,
                          const float* shares, double total, Team& team) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Growers that planners borrow for a tree: as many as grow at the same time.
class TreeGrowers {
 public:
  class Return {
   public:
    explicit Return(TreeGrowers* owner) : owner_(owner) {}
    void operator()(TreeGrower* grower) const noexcept { owner_->take_back(grower); }

   private:
    TreeGrowers* owner_;
  };
  using Loan = std::unique_ptr<TreeGrower, Return>;

  TreeGrowers(const Codes& codes, const PackedCodes& packed, const Bins& bins)
      : codes_(codes), packed_(packed), bins_(bins) {}

  Loan borrow();

 private:
  void take_back(TreeGrower* grower) noexcept;

  const Codes& codes_;
  const PackedCodes& packed_;
  const Bins& bins_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TreeGrower>> idle_;
  std::size_t made_ = 0;
};

}  // namespace properboost
