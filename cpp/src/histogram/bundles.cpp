#include "properboost/histogram/bundles.hpp"

#include <algorithm>
#include <utility>

#include "properboost/data/binning.hpp"
#include "properboost/histogram/accumulation_block.hpp"

namespace properboost {
namespace {

// How large joint cells may be.
struct BundleLimits {
  // Computing each feature's sums must cost little compared with the additions saved.
  static constexpr std::size_t kRowsPerCell = 6;

  std::size_t lanes;
  bool has_curvature;
  std::size_t cells = 1;  // of a bundle

  BundleLimits(std::size_t n_lanes, bool needs_curvature,
               const std::vector<AccumulationBlock>& blocks)
      : lanes(n_lanes), has_curvature(needs_curvature) {
    const std::size_t rows = count_rows(blocks);
    if (rows == 0) return;
    const std::size_t rows_of_block = rows / blocks.size();
    cells = std::min(BundleSet::most_cells(lanes, has_curvature), rows_of_block / kRowsPerCell);
  }
};

// Divides some features into bundles, the widest first, and each into the fullest bundle that has
// room; crowding[f] is the share of the rows in the fullest code of feature f.
std::vector<Bundle> deal_into_bundles(const Bins& bins, std::vector<std::size_t> order,
                                      const BundleLimits& limits,
                                      const std::vector<double>& crowding) {
  const auto width = [&](std::size_t f) { return static_cast<std::size_t>(bins[f].width()); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return width(a) > width(b); });
  std::vector<Bundle> bundles;
  const auto put = [&](Bundle& bundle, std::size_t f) {
    bundle.features.push_back(f);
    bundle.cells *= width(f);
    bundle.crowding *= crowding[f];
  };
  std::size_t open = 0;  // earlier bundles have no room for the narrowest feature
  for (const std::size_t f : order) {
    std::size_t best = bundles.size();
    for (std::size_t k = open; k < bundles.size(); ++k) {
      if (bundles[k].cells * width(f) > limits.cells) continue;
      if (best == bundles.size() || bundles[k].cells > bundles[best].cells) best = k;
    }
    if (best == bundles.size()) bundles.push_back({});
    put(bundles[best], f);
    while (open < bundles.size() && bundles[open].cells * width(order.back()) > limits.cells) {
      ++open;
    }
  }
  return bundles;
}

// A set holds `most` bundles of one wide feature, or eight of a narrow or crowded one, or as many
// joint bundles as fit the cache; the remaining bundles make smaller sets.
std::vector<BundleSet> deal_into_sets(const Bins& bins, std::vector<std::size_t> features,
                                      std::size_t most, const BundleLimits& limits,
                                      const std::vector<double>& crowding) {
  // Beyond this share of one cell, adds wait for each other.
  constexpr double kCrowded = 0.125;
  const auto crowded = [](const Bundle& bundle) { return bundle.crowding > kCrowded; };
  std::vector<BundleSet> sets;
  std::vector<Bundle> bundles = deal_into_bundles(bins, std::move(features), limits, crowding);
  std::stable_sort(bundles.begin(), bundles.end(),
                   [](const Bundle& a, const Bundle& b) { return a.cells > b.cells; });
  // Takes the bundles for which `fits` is true; size_for(first one) of them make a set.
  const auto deal = [&](std::size_t stride, const auto& fits, const auto& size_for) {
    const auto rest = std::stable_partition(bundles.begin(), bundles.end(),
                                            [&](const Bundle& b) { return !fits(b); });
    for (auto first = rest; first != bundles.end();) {
      std::size_t size = size_for(*first);
      while (static_cast<std::size_t>(bundles.end() - first) < size) size /= 2;
      const auto last = first + static_cast<std::ptrdiff_t>(size);
      const bool waits = first->joint() && size <= 2 && std::any_of(first, last, crowded);
      sets.push_back({{first, last}, stride, std::size_t{waits ? 2u : 1u}});
      first = last;
    }
    bundles.erase(rest, bundles.end());
  };
  deal(
      BundleSet::most_cells(limits.lanes, limits.has_curvature),
      [](const Bundle& b) { return b.joint(); },
      [&](const Bundle& b) {
        const std::size_t fit =
            BundleSet::kBytes /
            (b.cells * BundleSet::sum_bytes(limits.lanes, limits.has_curvature));
        return std::size_t{fit >= 4 ? 4u : fit >= 2 ? 2u : 1u};
      });
  const auto eight = [](const Bundle&) { return std::size_t{8}; };
  deal(BundleSet::kNarrow, [](const Bundle& b) { return b.cells <= BundleSet::kNarrow; }, eight);
  if (limits.lanes == 1) deal(kMaxCodes, crowded, eight);
  deal(kMaxCodes, [](const Bundle&) { return true; }, [&](const Bundle&) { return most; });
  return sets;
}

}  // namespace

std::vector<BundleSet> bundle_features(const Bins& bins, std::vector<std::size_t> features,
                                       std::size_t lanes, bool has_curvature,
                                       const std::vector<AccumulationBlock>& blocks,
                                       const std::vector<double>& crowding) {
  return deal_into_sets(bins, std::move(features), lanes == 1 ? 4 : 2,
                        BundleLimits(lanes, has_curvature, blocks), crowding);
}

}  // namespace properboost
