// Adds the units of rows in several classes to sums by the codes of features: [feature][code], and
// there the numbers of a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/cells/joint_units.hpp"

namespace properboost {

class JointAdder {
 public:
  using Unit = std::int32_t;

  // All arguments must outlive it.
  JointAdder(const PackedCodes& packed, const Bins& bins, const JointUnits& units)
      : packed_(packed), units_(units) {
    for (std::size_t f = 0; f < bins.size(); ++f) first_.push_back(bins.offset(f) * per_code());
    first_.push_back(bins.total_width() * per_code());
  }

  std::size_t per_code() const noexcept { return units_.stride(); }
  std::size_t per_row() const noexcept { return units_.stride(); }
  // All rows are added to the same sums, whatever their segment.
  static constexpr bool adds_alike(std::size_t /*a*/, std::size_t /*b*/) noexcept { return true; }

  // The codes that it reads, in whose order different threads may sum features.
  const PackedCodes& packed() const noexcept { return packed_; }
  static constexpr bool kTakesEntries = false;  // all features are dense

  struct Memory {};  // none
  void prepare(Memory& /*none*/, std::size_t /*rows*/) const {}

  // Makes the sums of some features of rows that are added.
  class Run {
   public:
    Run(const JointAdder& adder, FeatureRange features, Aligned<Unit>& sums, std::size_t /*rows*/,
        Memory& /*none*/)
        : adder_(adder), features_(features), sums_(sums) {
      std::fill(sums.data() + adder.first_[features.begin],
                sums.data() + adder.first_[features.end], Unit{});
    }
    void add(const std::uint32_t* rows, std::size_t n, std::size_t /*segment*/) {
      const std::size_t most = adder_.packed_.block(kMostRows);
      for (std::size_t i = 0; i < n; i += most) {
        const std::size_t size = std::min(most, n - i);
        adder_.add_block(rows + i, size, features_, sums_.data(), std::min(most, n - i - size));
      }
    }
    void end() {}

   private:
    const JointAdder& adder_;
    const FeatureRange features_;
    Aligned<Unit>& sums_;
  };

  void add_feature(const std::uint8_t* code, std::size_t /*f*/, const std::uint32_t* rows,
                   std::size_t n, std::size_t /*segment*/, Unit* sums) const {
    const std::size_t stride = units_.stride();
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t* const from = units_.row(rows[i]);
      Unit* const to = sums + code[rows[i]] * stride;
      for (std::size_t j = 0; j < stride; ++j) to[j] += from[j];
    }
  }

 private:
  static constexpr std::size_t kMostRows = 128;  // of a block

  // `ahead` rows after them will come next.
  void add_block(const std::uint32_t* rows, std::size_t n, FeatureRange features, Unit* sums,
                 std::size_t ahead) const {
    for (std::size_t i = 0; i < ahead; ++i) {
      packed_.prefetch(rows[n + i]);
      prefetch(units_.row(rows[n + i]), units_.stride() * sizeof(std::int32_t));
    }
    // Vectors of a row that stay in registers while its features take turns.
    constexpr std::size_t kAtOnce = 8;
    const std::size_t vectors = units_.stride() / JointUnits::kTogether;
    for (std::size_t v = 0; v < vectors; v += kAtOnce) {
      switch (std::min(kAtOnce, vectors - v)) {
        case 1: add_vectors<1>(rows, n, v, features, sums); break;
        case 2: add_vectors<2>(rows, n, v, features, sums); break;
        case 3: add_vectors<3>(rows, n, v, features, sums); break;
        case 4: add_vectors<4>(rows, n, v, features, sums); break;
        case 5: add_vectors<5>(rows, n, v, features, sums); break;
        case 6: add_vectors<6>(rows, n, v, features, sums); break;
        case 7: add_vectors<7>(rows, n, v, features, sums); break;
        default: add_vectors<8>(rows, n, v, features, sums); break;
      }
    }
  }

  // GCC would take numbers one by one where they are few, so vectors of them are declared: as large
  // as they can be without lying in two cache lines.
  template <std::size_t Vectors, InstructionSet kSet>
  using VectorFor =
      std::conditional_t<Vectors * JointUnits::kTogether % VectorOf<Unit, kSet>::kSize == 0,
                         VectorOf<Unit, kSet>, Wholes<JointUnits::kTogether, Unit>>;

  template <std::size_t Vectors>
  void add_vectors(const std::uint32_t* rows, std::size_t n, std::size_t first_vector,
                   FeatureRange features, Unit* sums) const {
    vectorized([=, to_sums = sums + first_vector * JointUnits::kTogether,
                from_units = units_.row(0) + first_vector * JointUnits::kTogether,
                size = units_.stride(), first = first_.data(), packed = &packed_](auto set) {
      using Vector = VectorFor<Vectors, decltype(set)::value>;
      constexpr std::size_t kSize = sizeof(Vector) / sizeof(Unit);
      Unit* const to = to_sums;  // copies, which nothing written could change
      const Unit* const from = from_units;
      const std::size_t* const first_of = first;
      const std::size_t stride = size, begin = features.begin, end = features.end;
      std::array<Vector, Vectors * JointUnits::kTogether / kSize> numbers;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t* const code = packed->row(rows[i]);
        std::memcpy(numbers.data(), from + rows[i] * stride, sizeof numbers);
        for (std::size_t f = begin; f < end; ++f) {
          Unit* const cell = to + first_of[f] + code[f] * stride;
          for (std::size_t v = 0; v < numbers.size(); ++v) {
            Vector sum;
            std::memcpy(&sum, cell + v * kSize, sizeof sum);
            sum += numbers[v];
            std::memcpy(cell + v * kSize, &sum, sizeof sum);
          }
        }
      }
    });
  }

  const PackedCodes& packed_;
  const JointUnits& units_;
  std::vector<std::size_t> first_;  // where the sums of each feature begin; last, where they end
};

}  // namespace properboost
