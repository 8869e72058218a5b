// Rows' weights in several classes as whole numbers, for trees that the classes of a joint model
// share: sums do not depend on the order of additions, and differences of sums are exact.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/random.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/cells/row_units.hpp"

namespace properboost {

// For each class a row has a gradient (its weight, with the sign of its label) and the number that
// the criterion divides by: its curvature or its weight.  Both are rounded up or down at random, by
// the tree's key and the row's codes, so that sums of 31 bits are right on average: a table of sums
// has a few numbers for each code and class, and its size limits the speed of trees of several
// classes.
class JointUnits {
 public:
  // `classes` has every class's weights; `class_of` the class of each segment.  Rows of a screen
  // count for those that they stand for.
  void set(const std::vector<RowWeights>& classes, bool needs_curvature,
           const std::vector<std::size_t>& class_of, const std::vector<RowBlock>& blocks,
           const PackedCodes& packed, std::uint64_t key, Team& team) {
    classes_ = classes.size();
    double a_pass = 0.0;
    for (const RowBlock& block : blocks) a_pass += static_cast<double>(block.end - block.begin);
    a_pass *= static_cast<double>(classes_);
    double most_weight = 0.0, most_curvature = 0.0;  // of a class
    for (const RowWeights& weights : classes) {
      most_weight = std::max(most_weight, weights.units.total_weight);
      most_curvature = std::max(most_curvature, weights.units.total_curvature);
    }
    double most = 1.0;  // rows that one stands for
    for (std::size_t k = 0; k < classes_; ++k) most = std::max(most, classes[0].stands_for(k));
    most_weight *= most;
    most_curvature *= most;
    gradient_ = FixedPoint(most_weight, kBits);
    beside_ = needs_curvature ? FixedPoint(most_curvature, kBits) : gradient_;
    const double gradients = gradient_.per_unit, besides = beside_.per_unit;
    if (hashes_.empty()) hash_rows(packed, team);
    if (classes.front().is_soft() && shares_.empty()) take_shares(classes, packed.rows());
    units_.resize(packed.rows() * stride());
    const std::uint64_t stream = stream_key(key, kRoundingStream);
    team.for_each(blocks.size(), 3.0 * a_pass, [&](std::size_t c) {
      constexpr std::size_t kStrip = 128;  // rows whose units stay in the cache
      const RowBlock& block = blocks[c];
      const double stands_for = classes[0].stands_for(class_of[block.segment]);
      std::array<std::uint32_t, kStrip> drawn;
      for (std::size_t begin = block.begin; begin < block.end; begin += kStrip) {
        const std::size_t n = std::min(kStrip, block.end - begin);
        for (std::size_t i = 0; i < n; ++i) {
          drawn[i] = static_cast<std::uint32_t>(draw_bits(stream, hashes_[begin + i]) >> 32);
        }
        std::int32_t* const strip = units_.data() + begin * stride();
        std::fill_n(strip, n * stride(), 0);
        for (std::size_t k = 0; k < classes_; ++k) {
          const RowWeights& weights = classes[k];
          std::int32_t sign = class_of[block.segment] == k ? 1 : -1;
          std::int32_t* to = strip + k;
          for (std::size_t i = 0; i < n; ++i, to += stride()) {
            // Classes of a row are rounded apart: by a low-discrepancy sequence from its draw.
            const auto turn = static_cast<std::uint32_t>(k * kGolden);
            const double up = 0x1p-32 * static_cast<double>(drawn[i] + turn);
            double weight = stands_for * weights.weight_of(begin + i);
            double gradient = weight;
            if (weights.is_soft()) {
              const double against = stands_for * weights.against_of(begin + i);
              gradient = std::abs(weight - against);
              sign = weight < against ? -1 : 1;
              weight += against;
            }
            const double beside =
                needs_curvature ? stands_for * weights.curvature_of(begin + i) : weight;
            to[0] = sign * static_cast<std::int32_t>(gradients * gradient + up);
            to[classes_] = static_cast<std::int32_t>(besides * beside + up);
          }
        }
      }
    });
  }

  std::size_t classes() const noexcept { return classes_; }
  // The numbers of a row, in whole vectors: its gradients by class, then their divisors.
  std::size_t stride() const noexcept { return stride_for(classes_); }
  const std::int32_t* row(std::size_t i) const noexcept { return units_.data() + i * stride(); }
  // The classes' shares of a row with soft labels.
  const float* shares(std::size_t i) const noexcept { return shares_.data() + i * classes_; }
  double gradient_unit() const noexcept { return gradient_.unit; }
  double beside_unit() const noexcept { return beside_.unit; }

  static constexpr std::size_t kTogether = 8;  // sums in a vector
  static std::size_t stride_for(std::size_t classes) noexcept {
    return (2 * classes + kTogether - 1) / kTogether * kTogether;
  }

 private:
  static constexpr std::uint64_t kRoundingStream = ~std::uint64_t{0};
  static constexpr std::uint64_t kGolden = 0x9e3779b9;

  static constexpr int kBits = 30;  // of sums, before rounding

  void hash_rows(const PackedCodes& packed, Team& team) {
    constexpr std::size_t kRows = 4096;
    hashes_.resize(packed.rows());
    const std::size_t blocks = (packed.rows() + kRows - 1) / kRows;
    const double nanoseconds = static_cast<double>(packed.rows() * packed.stride());
    team.for_each(blocks, nanoseconds, [&](std::size_t c) {
      for (std::size_t i = c * kRows; i < std::min(packed.rows(), (c + 1) * kRows); ++i) {
        std::uint64_t hash = 0;
        for (std::size_t w = 0; w < packed.words(); ++w) {
          std::uint64_t word;
          std::memcpy(&word, packed.row(i) + w * sizeof word, sizeof word);
          hash = mix_bits(hash ^ word) + kStride;
        }
        hashes_[i] = hash;
      }
    });
  }

  void take_shares(const std::vector<RowWeights>& classes, std::size_t rows) {
    shares_.resize(rows * classes_);
    for (std::size_t k = 0; k < classes_; ++k) {
      for (std::size_t i = 0; i < rows; ++i) shares_[i * classes_ + k] = classes[k].shares[i];
    }
  }

  std::size_t classes_ = 0;
  FixedPoint gradient_, beside_;
  Aligned<float> shares_;  // [row][class]
  Aligned<std::int32_t> units_;
  Aligned<std::uint64_t> hashes_;  // of the rows' codes
};

}  // namespace properboost
