#include "properboost/histogram/flush_schedule.hpp"

#include <algorithm>
#include <limits>

#include "properboost/core/parallel.hpp"
#include "properboost/histogram/joint_cells.hpp"

namespace properboost {
namespace {

// Counts the rows of the cells of a bundle since they were read off.
class CellCounts {
 public:
  CellCounts(const Bundle& bundle, const Bins& bins, const Codes& codes)
      : bundle_(&bundle), bins_(&bins), codes_(&codes), rows_(bundle.cells, 0) {}

  // full(cell) for the cells that rows of the next chunk might fill up.
  template <class Full>
  void add(std::size_t begin, std::size_t end, const Full& full) {
    if (!bundle_->joint()) {
      count(codes_->feature(bundle_->features.front()) + begin, end - begin, full);
      return;
    }
    std::uint16_t cells[FlushSchedule::kRows];
    find_joint_cells(*bundle_, *bins_, *codes_, begin, end - begin, cells);
    count(cells, end - begin, full);
  }

 private:
  template <class Code, class Full>
  void count(const Code* cells, std::size_t n, const Full& full) {
    constexpr std::size_t kEnough = FlushSchedule::kMostRows - FlushSchedule::kRows;
    filled_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (++rows_[cells[i]] == kEnough) filled_.push_back(cells[i]);
    }
    for (const std::size_t cell : filled_) {
      rows_[cell] = 0;
      full(cell);
    }
  }

  const Bundle* bundle_;
  const Bins* bins_;
  const Codes* codes_;
  std::vector<std::uint16_t> rows_;
  std::vector<std::size_t> filled_;
};

}  // namespace

FlushSchedule::FlushSchedule(const std::vector<BundleSet>& sets, const Bins& bins,
                             const Codes& codes, const std::vector<AccumulationBlock>& blocks,
                             Team& team)
    : due_(sets.size()) {
  std::size_t chunks = 0;
  for (const AccumulationBlock& block : blocks) {
    first_chunk_.push_back(chunks);
    visit_chunks(block, kRows, [&](std::size_t, std::size_t) { ++chunks; });
  }
  const auto nanoseconds = static_cast<double>(count_rows(blocks) * sets.size());
  team.for_each(sets.size(), nanoseconds, [&](std::size_t g) {
    std::vector<CellCounts> counts;
    for (const Bundle& bundle : sets[g].bundles) counts.emplace_back(bundle, bins, codes);
    std::size_t chunk = 0;
    for (const AccumulationBlock& block : blocks) {
      visit_chunks(block, kRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = 0; k < counts.size(); ++k) {
          counts[k].add(begin, end, [&](std::size_t cell) {
            due_[g].push_back({chunk, k * sets[g].stride + cell});
          });
        }
        ++chunk;
      });
    }
    due_[g].push_back({std::numeric_limits<std::size_t>::max(), 0});
  });
}

const FlushSchedule::Due* FlushSchedule::due_from(std::size_t set, std::size_t chunk) const {
  return &*std::lower_bound(due_[set].begin(), due_[set].end(), chunk,
                            [](const Due& due, std::size_t first) { return due.chunk < first; });
}

}  // namespace properboost
