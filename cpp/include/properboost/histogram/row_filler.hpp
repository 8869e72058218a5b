// The filler of rows of one kind of terms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "properboost/histogram/narrow_terms.hpp"
#include "properboost/histogram/set_filler.hpp"
#include "properboost/histogram/set_kernels.hpp"

namespace properboost {

template <class Terms>
class RowFiller final : public SetFiller {
 public:
  explicit RowFiller(const FilledRows& rows) : rows_(rows) {}

  bool needs_schedule() const override { return Terms::kScheduled; }
  std::size_t features_per_task() const override { return Terms::kFeaturesPerTask; }

  void fill(const FillTask& task, const FlushSchedule* schedule,
            Histogram& histogram) const override {
    std::vector<const BundleSet*> sets;
    std::vector<std::size_t> place{0};  // of each set's sums
    for (std::size_t g = task.first; g < rows_.sets.size(); g += task.step) {
      sets.push_back(&rows_.sets[g]);
      // In whole cache lines.
      place.push_back(place.back() + (sizeof(Sum) * sets.back()->sums() + 63) / 64 * 64);
      for (const Bundle& bundle : sets.back()->bundles) {
        for (const std::size_t f : bundle.features) histogram.clear(f);
      }
    }
    unsigned char* const memory = make_room(task.sums, place.back());
    const auto sums_of = [&](std::size_t g) { return reinterpret_cast<Sum*>(memory + place[g]); };
    std::size_t chunk = 0;
    std::vector<const FlushSchedule::Due*> due;  // next, in each set
    if (Terms::kScheduled && !task.blocks.empty()) {
      const AccumulationBlock* const first = task.blocks.front();
      chunk = schedule->chunk_of(static_cast<std::size_t>(first - rows_.blocks.data()));
      for (std::size_t g = task.first; g < rows_.sets.size(); g += task.step) {
        due.push_back(schedule->due_from(g, chunk));
      }
    }
    SegmentRoles roles;  // of the rows whose sums have not been read off
    Reading reading = reading_of(roles);
    const auto flush = [&] {
      for (std::size_t g = 0; g < sets.size(); ++g) {
        flush_set(*sets[g], rows_.bins, reading, sums_of(g), task.scratch, histogram);
      }
      roles = {};
    };
    for (const AccumulationBlock* const block : task.blocks) {
      if (!roles.may_join(*block->roles)) flush();
      roles.join(*block->roles);
      reading = reading_of(roles);
      const Terms terms = terms_of(*block->roles);
      visit_chunks(*block, Terms::kRows, [&](std::size_t begin, std::size_t end) {
        const auto made = make(terms, begin, end, task.terms);
        const std::size_t next =
            chunk + (end - begin + FlushSchedule::kRows - 1) / FlushSchedule::kRows;
        for (std::size_t g = 0; g < sets.size(); ++g) {
          std::size_t from = begin;
          if constexpr (Terms::kScheduled) {  // chunks are added together until something is due
            for (; due[g]->chunk < next;) {
              const std::size_t last = due[g]->chunk;
              const std::size_t to =
                  std::min(end, begin + (last + 1 - chunk) * FlushSchedule::kRows);
              add_set(*sets[g], rows_.codes, rows_.bins, made, from, to, sums_of(g));
              due[g] =
                  flush_due(due[g], last, *sets[g], rows_.bins, reading, sums_of(g), histogram);
              from = to;
            }
          }
          if (from < end) {
            add_set(*sets[g], rows_.codes, rows_.bins, made, from, end, sums_of(g));
          }
        }
        chunk = next;
      });
    }
    flush();
  }

 private:
  using Sum = typename Terms::Sum;
  using Reading = properboost::Reading<Sum::kLanes>;

  // Memory that is zero at first, and again once the sums are read off.
  static unsigned char* make_room(Aligned<unsigned char>& memory, std::size_t bytes) {
    // Large memory is taken as one large page: scattered small pages would conflict in the second
    // cache.
    constexpr std::size_t kMuch = 3u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    if (memory.size() < wanted) memory.resize(wanted);
    return memory.data();
  }

  // The terms of rows of segments with such roles, and how their sums are read.
  Terms terms_of(const SegmentRoles& roles) const {
    Terms terms = Terms().of(rows_.units.data(), roles);
    terms.read(rows_.weight, rows_.curvature, rows_.sample_weight);
    return terms;
  }
  Reading reading_of(const SegmentRoles& roles) const {
    return Terms().reading(rows_.units.data(), roles);
  }

  // Computes the terms of the rows from `begin` to `end`, for all features.
  static MadeTerms<Sum> make(const Terms& terms, std::size_t begin, std::size_t end,
                             Aligned<unsigned char>& memory) {
    const std::size_t bytes = Terms::kRows * sizeof(Sum);
    if (memory.size() < bytes) memory.resize(bytes);
    Sum* const made = reinterpret_cast<Sum*>(memory.data());
    vectorized([terms, begin, end, made](auto set) { terms.make(set, begin, end, made); });
    return {made, begin};
  }

  const FilledRows rows_;
};

template <std::size_t W>
std::unique_ptr<SetFiller> make_set_filler(const FilledRows& rows, bool narrow) {
  std::unique_ptr<SetFiller> filler;
  const auto make = [&](auto terms) {
    filler = std::make_unique<RowFiller<decltype(terms)>>(rows);
  };
  const bool has_curvature = rows.curvature != nullptr;
  if (narrow && has_curvature) {
    make(NarrowTerms<W, true>());
    return filler;
  }
  if constexpr (W > 1) {
    if (narrow) {
      make(NarrowTerms<W, false>());
      return filler;
    }
  }
  visit_terms<W>(has_curvature, !rows.sample_weight.all_ones(), make);
  return filler;
}

}  // namespace properboost
