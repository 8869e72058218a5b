#include "properboost/trees/slots.hpp"

#include "properboost/data/codes.hpp"
#include "properboost/votes/vote.hpp"
#include "properboost/votes/vote_targets.hpp"

namespace properboost {

namespace {

template <class SlotOf>
Slots find_slots(const std::vector<Role>& roles, std::size_t n, const SlotOf& slot_of) {
  Slots slots{n};
  for (std::size_t s = 0; s < roles.size(); ++s) {
    if (!learns(roles[s])) continue;
    slots.segments.push_back(s);
    slots.of_segment.push_back(slot_of(s, roles[s] == Role::kPositive));
  }
  return slots;
}

}  // namespace

std::vector<std::size_t> Slots::by_segment(const Codes& codes) const {
  std::vector<std::size_t> slot(codes.segments.size(), 0);
  for (std::size_t s = 0; s < segments.size(); ++s) slot[segments[s]] = of_segment[s];
  return slot;
}

Slots Slots::of_classes(const std::vector<Role>& roles) {
  return find_slots(roles, 2,
                    [](std::size_t, bool positive) { return positive ? kPositive : kNegative; });
}

Slots Slots::of_soft_labels(const std::vector<Role>& roles) {
  return find_slots(roles, 1, [](std::size_t, bool) { return kPositive; });
}

Slots Slots::of_joint_classes(const std::vector<const std::vector<Role>*>& roles) {
  return find_slots(*roles.front(), roles.size(), [&](std::size_t segment, bool) {
    std::size_t k = 0;
    while ((*roles[k])[segment] != Role::kPositive) ++k;
    return k;
  });
}

Slots Slots::of_votes(const std::vector<Role>& roles, const Vote& vote,
                      const VoteTargets& targets) {
  return find_slots(roles, vote.slots(), [&](std::size_t segment, bool positive) {
    return vote.slot(targets.of(segment), positive);
  });
}

}  // namespace properboost
