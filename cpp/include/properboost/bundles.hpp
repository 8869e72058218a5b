// Bundles: features that are summed as one.
//
// Features of few codes are summed in joint cells, one add for all of them; what each has by itself
// is read off at the end.  The index of a joint cell is worked out from the codes as they are read,
// so that nothing but the sums differs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/codes.hpp"

namespace properboost {

// Cell (a * width of b + b) * width of c + c holds the rows of codes a, b, c.
struct Bundle {
  std::vector<std::size_t> features;
  std::size_t cells;

  bool joint() const noexcept { return features.size() > 1; }
};

// Features dealt into bundles of at most `most` cells, the widest first and each into the fullest
// bundle that has room.
inline std::vector<Bundle> bundle_features(const Bins& bins, std::size_t most) {
  std::vector<std::size_t> order(bins.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bins[a].width() > bins[b].width(); });
  std::vector<Bundle> bundles;
  std::size_t open = 0;  // those before have no room for the narrowest feature
  const auto narrowest = order.empty() ? 1 : static_cast<std::size_t>(bins[order.back()].width());
  for (const std::size_t f : order) {
    const auto width = static_cast<std::size_t>(bins[f].width());
    std::size_t best = bundles.size();
    for (std::size_t k = open; k < bundles.size(); ++k) {
      if (bundles[k].cells * width > most) continue;
      if (best == bundles.size() || bundles[k].cells > bundles[best].cells) best = k;
    }
    if (best == bundles.size()) bundles.push_back({{}, 1});
    bundles[best].features.push_back(f);
    bundles[best].cells *= width;
    while (open < bundles.size() && bundles[open].cells * narrowest > most) ++open;
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
  constexpr std::size_t kSums = kNumbers < 8 ? 8 : kNumbers;
  const std::size_t n = rest * kNumbers;
  std::fill_n(others, n, 0.0);
  for (std::size_t a = 0; a < first; ++a) {
    const From* const from = joint + a * n;
    double sums[kSums] = {};
    std::size_t j = 0;
    for (; j + kSums <= n; j += kSums) {
      for (std::size_t k = 0; k < kSums; ++k) {
        const auto x = static_cast<double>(from[j + k]);
        sums[k] += x;
        others[j + k] += x;
      }
    }
    for (std::size_t k = 0; j + k < n; ++k) {
      const auto x = static_cast<double>(from[j + k]);
      sums[k] += x;
      others[j + k] += x;
    }
    for (std::size_t k = 0; k < kNumbers; ++k) own[a * kNumbers + k] = 0.0;
    for (std::size_t k = 0; k < kSums; ++k) own[a * kNumbers + k % kNumbers] += sums[k];
  }
}

}  // namespace properboost
