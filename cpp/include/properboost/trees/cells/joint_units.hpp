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
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/random.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"

namespace properboost {

// For each class a row has a gradient (its weight, with the sign of its label) and the number that
// the criterion divides by: its curvature or its weight.  Both are rounded up or down at random, by
// the tree's key and the row's codes, so that sums of 31 bits are right on average: a table of sums
// has a few numbers for each code and class, and its size limits the speed of trees of several
// classes.
class JointUnits {
 public:
  // Takes the rows at the root of a tree.  `classes` has every class's weights; `class_of` the
  // class of each training segment.  Rows of a screen add as much as those that they count for.
  void set(const std::vector<RowWeights>& classes, bool needs_curvature,
           const std::vector<std::size_t>& class_of, const LeafRows& rows,
           const PackedCodes& packed, std::uint64_t key, Team& team) {
    classes_ = classes.size();
    double most_weight = 0.0, most_curvature = 0.0;  // of a class
    for (const RowWeights& weights : classes) {
      most_weight = std::max(most_weight, weights.units.total_weight);
      most_curvature = std::max(most_curvature, weights.units.total_curvature);
    }
    gradient_ = FixedPoint(most_weight, kBits);
    beside_ = needs_curvature ? FixedPoint(most_curvature, kBits) : gradient_;
    if (hashes_.empty()) hash_rows(packed, team);
    if (classes.front().is_soft() && shares_.empty()) take_shares(classes, packed.rows());
    units_.resize(packed.rows() * stride());
    const std::uint64_t stream = stream_key(key, kRoundingStream);
    const double nanoseconds = 3.0 * static_cast<double>(classes_);
    rows.visit(
        0, nanoseconds,
        [&](const std::uint32_t* row, std::size_t all, std::size_t s) {
          for (std::size_t done = 0; done < all; done += kStrip) {
            const std::size_t n = std::min(kStrip, all - done);
            const std::uint32_t* const strip = row + done;
            const auto set_rows = [&](const auto& row_at) {
              set_strip(classes, needs_curvature, class_of[s], stream, n, row_at);
            };
            if (strip[n - 1] - strip[0] == n - 1) {
              set_rows([first = strip[0]](std::size_t i) { return first + i; });
            } else {
              set_rows([strip](std::size_t i) { return std::size_t{strip[i]}; });
            }
          }
        },
        team);
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

  static constexpr std::size_t kStrip = 128;  // rows whose units stay in the cache
  template <class Number>
  using Strip = std::array<Number, kStrip>;

  // Sets n rows of a class, the i-th of which is row_at(i).
  template <class RowAt>
  void set_strip(const std::vector<RowWeights>& classes, bool needs_curvature,
                 std::size_t class_of_rows, std::uint64_t stream, std::size_t n,
                 const RowAt& row_at) {
    Strip<std::uint32_t> drawn;
    Strip<double> stands_for, weight, gradient, curvature;
    Strip<std::int32_t> sign, rounded, beside;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row_number = row_at(i);
      drawn[i] = static_cast<std::uint32_t>(draw_bits(stream, hashes_[row_number]) >> 32);
      stands_for[i] = classes[0].stands_for(row_number);
      std::fill_n(units_.data() + row_number * stride(), stride(), 0);
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      const RowWeights& weights = classes[k];
      const bool is_soft = weights.is_soft();
      for (std::size_t i = 0; i < n; ++i) {
        weight[i] = stands_for[i] * weights.weight_of(row_at(i));
      }
      std::fill_n(sign.begin(), n, class_of_rows == k ? 1 : -1);
      for (std::size_t i = 0; is_soft && i < n; ++i) {
        const double against = weights.against_of(row_at(i));
        gradient[i] = std::abs(weight[i] - against);
        sign[i] = weight[i] < against ? -1 : 1;
        weight[i] += against;
      }
      for (std::size_t i = 0; needs_curvature && i < n; ++i) {
        curvature[i] = stands_for[i] * weights.curvature_of(row_at(i));
      }
      // Classes of a row are rounded apart: by a low-discrepancy sequence from its draw.
      const auto turn = static_cast<std::uint32_t>(k * kGolden);
      round(is_soft ? gradient : weight, gradient_.per_unit, drawn, turn, n, rounded);
      const bool are_same = !is_soft && !needs_curvature;
      if (!are_same) {
        round(needs_curvature ? curvature : weight, beside_.per_unit, drawn, turn, n, beside);
      }
      const Strip<std::int32_t>& divisor = are_same ? rounded : beside;
      for (std::size_t i = 0; i < n; ++i) {
        std::int32_t* const to = units_.data() + row_at(i) * stride() + k;
        to[0] = sign[i] * rounded[i];
        to[classes_] = divisor[i];
      }
    }
  }

  // Rounds n numbers, none of which is negative, up or down by the rows' draws.
  static void round(const Strip<double>& numbers, double per_unit,
                    const Strip<std::uint32_t>& drawn, std::uint32_t turn, std::size_t n,
                    Strip<std::int32_t>& out) {
    vectorized([=, from = numbers.data(), draws = drawn.data(), to = out.data()] {
      const double* const __restrict number = from;  // copies, which nothing written could change
      const std::uint32_t* const __restrict draw = draws;
      std::int32_t* const __restrict rounded = to;
      const double scale = per_unit;
      const std::uint32_t shift = turn;
      const std::size_t all = n;
      for (std::size_t i = 0; i < all; ++i) {
        const double up = 0x1p-32 * static_cast<double>(draw[i] + shift);
        rounded[i] = static_cast<std::int32_t>(scale * number[i] + up);
      }
    });
  }

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
