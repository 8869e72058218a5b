// Screens by weight: some rows, drawn by their weights, that a tree is grown from before its leaves
// have the sums of all.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/core/fixed_point.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/random.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/row_sample_weights.hpp"

namespace properboost {

// A split depends on a row by its gradient, which is its weight.  So a row is drawn with a chance
// in proportion to its weight, and counts for 1 / chance rows.  Then sums are right on average, and
// no other chances would make them vary less (importance sampling).
//
// A part of the chance is in proportion to curvatures, where these are summed: a loss may have rows
// of little weight and much curvature, which would count for very many rows.
class WeightedScreen {
 public:
  // The part of one model in the chances: its rows' weights and, if needed, curvatures.
  struct Model {
    const float* weight;
    const float* curvature;  // or null
    CellUnits units;         // of all rows
  };

  // Draws about so many rows, which all models share.
  WeightedScreen(std::vector<Model> models, RowSampleWeights sample_weight, RowNumbers numbers,
                 double rows)
      : models_(std::move(models)), sample_weight_(sample_weight), numbers_(numbers), rows_(rows) {
    double weight = 0.0, curvature = 0.0;
    for (const Model& model : models_) {
      weight += model.units.total_weight;
      if (model.curvature != nullptr) curvature += model.units.total_curvature;
    }
    const double of_curvature = curvature > 0.0 ? kShareOfCurvature : 0.0;
    if (weight > 0.0) per_weight_ = (1.0 - of_curvature) * rows / weight;
    if (curvature > 0.0) per_curvature_ = of_curvature * rows / curvature;
  }

  // How many rows a drawn row counts for.
  double stands_for(std::size_t row) const noexcept {
    double chance = 0.0;
    for (const Model& model : models_) {
      chance += per_weight_ * static_cast<double>(model.weight[row]);
      if (model.curvature != nullptr) {
        chance += per_curvature_ * static_cast<double>(model.curvature[row]);
      }
    }
    return 1.0 / std::min(1.0, chance * sample_weight_[row]);
  }

  // The same of n rows, in the same bits.
  void stand_for(const std::uint32_t* rows, std::size_t n, double* out) const noexcept {
    std::array<float, kStrip> gathered;
    std::array<double, kStrip> chances;
    for (std::size_t done = 0; done < n; done += kStrip) {
      const std::uint32_t* const row = rows + done;
      const std::size_t size = std::min(kStrip, n - done);
      std::fill_n(chances.begin(), size, 0.0);
      for (const Model& model : models_) {
        for (std::size_t i = 0; i < size; ++i) gathered[i] = model.weight[row[i]];
        add(gathered.data(), per_weight_, size, chances.data());
        if (model.curvature == nullptr) continue;
        for (std::size_t i = 0; i < size; ++i) gathered[i] = model.curvature[row[i]];
        add(gathered.data(), per_curvature_, size, chances.data());
      }
      for (std::size_t i = 0; i < size; ++i) chances[i] *= sample_weight_[row[i]];
      vectorized([=, to = out + done, from = chances.data()] {
        double* const __restrict numbers = to;  // copies, which nothing written could change
        const double* const chance = from;
        const std::size_t all = size;
        for (std::size_t i = 0; i < all; ++i) numbers[i] = 1.0 / std::min(1.0, chance[i]);
      });
    }
  }

  // Writes which of n rows from `begin` on are drawn.
  void draw(std::uint64_t stream, std::size_t begin, std::size_t n, std::uint8_t* drawn) const {
    std::array<double, kStrip> chances;
    for (std::size_t done = 0; done < n; done += kStrip) {
      const std::size_t first = begin + done, size = std::min(kStrip, n - done);
      find_chances(first, size, chances.data());
      vectorized([=, number = numbers_, out = drawn + done, from = chances.data()] {
        std::uint8_t* const __restrict to = out;  // copies, which nothing written could change
        const double* const chance = from;
        const RowNumbers row_numbers = number;
        const std::uint64_t bits = stream;
        const std::size_t begin_here = first, rows_here = size;
        for (std::size_t i = 0; i < rows_here; ++i) {
          const auto high =
              static_cast<std::int32_t>(draw_bits(bits, row_numbers[begin_here + i]) >> 33);
          to[i] = static_cast<double>(high) < chance[i] * 0x1p31 ? 1 : 0;
        }
      });
    }
  }

  // The units of what drawn rows add, for a model with these units of all rows.
  CellUnits units(const CellUnits& all) const {
    const auto most = [](double of_all, double per_number) {
      return per_number > 0.0 ? std::max(of_all, 1.0 / per_number) : of_all;
    };
    // Bernstein's inequality: sums are not above this bound but with a chance of e^-50.
    const auto total = [](double of_all, double per_number) {
      if (!(per_number > 0.0)) return of_all;
      return of_all + 12.0 * std::sqrt(of_all / per_number) + 100.0 / per_number;
    };
    CellUnits drawn{total(all.total_weight, per_weight_),
                    total(all.total_curvature, per_curvature_), most(all.most_weight, per_weight_),
                    most(all.most_curvature, per_curvature_)};
    constexpr double kFewRows = 4096.0;  // whose errors of rounding would not even out
    if (all.rows > 0.0 && rows_ >= kFewRows) drawn.rows = rows_;
    return drawn;
  }

 private:
  static constexpr double kShareOfCurvature = 0.05;
  static constexpr std::size_t kStrip = 256;

  // The chances of n rows from `begin` on, which may exceed 1.
  void find_chances(std::size_t begin, std::size_t n, double* chances) const noexcept {
    std::fill_n(chances, n, 0.0);
    for (const Model& model : models_) {
      add(model.weight + begin, per_weight_, n, chances);
      if (model.curvature != nullptr) add(model.curvature + begin, per_curvature_, n, chances);
    }
    if (sample_weight_.all_ones()) return;
    for (std::size_t i = 0; i < n; ++i) chances[i] *= sample_weight_.stored(begin + i);
  }
  static void add(const float* number, double per_number, std::size_t n, double* chances) noexcept {
    vectorized([=] {
      double* const __restrict to = chances;  // copies, which nothing written could change
      const float* const from = number;
      const double scale = per_number;
      const std::size_t all = n;
      for (std::size_t i = 0; i < all; ++i) to[i] += scale * static_cast<double>(from[i]);
    });
  }

  std::vector<Model> models_;
  RowSampleWeights sample_weight_;
  RowNumbers numbers_;
  double rows_;
  double per_weight_ = 0.0, per_curvature_ = 0.0;
};

}  // namespace properboost
