// Limits on the features that share a path of a tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace properboost {

// A tree whose paths have at most k features is a sum of functions of at most k features.
struct InteractionLimits {
  std::size_t most = 0;  // the most features on a path; 0: any number
  // A path's features must all be in one of these sets, each in ascending order.  None: no limit.
  std::vector<std::vector<std::uint32_t>> sets = {};

  bool any() const noexcept { return most > 0 || !sets.empty(); }

  // Unmarks the features that must not join those of a path, which are in ascending order.
  void restrict(const std::vector<std::uint32_t>& path, std::vector<std::uint8_t>& allowed) const {
    if (most > 0 && path.size() >= most) keep(path, allowed);
    if (sets.empty()) return;
    std::vector<std::uint32_t> joinable;
    for (const std::vector<std::uint32_t>& set : sets) {
      if (std::includes(set.begin(), set.end(), path.begin(), path.end())) {
        joinable.insert(joinable.end(), set.begin(), set.end());
      }
    }
    keep(joinable, allowed);
  }

 private:
  // Unmarks all but these features.
  static void keep(const std::vector<std::uint32_t>& features, std::vector<std::uint8_t>& allowed) {
    std::vector<std::uint8_t> marked(allowed.size(), 0);
    for (const std::uint32_t f : features) marked[f] = allowed[f];
    allowed = std::move(marked);
  }
};

}  // namespace properboost
