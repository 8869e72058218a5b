// Row blocks whose rows share sums.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/data/codes.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// Neighbouring blocks, from the first to the one before the end.
struct BlocksTogether {
  // No more rows share sums, except those of one block: so many threads have enough to do, and
  // clearing and reading off sums costs little compared with making them.
  static constexpr std::size_t kRows = 2'048;
  std::size_t first, end;
  SegmentRoles roles;  // of all of them
};

// The rows of bags lie in many small segments, for which sums of their own would cost most.
inline std::vector<BlocksTogether> put_together(const std::vector<RowBlock>& blocks,
                                                const std::vector<SegmentRoles>& roles) {
  std::vector<BlocksTogether> groups;
  std::size_t rows = 0;
  for (std::size_t c = 0; c < blocks.size(); ++c) {
    const SegmentRoles& block_roles = roles[blocks[c].segment];
    const std::size_t more = blocks[c].end - blocks[c].begin;
    if (c == 0 || rows + more > BlocksTogether::kRows ||
        !groups.back().roles.may_join(block_roles)) {
      groups.push_back({c, c, {}});
      rows = 0;
    }
    groups.back().end = c + 1;
    groups.back().roles.join(block_roles);
    rows += more;
  }
  return groups;
}

}  // namespace properboost
