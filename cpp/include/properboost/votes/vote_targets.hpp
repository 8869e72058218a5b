// Vote targets: the class, or the label, that each segment belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

// A model that does not vote has a single target.
struct VoteTargets {
  std::size_t count = 1;
  std::vector<std::uint16_t> of_segment = {};  // empty for a single target

  std::size_t of(std::size_t segment) const noexcept {
    return of_segment.empty() ? 0 : of_segment[segment];
  }
};

}  // namespace properboost
