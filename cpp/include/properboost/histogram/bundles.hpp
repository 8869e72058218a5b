// Bundles: features that are summed as one.
//
// Features of few codes are summed in joint cells, one add for all of them; what each has by itself
// is read off at the end.  The index of a joint cell is worked out from the codes as they are read,
// so that nothing but the sums differs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/stretches.hpp"

namespace properboost {

// Cell (a * width of b + b) * width of c + c holds the rows of codes a, b, c.
struct Bundle {
  std::vector<std::size_t> features;
  std::size_t cells = 1;
  double crowding = 1.0;  // share of rows in the fullest cell, if features are independent
  double fullest = 1.0;   // and at most, whatever they are

  bool joint() const noexcept { return features.size() > 1; }
};

// How large joint cells may be.
struct BundleLimits {
  // Two features of 64 bins, with missing and unseen values.  With those summed at the same time
  // they stay in the first cache.
  static constexpr std::size_t kMostCells = 66 * 66;
  static constexpr std::size_t kBytes = 8 * kMostCells;
  static constexpr std::size_t most_cells(std::size_t lanes, bool has_curvature) {
    const std::size_t bytes = sizeof(float) * lanes * (has_curvature ? 2 : 1);
    return bytes * kMostCells <= kBytes ? kMostCells : kBytes / bytes;
  }
  // What reading off costs must be little beside the adds that are saved.
  static constexpr std::size_t kRowsPerCell = 6;
  // Sums of many lanes differ in their last digits from those of one by one, and of so few rows
  // that might show.
  static constexpr std::size_t kFewRows = 16'384;
  // So many rows of a cell are summed in float32 without harm to the digits that matter.
  static constexpr double kRowsInFloat = 2048.0;

  std::size_t lanes;
  bool has_curvature;
  std::size_t cells = 1;  // of a bundle

  BundleLimits(std::size_t n_lanes, bool needs_curvature, const std::vector<Stretch>& stretches)
      : lanes(n_lanes), has_curvature(needs_curvature) {
    const std::size_t rows = count_rows(stretches);
    if (rows == 0 || (lanes > 1 && rows < kFewRows)) return;
    rows_ = rows / stretches.size();
    cells = std::min(most_cells(lanes, has_curvature), rows_ / kRowsPerCell);
  }

  // Many rows of a lone model are summed in float32 where no cell is crowded: twice as many sums
  // fit the cache, and of pairs of weight and curvature twice as many are added a time.
  bool in_float(const Bundle& bundle) const noexcept {
    return lanes > 1 ||
           (rows_ >= kFewRows && bundle.fullest * static_cast<double>(rows_) <= kRowsInFloat);
  }
  std::size_t sum_bytes(bool in_float) const noexcept {
    return lanes * (has_curvature ? 2 : 1) * (in_float ? sizeof(float) : sizeof(double));
  }

 private:
  std::size_t rows_ = 0;  // of a stretch
};

// Features dealt into bundles, the widest first and each into the fullest bundle that has room;
// crowding[f] is the share of the rows in the fullest code of feature f.
inline std::vector<Bundle> bundle_features(const Bins& bins, const BundleLimits& limits,
                                           const std::vector<double>& crowding) {
  const auto width = [&](std::size_t f) { return static_cast<std::size_t>(bins[f].width()); };
  std::vector<std::size_t> order(bins.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return width(a) > width(b); });
  std::vector<Bundle> bundles;
  const auto put = [&](Bundle& bundle, std::size_t f) {
    bundle.features.push_back(f);
    bundle.cells *= width(f);
    bundle.crowding *= crowding[f];
    bundle.fullest = std::min(bundle.fullest, crowding[f]);
  };
  std::size_t open = 0;  // bundles before have no room for the narrowest feature
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

// Asks for the codes of n rows from `begin` on: a block's are read all at once, which is too late
// for the processor to see them coming.
inline void prefetch_codes(const Bundle& bundle, const Codes& codes, std::size_t begin,
                           std::size_t n) {
#if defined(__GNUC__)
  if (begin + n > codes.rows) return;
  for (const std::size_t f : bundle.features) {
    const std::uint8_t* const code = codes.feature(f) + begin;
    for (std::size_t i = 0; i < n; i += 64) __builtin_prefetch(code + i);
  }
#endif
}

// joint[i] = the joint cell of row begin + i, i < n.
inline void find_joint_cells(const Bundle& bundle, const Bins& bins, const Codes& codes,
                             std::size_t begin, std::size_t n, std::uint16_t* __restrict joint) {
  const auto code = [&](std::size_t k) { return codes.feature(bundle.features[k]) + begin; };
  const auto width = [&](std::size_t k) {
    return static_cast<std::uint16_t>(bins[bundle.features[k]].width());
  };
  const std::uint8_t* const first = code(0);
  const std::uint8_t* const second = code(1);
  const std::uint16_t second_width = width(1);
  for (std::size_t i = 0; i < n; ++i) {
    joint[i] = static_cast<std::uint16_t>(first[i] * second_width + second[i]);
  }
  for (std::size_t k = 2; k < bundle.features.size(); ++k) {
    const std::uint8_t* const next = code(k);
    const std::uint16_t its_width = width(k);
    for (std::size_t i = 0; i < n; ++i) {
      joint[i] = static_cast<std::uint16_t>(joint[i] * its_width + next[i]);
    }
  }
}

// Sums over `first` times `rest` joint cells of kNumbers numbers each: own[a] of the cells with
// first index a, others[r] of those with second index r.
template <std::size_t kNumbers, class From>
void marginalize(const From* joint, std::size_t first, std::size_t rest, double* own,
                 double* others) {
  // A block of numbers at a time, down all first indices: no sum waits for the one just before.
  constexpr std::size_t kSums = kNumbers < 8 ? 8 : kNumbers;
  const std::size_t n = rest * kNumbers;
  alignas(64) double parts[kMaxCodes][kSums];  // of own[a], by place in the block
  for (std::size_t a = 0; a < first; ++a) std::fill_n(parts[a], kSums, 0.0);
  const auto add_block = [&](std::size_t j, std::size_t size) {
    double sums[kSums] = {};
    for (std::size_t a = 0; a < first; ++a) {
      const From* const from = joint + a * n + j;
      for (std::size_t k = 0; k < kSums; ++k) {
        const double x = k < size ? static_cast<double>(from[k]) : 0.0;
        sums[k] += x;
        parts[a][k] += x;
      }
    }
    for (std::size_t k = 0; k < size; ++k) others[j + k] = sums[k];
  };
  std::size_t j = 0;
  for (; j + kSums <= n; j += kSums) add_block(j, kSums);
  if (j < n) add_block(j, n - j);
  for (std::size_t a = 0; a < first; ++a) {
    for (std::size_t k = 0; k < kNumbers; ++k) own[a * kNumbers + k] = 0.0;
    for (std::size_t k = 0; k < kSums; ++k) own[a * kNumbers + k % kNumbers] += parts[a][k];
  }
}

}  // namespace properboost
