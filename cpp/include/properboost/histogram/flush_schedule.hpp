// When sums of 32 bits are read off: before they could overflow.
//
// That depends on the rows' codes alone, so that it is found once.  A cell is read off once it has
// half of the rows that its sums have room for, which adds little to the additions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/fixed_point.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/bundles.hpp"

namespace properboost {

class Team;

class FlushSchedule {
 public:
  static constexpr std::size_t kRows = 512;  // of a chunk, whose rows are added without a look
  static constexpr std::size_t kMostRows = std::size_t{1} << (32 - Grain::kBits);  // of a cell

  // A set's sums at this place are read off after this chunk.
  struct Due {
    std::size_t chunk, place;
  };

  FlushSchedule(const std::vector<BundleSet>& sets, const Bins& bins, const Codes& codes,
                const std::vector<AccumulationBlock>& blocks, Team& team);

  // The first chunk of a block.
  std::size_t chunk_of(std::size_t block) const noexcept { return first_chunk_[block]; }
  // The flushes that are due in a set from a chunk on; the last entry is never due.
  const Due* due_from(std::size_t set, std::size_t chunk) const;

 private:
  std::vector<std::size_t> first_chunk_;
  std::vector<std::vector<Due>> due_;  // by set
};

}  // namespace properboost
