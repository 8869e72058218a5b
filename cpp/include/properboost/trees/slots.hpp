// Slots: the places in a cell of a tree where the weights of segments are summed.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/codes.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/votes/vote.hpp"
#include "properboost/votes/vote_targets.hpp"

namespace properboost {

struct Slots {
  static constexpr std::size_t kPositive = 0, kNegative = 1;  // of two classes

  std::size_t n;
  std::vector<std::size_t> segments = {};    // the training segments
  std::vector<std::size_t> of_segment = {};  // the slot of each of them

  // The slot of each segment of all, 0 where it does not train.
  std::vector<std::size_t> by_segment(const Codes& codes) const {
    std::vector<std::size_t> slot(codes.segments.size(), 0);
    for (std::size_t s = 0; s < segments.size(); ++s) slot[segments[s]] = of_segment[s];
    return slot;
  }

  static Slots of_classes(const std::vector<Role>& roles) {
    return by(roles, 2,
              [](std::size_t, bool positive) { return positive ? kPositive : kNegative; });
  }
  // The classes of a joint model, whose roles these are; a row is of the class that it is positive
  // in.
  static Slots of_joint_classes(const std::vector<const std::vector<Role>*>& roles) {
    return by(*roles.front(), roles.size(), [&](std::size_t segment, bool) {
      std::size_t k = 0;
      while ((*roles[k])[segment] != Role::kPositive) ++k;
      return k;
    });
  }
  static Slots of_votes(const std::vector<Role>& roles, const Vote& vote,
                        const VoteTargets& targets) {
    return by(roles, vote.slots(), [&](std::size_t segment, bool positive) {
      return vote.slot(targets.of(segment), positive);
    });
  }

 private:
  template <class SlotOf>
  static Slots by(const std::vector<Role>& roles, std::size_t n, const SlotOf& slot_of) {
    Slots slots{n};
    for (std::size_t s = 0; s < roles.size(); ++s) {
      if (!learns(roles[s])) continue;
      slots.segments.push_back(s);
      slots.of_segment.push_back(slot_of(s, roles[s] == Role::kPositive));
    }
    return slots;
  }
};

}  // namespace properboost
