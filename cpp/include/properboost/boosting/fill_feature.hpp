// The cells of one feature, summed as rows pass by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/blocks_together.hpp"
#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/moving_margins.hpp"
#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/terms.hpp"

namespace properboost {

// pass(c, add) calls add(weights, curvatures, begin, n) for the training rows of block c, strip by
// strip.  Every group of blocks has its own sums, in these units; `memory` is theirs, which need
// not be cleared.
template <std::size_t W, class Pass>
void fill_feature(const CellsOfFeature& cells, const TrainingRows& rows,
                  const std::vector<RowBlock>& blocks, const std::vector<BlocksTogether>& groups,
                  const std::vector<SegmentRoles>& roles, bool has_curvature,
                  const LaneUnits& units, double nanoseconds, Aligned<unsigned char>& memory,
                  Team& team, const Pass& pass) {
  const std::size_t f = cells.feature;
  const auto width = static_cast<std::size_t>(rows.bins[f].width());
  visit_terms<W>(has_curvature, !rows.sample_weight.all_ones(), [&](auto kind) {
    using Terms = decltype(kind);
    using Sum = typename Terms::Sum;
    const std::size_t bytes = (width * sizeof(Sum) + 63) / 64 * 64;  // whole cache lines
    if (memory.size() < groups.size() * bytes) memory.resize(groups.size() * bytes);
    const auto sums_of = [&](std::size_t g) {
      return reinterpret_cast<Sum*>(memory.data() + g * bytes);
    };
    team.for_each(groups.size(), nanoseconds, [&](std::size_t g) {
      constexpr std::size_t kTogether = W == 1 ? 512 : 64;  // rows, whose terms stay in the cache
      alignas(64) unsigned char made[kTogether * sizeof(Sum)];
      Sum* const own = sums_of(g);
      std::uninitialized_fill_n(own, width, Sum{});
      Terms terms;
      const SegmentRoles* of_terms = nullptr;
      for (std::size_t c = groups[g].first; c < groups[g].end; ++c) {
        const SegmentRoles& of_block = roles[blocks[c].segment];
        if (of_terms == nullptr || of_terms->trained != of_block.trained) {
          terms = kind.of(units.data(), of_block);
          of_terms = &of_block;
        }
        pass(c, [&](const float* w, const float* curvature, std::size_t begin, std::size_t n) {
          const std::uint8_t* const code = rows.codes.feature(f) + begin;
          terms.read(w, curvature, rows.sample_weight.from(begin));
          vectorized([&, n, to = reinterpret_cast<Sum*>(&made[0])](auto set) {
            for (std::size_t i = 0; i < n; i += kTogether) {
              const std::size_t end = std::min(n, i + kTogether);
              terms.make(set, i, end, to);
              add_terms<1, kMaxCodes>(&code, MadeTerms<Sum>{to, i}, i, end, own);
            }
          });
        });
      }
    });
    cells.histogram.clear(f);
    cells.histogram.set_units(units);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!groups[g].roles.trains) continue;
      Sum* const own = sums_of(g);
      const auto how = kind.reading(units.data(), groups[g].roles);
      vectorized([&, own] { flush_sums(own, width, how, cells.histogram, f); });
    }
  });
}

}  // namespace properboost
