// Bundles: features that are summed as one.
//
// Features of few codes are summed in joint cells, with one addition for all of them; each
// feature's own sums are computed from these at the end.  The index of a joint cell is computed
// from the codes as they are read, so that only the sums need other memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace properboost {

class Bins;
struct AccumulationBlock;

// Cell (a * width of b + b) * width of c + c holds the rows of codes a, b, c.
struct Bundle {
  std::vector<std::size_t> features;
  std::size_t cells = 1;
  double crowding = 1.0;  // share of rows in the fullest cell, if features are independent

  bool joint() const noexcept { return features.size() > 1; }
};

// Bundles that are summed together: enough of them that their additions need not wait for each
// other.  More are needed where most rows are in one cell.
struct BundleSet {
  static constexpr std::size_t kNarrow = 64;  // codes
  // Joint cells that are summed at the same time stay in the first cache: those of two features of
  // 64 bins, with missing and unseen values, do.
  static constexpr std::size_t kMostCells = 66 * 66;
  static constexpr std::size_t kBytes = 8 * kMostCells;
  // The bytes of a cell's sums: whole numbers of 64 bits for one lane, of 32 for more.
  static constexpr std::size_t sum_bytes(std::size_t lanes, bool has_curvature) {
    const std::size_t bytes = lanes == 1 ? sizeof(std::int64_t) : sizeof(std::int32_t);
    return lanes * bytes * (has_curvature ? 2 : 1);
  }
  static constexpr std::size_t most_cells(std::size_t lanes, bool has_curvature) {
    return std::min(kMostCells, kBytes / sum_bytes(lanes, has_curvature));
  }

  std::vector<Bundle> bundles;  // 1, 2, 4 or 8, all joint or of one feature each
  std::size_t stride;  // of their sums: kNarrow, kMaxCodes, or the most cells of a joint bundle
  std::size_t copies;  // of their sums: 2 if joint cells are crowded, else 1

  bool joint() const noexcept { return bundles.front().joint(); }
  std::size_t sums() const noexcept { return copies * bundles.size() * stride; }
};

// Divides features into bundles, and these into sets.  crowding[f] is the share of the rows in the
// fullest code of feature f.
std::vector<BundleSet> bundle_features(const Bins& bins, std::vector<std::size_t> features,
                                       std::size_t lanes, bool has_curvature,
                                       const std::vector<AccumulationBlock>& blocks,
                                       const std::vector<double>& crowding);

}  // namespace properboost
