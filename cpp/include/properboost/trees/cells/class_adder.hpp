// Adds rows' units to sums by the codes of features and by slot: [feature][slot][code].
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
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/words.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/histogram/add_by_codes.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

template <bool kCurvature>
class ClassAdder {
 public:
  using Unit = Units<kCurvature>;
  using Narrow = NarrowUnits<kCurvature>;

  // All arguments must outlive it.
  ClassAdder(const Codes& codes, const PackedCodes& packed, const Bins& bins, const Slots& slots,
             const RowUnits<kCurvature>& units)
      : codes_(codes), packed_(packed), bins_(bins), slots_(slots), units_(units) {
    if (packed.sparse().empty()) return;
    for (std::size_t slot = 0; slot < slots.n; ++slot) {
      for (std::size_t f = 0; f < bins.size(); ++f) entry_cells_.push_back(first(f, slot));
    }
  }

  static constexpr bool kTakesEntries = true;  // of sparse features

  // The sums of a code, and how many of them a row is added to.
  std::size_t per_code() const noexcept { return slots_.n; }
  static constexpr std::size_t per_row() noexcept { return 1; }
  // Whether rows of two training segments are added to the same sums.
  bool adds_alike(std::size_t a, std::size_t b) const {
    return slots_.of_segment[a] == slots_.of_segment[b];
  }

  static constexpr std::size_t kMostRows = 256;  // of a block

  // The codes that it reads, in whose order different threads may sum features.
  const PackedCodes& packed() const noexcept { return packed_; }

  // Narrow sums on their way: all 0 between runs.
  using Memory = Aligned<Narrow>;

  // Allocates memory for runs of `rows` rows, to the sums of all features.
  void prepare(Memory& memory, std::size_t rows) const {
    if (makes_narrow_sums(rows)) memory.resize(slots_.n * bins_.total_width());
  }

  // Sums some features over the rows that are added until it ends, about `rows` of them.
  class Run {
   public:
    Run(const ClassAdder& adder, FeatureRange features, Aligned<Unit>& sums, std::size_t rows,
        Memory& memory)
        : adder_(adder), features_(features), sums_(sums), memory_(memory) {
      if (adder.makes_narrow_sums(rows)) {
        const std::size_t n = features.end - features.begin;
        of_slot_.assign(adder.slots_.n, {adder.units_.most_rows(), std::vector<std::uint8_t>(n)});
      } else {
        for (std::size_t place = features.begin; place < features.end; ++place) {
          adder.clear(adder.packed_.feature(place), sums.data());
        }
      }
    }

    // Adds n rows of the s-th training segment, in the order of their numbers.
    void add(const std::uint32_t* rows, std::size_t n, std::size_t s) {
      const std::size_t slot = adder_.slots_.of_segment[s];
      while (n > 0) {
        std::size_t most = kMostInTurn;
        if (!of_slot_.empty()) {
          if (of_slot_[slot].room < kMostRows) make_room(slot);
          most = std::min(most, of_slot_[slot].room);
        }
        const std::size_t in_turn = std::min(n, most);
        const bool by_column =
            in_turn >= kFewestInTurn && rows[in_turn - 1] - rows[0] == in_turn - 1;
        const std::size_t size = by_column ? in_turn : std::min(n, adder_.packed_.block(kMostRows));
        const std::size_t ahead = by_column ? 0 : std::min(size, n - size);
        if (of_slot_.empty()) {
          adder_.add_wide(rows, size, slot, features_, sums_.data(), by_column, ahead);
        } else {
          adder_.add_narrow(rows, size, slot, features_, memory_.data(), by_column, ahead);
          of_slot_[slot].room -= size;
        }
        rows += size;
        n -= size;
      }
    }
    void end() {
      for (std::size_t slot = 0; slot < of_slot_.size(); ++slot) {
        for (std::size_t place = features_.begin; place < features_.end; ++place) {
          read_off(place, slot);
        }
      }
    }

    // Rows that follow each other, whose codes are read column by column.
    static constexpr std::size_t kFewestInTurn = 128, kMostInTurn = 1000;
    static_assert(2 * kMostRows <= NarrowScale::kLeastRows + 1);

   private:
    struct OfSlot {
      std::size_t room;                     // rows that may be added before sums could overflow
      std::vector<std::uint8_t> has_begun;  // whether sums were read off
    };

    // Reads off the sums that are large.  Others have room for more rows than they have had, as few
    // rows share a code and most are lighter than the largest.
    void make_room(std::size_t slot) {
      constexpr std::uint32_t kLarge = std::uint32_t{1} << 31;
      std::uint32_t most = 0;
      for (std::size_t place = features_.begin; place < features_.end; ++place) {
        const std::uint32_t largest = find_largest(adder_.packed_.feature(place), slot);
        if (largest >= kLarge) {
          read_off(place, slot);
        } else {
          most = std::max(most, largest);
        }
      }
      of_slot_[slot].room = adder_.units_.most_rows_beside(most);
    }
    // The largest number in a feature's narrow sums.
    std::uint32_t find_largest(std::size_t f, std::size_t slot) const {
      const auto* const from =
          reinterpret_cast<const std::uint32_t*>(memory_.data() + adder_.first(f, slot));
      const std::size_t n = numbers_of(f);
      std::uint32_t largest = 0;
      vectorized([=, &largest] {
        std::uint32_t most = 0;
        for (std::size_t i = 0; i < n; ++i) most = std::max(most, from[i]);
        largest = most;
      });
      return largest;
    }
    // Moves the narrow sums of the feature at a place to the others.
    void read_off(std::size_t place, std::size_t slot) {
      const std::size_t f = adder_.packed_.feature(place);
      std::uint8_t& has_begun = of_slot_[slot].has_begun[place - features_.begin];
      const bool begun = std::exchange(has_begun, std::uint8_t{1}) != 0;
      const std::size_t at = adder_.first(f, slot);
      auto* const wide = reinterpret_cast<std::int64_t*>(sums_.data() + at);
      auto* const narrow = reinterpret_cast<std::uint32_t*>(memory_.data() + at);
      const std::size_t n = numbers_of(f);
      vectorized([=] {
        std::int64_t* const __restrict to = wide;
        std::uint32_t* const __restrict from = narrow;
        const std::size_t all = n;
        if (begun) {
          for (std::size_t i = 0; i < all; ++i) to[i] += from[i];
        } else {
          for (std::size_t i = 0; i < all; ++i) to[i] = from[i];
        }
        std::fill_n(from, all, 0);
      });
    }
    // How many numbers the sums of a feature have in a slot.
    std::size_t numbers_of(std::size_t f) const {
      constexpr std::size_t kEach = kCurvature ? 2 : 1;
      static_assert(sizeof(Narrow) == kEach * sizeof(std::uint32_t));
      static_assert(sizeof(Unit) == kEach * sizeof(std::int64_t));
      return static_cast<std::size_t>(adder_.bins_[f].width()) * kEach;
    }

    const ClassAdder& adder_;
    const FeatureRange features_;
    Aligned<Unit>& sums_;
    Memory& memory_;
    std::vector<OfSlot> of_slot_;  // none if sums are not narrow
  };

  // Sums the sparse ones of some features over the rows that are added until it ends: their
  // entries by their codes, and what is left of all rows by the common code.
  class EntryRun {
   public:
    EntryRun(const ClassAdder& adder, FeatureRange features, Aligned<Unit>& sums)
        : adder_(adder), features_(features), sums_(sums), all_(adder.slots_.n) {
      for_features([&](std::size_t f) { adder_.clear(f, sums_.data()); });
    }

    // Adds n rows of the s-th training segment.
    void add(const std::uint32_t* rows, std::size_t n, std::size_t s) {
      const std::size_t slot = adder_.slots_.of_segment[s];
      const std::size_t* const first = adder_.entry_cells_.data() + slot * adder_.bins_.size();
      const auto begin = static_cast<std::uint32_t>(features_.begin);
      const auto end = static_cast<std::uint32_t>(features_.end);
      for (std::size_t i = 0; i < n; ++i) {
        const Unit unit = adder_.units_[rows[i]];
        all_[slot] += unit;
        const PackedCodes::RowEntries row = adder_.packed_.entries(rows[i]);
        const std::uint32_t* const last = row.features + row.size;
        for (const std::uint32_t* f = std::lower_bound(row.features, last, begin);
             f != last && *f < end; ++f) {
          sums_[first[*f] + row.codes[f - row.features]] += unit;
        }
      }
    }
    void end() {
      for_features([&](std::size_t f) {
        for (std::size_t slot = 0; slot < all_.size(); ++slot) {
          Unit* const cells = sums_.data() + adder_.first(f, slot);
          const auto width = static_cast<std::size_t>(adder_.bins_[f].width());
          Unit rest = all_[slot];
          for (std::size_t b = 0; b < width; ++b) rest -= cells[b];
          cells[adder_.codes_.sparse.common[f]] += rest;
        }
      });
    }

   private:
    template <class Visit>
    void for_features(const Visit& visit) const {
      const std::vector<std::size_t>& sparse = adder_.packed_.sparse();
      for (auto f = std::lower_bound(sparse.begin(), sparse.end(), features_.begin);
           f != sparse.end() && *f < features_.end; ++f) {
        visit(*f);
      }
    }

    const ClassAdder& adder_;
    const FeatureRange features_;
    Aligned<Unit>& sums_;
    std::vector<Unit> all_;  // rows, by slot
  };

  // The same for one feature alone.
  void add_feature(const std::uint8_t* code, std::size_t f, const std::uint32_t* rows,
                   std::size_t n, std::size_t s, Unit* sums) const {
    Unit* const slot_sums =
        sums + slots_.of_segment[s] * static_cast<std::size_t>(bins_[f].width());
    for (std::size_t i = 0; i < n; ++i) slot_sums[code[rows[i]]] += units_[rows[i]];
  }

 private:
  bool makes_narrow_sums(std::size_t rows) const {
    // With fewer additions for each sum, reading it off would take the time that they save.
    constexpr std::size_t kAddsPerSum = 6;
    return units_.is_narrow() &&
           rows * packed_.features() >= kAddsPerSum * slots_.n * bins_.total_width();
  }

  // Where the sums of a feature begin; past the last one, where they end.
  std::size_t first(std::size_t f) const { return slots_.n * bins_.offset(f); }
  void clear(std::size_t f, Unit* sums) const {
    std::fill(sums + first(f), sums + first(f + 1), Unit{});
  }
  // Where those of a slot begin.
  std::size_t first(std::size_t f, std::size_t slot) const {
    return first(f) + slot * static_cast<std::size_t>(bins_[f].width());
  }

  void add_wide(const std::uint32_t* rows, std::size_t n, std::size_t slot, FeatureRange features,
                Unit* sums, bool by_column, std::size_t ahead) const {
    if (units_.is_narrow()) {
      add_rows(rows, n, slot, features, sums, by_column, ahead,
               [units = &units_](std::size_t row) { return (*units)[row]; });
    } else {
      add_rows(rows, n, slot, features, sums, by_column, ahead,
               [all = units_.data()](std::size_t row) { return all[row]; });
    }
  }
  void add_narrow(const std::uint32_t* rows, std::size_t n, std::size_t slot, FeatureRange features,
                  Narrow* sums, bool by_column, std::size_t ahead) const {
    add_rows(rows, n, slot, features, sums, by_column, ahead,
             [all = units_.narrow()](std::size_t row) { return all[row]; });
  }

  template <class Number, class NumberOf>
  void add_rows(const std::uint32_t* rows, std::size_t n, std::size_t slot, FeatureRange features,
                Number* sums, bool by_column, std::size_t ahead, const NumberOf& number_of) const {
    if (by_column) {
      add_columns(rows[0], rows[0] + n, slot, features, sums, number_of);
      return;
    }
    std::array<Number, kMostRows> gathered;
    for (std::size_t j = 0; j < n; ++j) gathered[j] = number_of(rows[j]);
    add_block(rows, gathered.data(), n, slot, features, sums, ahead);
  }

  // Adds rows from `begin` to `end`, a few features at a time.  The codes of later rows are
  // prefetched: so many columns take turns that the processor does not see them coming.
  template <class Number, class NumberOf>
  void add_columns(std::size_t begin, std::size_t end, std::size_t slot, FeatureRange features,
                   Number* sums, const NumberOf& number_of) const {
    constexpr std::size_t kTogether = 2;
    std::size_t place = features.begin;
    for (; place + kTogether <= features.end; place += kTogether) {
      std::array<const std::uint8_t*, kTogether> codes;
      std::array<Number*, kTogether> cells;
      for (std::size_t g = 0; g < kTogether; ++g) {
        const std::size_t f = packed_.feature(place + g);
        codes[g] = codes_.feature(f);
        cells[g] = sums + first(f, slot);
      }
      for (std::size_t i = begin; i < end; i += kCacheLine) {
        const std::size_t later = std::min(i + Run::kMostInTurn, codes_.rows - 1);
        for (std::size_t g = 0; g < kTogether; ++g) prefetch(codes[g] + later);
        add_by_codes<kTogether>(codes.data(), i, std::min(i + kCacheLine, end), cells.data(),
                                number_of);
      }
    }
    for (; place < features.end; ++place) {
      const std::size_t f = packed_.feature(place);
      const std::uint8_t* const code = codes_.feature(f);
      Number* const cells = sums + first(f, slot);
      add_by_codes<1>(&code, begin, end, &cells, number_of);
    }
  }

  // Adds a block of rows, whose codes are copied first: rows that lie scattered would displace each
  // other in the cache while the words of codes take turns.  On the way the codes of some later
  // rows are prefetched, here and there: many at once would wait for each other.
  template <class Number>
  void add_block(const std::uint32_t* rows, const Number* numbers, std::size_t n, std::size_t slot,
                 FeatureRange features, Number* sums, std::size_t ahead) const {
    constexpr std::size_t kTogether = PackedCodes::kTogether, kPiece = 16;
    constexpr std::size_t kWords = kCacheLine / kTogether;  // that are copied at once
    const std::size_t words = (features.end - features.begin + kTogether - 1) / kTogether;
    const std::size_t pieces = words * ((n + kPiece - 1) / kPiece);
    const std::size_t at_once = (ahead + pieces - 1) / pieces;
    std::size_t prefetched = 0;
    std::array<std::uint64_t, kWords * kMostRows> copies;
    for (std::size_t word = 0; word < words; ++word) {
      const std::size_t place = features.begin + word * kTogether;
      if (word % kWords == 0) {
        packed_.gather(rows, n, place, std::min(kWords, words - word), kMostRows, copies.data());
      }
      const std::uint64_t* const codes = &copies[word % kWords * kMostRows];
      std::array<Number*, kTogether> cells{};
      const std::size_t in_word = std::min(kTogether, features.end - place);
      for (std::size_t k = 0; k < in_word; ++k) {
        cells[k] = sums + first(packed_.feature(place + k), slot);
      }
      visit_features(in_word, [&](auto size) {
        for (std::size_t i = 0; i < n; i += kPiece) {
          for (const std::size_t end = std::min(ahead, prefetched + at_once); prefetched < end;
               ++prefetched) {
            packed_.prefetch(rows[n + prefetched]);
            units_.prefetch(rows[n + prefetched]);
          }
          add_to_cells<size>(codes + i, numbers + i, std::min(kPiece, n - i), cells.data());
        }
      });
    }
  }

  // Adds the numbers of n rows to the cells of the features of one word.
  template <std::size_t Features, class Number>
  static void add_to_cells(const std::uint64_t* codes, const Number* numbers, std::size_t n,
                           Number* const* input_cells) {
    Number* cells[Features];  // copies, which no addition could change
    for (std::size_t g = 0; g < Features; ++g) cells[g] = input_cells[g];
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t word = codes[i];
      const Number number = numbers[i];
      for (unsigned g = 0; g < Features; ++g) {
        cells[g][unpack<std::uint8_t>(word, g)] += number;
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
  const RowUnits<kCurvature>& units_;
  std::vector<std::size_t> entry_cells_;  // [slot][feature]: where sums begin; for entries
};

}  // namespace properboost
