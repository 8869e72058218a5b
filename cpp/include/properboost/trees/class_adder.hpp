// Adds rows' units to sums by the codes of features and by slot: [feature][slot][code].
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "properboost/core/aligned.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/words.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/row_units.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

template <bool kCurvature>
class ClassAdder {
 public:
  using Unit = Units<kCurvature>;

  // All arguments must outlive it.
  ClassAdder(const PackedCodes& packed, const Bins& bins, const Slots& slots,
             const RowUnits<kCurvature>& units)
      : packed_(packed), bins_(bins), slots_(slots), units_(units) {}

  // The sums of a code, and how many of them a row is added to.
  std::size_t per_code() const noexcept { return slots_.n; }
  static constexpr std::size_t per_row() noexcept { return 1; }

  // Adds n rows of the s-th training segment to the sums of all features, in the order of their
  // numbers.  `ahead` rows after them will come next.
  void add(const std::uint32_t* rows, std::size_t n, std::size_t s, Aligned<Unit>& sums,
           std::size_t ahead) const {
    const std::size_t slot = slots_.of_segment[s];
    if (rows[n - 1] - rows[0] == n - 1) {  // they follow each other
      add_block(rows[0], nullptr, units_.data() + rows[0], n, slot, sums, 0);
      return;
    }
    std::array<Unit, kMostRows> own;
    for (std::size_t j = 0; j < n; ++j) own[j] = units_[rows[j]];
    add_block(0, rows, own.data(), n, slot, sums, ahead);
  }

  // The same for one feature alone.
  void add_feature(const std::uint8_t* code, std::size_t f, const std::uint32_t* rows,
                   std::size_t n, std::size_t s, Unit* sums) const {
    Unit* const own = sums + slots_.of_segment[s] * static_cast<std::size_t>(bins_[f].width());
    for (std::size_t i = 0; i < n; ++i) own[code[rows[i]]] += units_[rows[i]];
  }

  static constexpr std::size_t kMostRows = 512;  // of a block

 private:
  // Where the sums of a slot begin.
  std::size_t first(std::size_t f, std::size_t slot) const {
    return slots_.n * bins_.offset(f) + slot * static_cast<std::size_t>(bins_[f].width());
  }

  // Adds a block of rows of a segment: few enough for their codes to stay in the cache while the
  // words of codes take turns.  On the way the codes of some rows that come next are asked for.
  void add_block(std::size_t first_row, const std::uint32_t* rows, const Unit* units, std::size_t n,
                 std::size_t slot, Aligned<Unit>& sums, std::size_t ahead) const {
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

  const PackedCodes& packed_;
  const Bins& bins_;
  const Slots& slots_;
  const RowUnits<kCurvature>& units_;
};

}  // namespace properboost
