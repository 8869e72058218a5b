// Sums of the rows at a node by the codes of all features, or of one: [feature][slot][code].
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/words.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/leaf_rows.hpp"
#include "properboost/trees/row_units.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

template <bool kCurvature>
class LeafSums {
 public:
  using Unit = Units<kCurvature>;
  using Sums = Aligned<Unit>;

  LeafSums(const Codes& codes, const PackedCodes& packed, const Bins& bins, const Slots& slots,
           const LeafRows& rows, const RowUnits<kCurvature>& units, Team& team)
      : codes_(codes),
        packed_(packed),
        bins_(bins),
        slots_(slots),
        rows_(rows),
        units_(units),
        team_(team) {}

  // The number of numbers in all features' sums.
  std::size_t size() const { return slots_.n * bins_.total_width(); }
  // The number of additions for them.
  std::size_t adds(std::size_t node) const { return rows_.place(node).size() * bins_.size(); }

  // Whether all features are summed at once.  If most of many sums would have no row, summing one
  // feature at a time takes less memory and no more time.
  bool at_once(std::size_t node) const {
    constexpr std::size_t kFew = std::size_t{1} << 17;
    return size() <= std::max(kFew, 8 * adds(node));
  }

  Sums add_up(std::size_t node) {
    const LeafRows::Place& place = rows_.place(node);
    const std::size_t begin = place.bounds.front(), n = place.size();
    const std::uint32_t* const row = rows_.rows(node);
    const bool in_order = rows_.follow_each_other(node);
    const double nanoseconds =
        0.4 * static_cast<double>(adds(node)) + 0.5 * static_cast<double>(size());
    // Rows are summed in parts; the order does not matter for whole numbers.
    const std::size_t worthwhile = std::min(n / kRowsForParts, adds(node) / size());
    const std::size_t parts = std::clamp<std::size_t>(worthwhile, 1, team_.size());
    std::vector<Sums> sums(parts);
    for (Sums& part : sums) part = take();
    team_.for_each(parts, nanoseconds, [&](std::size_t part) {
      std::fill(sums[part].begin(), sums[part].end(), Unit{});
      for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
        const std::size_t from = std::max(place.bounds[s], begin + n * part / parts);
        const std::size_t end = std::min(place.bounds[s + 1], begin + n * (part + 1) / parts);
        const std::size_t slot = slots_.of_segment[s];
        for (std::size_t i = from; i < end; i += block_) {
          const std::size_t size = std::min(block_, end - i);
          if (in_order) {
            add_block(row[i], nullptr, units_.data() + row[i], size, slot, sums[part]);
          } else {
            std::array<Unit, kMostRows> own;
            for (std::size_t j = 0; j < size; ++j) own[j] = units_[row[i + j]];
            const std::size_t ahead = std::min(block_, end - i - size);
            add_block(0, row + i, own.data(), size, slot, sums[part], ahead);
          }
        }
      }
    });
    for (std::size_t part = 1; part < parts; ++part) {
      for (std::size_t i = 0; i < size(); ++i) sums[0][i] += sums[part][i];
      give_back(std::move(sums[part]));
    }
    return std::move(sums[0]);
  }

  // One feature's sums: part of those of all features or, if these are empty, made in `memory`.
  const Unit* feature(std::size_t node, const Sums& all, std::size_t f, Sums& memory) const {
    if (!all.empty()) return all.data() + first(f, 0);
    const LeafRows::Place& place = rows_.place(node);
    const std::uint32_t* const row = rows_.rows(node);
    const std::uint8_t* const code = codes_.feature(f);
    const auto width = static_cast<std::size_t>(bins_[f].width());
    memory.assign(slots_.n * width, Unit{});
    for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
      Unit* const own = memory.data() + slots_.of_segment[s] * width;
      for (std::size_t i = place.bounds[s]; i < place.bounds[s + 1]; ++i) {
        own[code[row[i]]] += units_[row[i]];
      }
    }
    return memory.data();
  }

  // Whether a node's sums are kept until it is split, if others take so many bytes.  Beyond a
  // limit, sums of leaves with few rows are recomputed instead: a tree may have many such leaves.
  bool are_kept(std::size_t node, std::size_t others) const {
    constexpr std::size_t kMostKept = std::size_t{1} << 26;
    return others + bytes() <= kMostKept || 8 * size() < adds(node);
  }
  std::size_t bytes() const { return size() * sizeof(Unit); }

  void give_back(Sums&& sums) {
    if (!sums.empty()) spare_.push_back(std::move(sums));
    sums.clear();
  }

 private:
  static constexpr std::size_t kRowsForParts = 2048;
  // The size of a block's codes, and the most rows of a block.
  static constexpr std::size_t kBlockBytes = 1u << 14;
  static constexpr std::size_t kMostRows = 512;

  // Where the sums of a slot begin.
  std::size_t first(std::size_t f, std::size_t slot) const {
    return slots_.n * bins_.offset(f) + slot * static_cast<std::size_t>(bins_[f].width());
  }

  Sums take() {
    if (spare_.empty()) return Sums(size());
    Sums sums = std::move(spare_.back());
    spare_.pop_back();
    return sums;
  }

  // Adds a block of rows of a segment: few enough for their codes to stay in the cache while the
  // words of codes take turns.  On the way the codes of some rows that come next are asked for.
  void add_block(std::size_t first_row, const std::uint32_t* rows, const Unit* units, std::size_t n,
                 std::size_t slot, Sums& sums, std::size_t ahead = 0) const {
    for (std::size_t g = 0; g < packed_.words(); ++g) {
      for (std::size_t i = ahead * g / packed_.words(); i < ahead * (g + 1) / packed_.words();
           ++i) {
        packed_.prefetch(rows[n + i]);
        prefetch(&units_[rows[n + i]]);
      }
      const std::size_t f = g * PackedCodes::kTogether;
      std::array<Unit*, PackedCodes::kTogether> cells{};
      for (std::size_t k = 0; k < packed_.size(g); ++k) {
        cells[k] = sums.data() + first(f + k, slot);
      }
      visit_features(packed_.size(g), [&](auto size) {
        add_units<size>(packed_.row(first_row) + f, packed_.stride(), rows, units, n, cells.data());
      });
    }
  }

  // Adds the units of n rows to the cells of the features of one word.  Rows are those named, or
  // follow the first.
  template <std::size_t Features>
  static void add_units(const std::uint8_t* first, std::size_t stride, const std::uint32_t* rows,
                        const Unit* units, std::size_t n, Unit* const* cells) {
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t word;
      const std::size_t row = rows == nullptr ? i : rows[i];
      std::memcpy(&word, first + row * stride, sizeof word);
      const Unit unit = units[i];
      for (unsigned g = 0; g < Features; ++g) {
        cells[g][unpack<std::uint8_t>(word, g)] += unit;
      }
    }
  }

  template <class Visitor>
  static void visit_features(std::size_t size, const Visitor& visitor) {
    switch (size) {
      case 1: return visitor(std::integral_constant<std::size_t, 1>{});
      case 2: return visitor(std::integral_constant<std::size_t, 2>{});
      case 3: return visitor(std::integral_constant<std::size_t, 3>{});
      case 4: return visitor(std::integral_constant<std::size_t, 4>{});
      case 5: return visitor(std::integral_constant<std::size_t, 5>{});
      case 6: return visitor(std::integral_constant<std::size_t, 6>{});
      case 7: return visitor(std::integral_constant<std::size_t, 7>{});
      default: return visitor(std::integral_constant<std::size_t, 8>{});
    }
  }

  const Codes& codes_;
  const PackedCodes& packed_;
  const Bins& bins_;
  const Slots& slots_;
  const LeafRows& rows_;
  const RowUnits<kCurvature>& units_;
  Team& team_;
  std::vector<Sums> spare_;
  const std::size_t block_ = std::clamp<std::size_t>(kBlockBytes / packed_.stride(), 64, kMostRows);
};

}  // namespace properboost
