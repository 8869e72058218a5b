// Slots: the places in a cell of a tree where the weights of segments are summed.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/roles.hpp"

namespace properboost {

class Vote;
struct Codes;
struct VoteTargets;

struct Slots {
  static constexpr std::size_t kPositive = 0, kNegative = 1;  // of two classes

  std::size_t n;
  std::vector<std::size_t> segments = {};    // the training segments
  std::vector<std::size_t> of_segment = {};  // the slot of each of them

  // The slot of each segment of all, 0 where it does not train.
  std::vector<std::size_t> by_segment(const Codes& codes) const;

  static Slots of_classes(const std::vector<Role>& roles);
  // Rows with soft labels are of one slot, whose sums are of pairs of weights.
  static Slots of_soft_labels(const std::vector<Role>& roles);
  // The classes of a joint model, whose roles these are; a row is of the class that it is positive
  // in.
  static Slots of_joint_classes(const std::vector<const std::vector<Role>*>& roles);
  static Slots of_votes(const std::vector<Role>& roles, const Vote& vote,
                        const VoteTargets& targets);
};

}  // namespace properboost
