#include "properboost/histogram/histogram.hpp"

#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/words.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/flush.hpp"
#include "properboost/histogram/flush_schedule.hpp"
#include "properboost/histogram/joint_cells.hpp"
#include "properboost/histogram/narrow_terms.hpp"
#include "properboost/histogram/terms.hpp"

namespace properboost {
namespace {

// Prefetches the codes of n rows from `begin` on: a block reads its codes at once, too late for the
// hardware prefetcher.
void prefetch_codes(const Bundle& bundle, const Codes& codes, std::size_t begin, std::size_t n) {
  if (begin + n > codes.rows) return;
  for (const std::size_t f : bundle.features) prefetch(codes.feature(f) + begin, n);
}

// Sums over `first` times `rest` joint cells of kNumbers numbers each: own[a] of the cells with
// first index a, others[r] of those with second index r.
template <std::size_t kNumbers, class Number>
void marginalize(const Number* joint, std::size_t first, std::size_t rest, std::int64_t* own,
                 std::int64_t* others) {
  using To = std::int64_t;
  // Works on a block of numbers at a time, over all first indices, so that no sum waits for the one
  // just before.
  constexpr std::size_t kSums = kNumbers < 8 ? 8 : kNumbers;
  const std::size_t n = rest * kNumbers;
  alignas(64) To parts[kMaxCodes][kSums];  // of own[a], by place in the block
  for (std::size_t a = 0; a < first; ++a) std::fill_n(parts[a], kSums, To{0});
  const auto add_block = [&](std::size_t j, std::size_t size) {
    To sums[kSums] = {};
    for (std::size_t a = 0; a < first; ++a) {
      const Number* const from = joint + a * n + j;
      for (std::size_t k = 0; k < kSums; ++k) {
        const To x = k < size ? static_cast<To>(from[k]) : To{0};
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
    for (std::size_t k = 0; k < kNumbers; ++k) own[a * kNumbers + k] = To{0};
    for (std::size_t k = 0; k < kSums; ++k) own[a * kNumbers + k % kNumbers] += parts[a][k];
  }
}

// add_terms for joint cells, those of the g-th bundle from sums[g x Stride] on.  With a second copy
// of the sums, rows take turns with them: if most rows are in one cell, an addition then waits only
// for the last but one.
template <std::size_t Together, std::size_t Copies, std::size_t Stride, class Terms>
void add_joint_terms(const Bundle* bundles, const Bins& bins, const Codes& codes,
                     const Terms& terms, std::size_t begin, std::size_t end,
                     typename Terms::Sum* sums) {
  constexpr std::size_t kBlock = 256;
  constexpr std::size_t kAhead = 4 * kBlock;
  constexpr unsigned kUnrolled = 4;
  alignas(64) std::uint16_t cells[Together][kBlock] = {};
  for (; begin + kBlock <= end; begin += kBlock) {
    for (std::size_t g = 0; g < Together; ++g) {
      prefetch_codes(bundles[g], codes, begin + kAhead, kBlock);
      find_joint_cells(bundles[g], bins, codes, begin, kBlock, cells[g]);
    }
    for (std::size_t i = 0; i < kBlock; i += kUnrolled) {
      std::uint64_t words[Together];
      for (std::size_t g = 0; g < Together; ++g)
        std::memcpy(&words[g], &cells[g][i], sizeof words[g]);
      for (unsigned j = 0; j < kUnrolled; ++j) {
        typename Terms::Term term = terms[begin + i + j];
        const std::size_t copy = j % Copies * Together;
        for (std::size_t g = 0; g < Together; ++g) {
          sums[(copy + g) * Stride + unpack<std::uint16_t>(words[g], j)] += term;
        }
      }
    }
  }
  for (std::size_t g = 0; g < Together; ++g) {
    find_joint_cells(bundles[g], bins, codes, begin, end - begin, cells[g]);
    for (std::size_t i = begin; i < end; ++i) sums[g * Stride + cells[g][i - begin]] += terms[i];
  }
}

// flush for joint cells and the features of their bundle.
template <class Sum>
void flush_joint(Sum* sums, const Bundle& bundle, const Bins& bins, const Reading<Sum::kLanes>& how,
                 Histogram& histogram, Aligned<unsigned char>& scratch) {
  using Total = std::int64_t;
  using Own = TotalSums<Sum::kLanes, Sum::kHasCurvature>;
  using Number = typename Sum::Number;
  constexpr std::size_t kNumbers = sizeof(Sum) / sizeof(Number);
  // The sums of feature k alone, the joint sums of it and later features, and those of the later
  // features only.
  const std::size_t half = bundle.cells * kNumbers / 2;
  const std::size_t bytes = (kMaxCodes * kNumbers + 2 * half) * sizeof(Total);
  if (scratch.size() < bytes) scratch.resize(bytes);
  Total* const own = reinterpret_cast<Total*>(scratch.data());
  Total* rest = own + kMaxCodes * kNumbers;
  Total* next = rest + half;
  std::size_t left = bundle.cells;
  for (std::size_t k = 0; k < bundle.features.size(); ++k) {
    const std::size_t f = bundle.features[k];
    const auto width = static_cast<std::size_t>(bins[f].width());
    left /= width;
    if (k == 0) {
      marginalize<kNumbers>(reinterpret_cast<const Number*>(sums), width, left, own, next);
    } else if (left > 1) {
      marginalize<kNumbers>(rest, width, left, own, next);
    }
    flush_sums(reinterpret_cast<Own*>(left > 1 ? own : rest), width, how, histogram, f);
    std::swap(rest, next);
  }
  std::fill_n(sums, bundle.cells, Sum());
}

// visitor(size), of a set, as a constant
template <class Visitor>
void visit_size(std::size_t size, const Visitor& visitor) {
  switch (size) {
    case 8: return visitor(std::integral_constant<std::size_t, 8>{});
    case 4: return visitor(std::integral_constant<std::size_t, 4>{});
    case 2: return visitor(std::integral_constant<std::size_t, 2>{});
    default: return visitor(std::integral_constant<std::size_t, 1>{});
  }
}

// Adds terms[i] to the sums of a set, i in [begin, end).
template <class Terms>
void add_set(const BundleSet& set, const Codes& codes, const Bins& bins, const Terms& terms,
             std::size_t begin, std::size_t end, typename Terms::Sum* sums) {
  visit_size(set.bundles.size(), [&](auto size) {
    constexpr std::size_t kSize = size;
    if constexpr (kSize <= 4) {
      if (set.joint()) {
        const Bundle* const bundles = set.bundles.data();
        const auto add = [&](auto copies) {
          constexpr std::size_t kCopies = copies;
          vectorized([&, terms, begin, end, sums] {
            add_joint_terms<kSize, kCopies, Terms::kJointCells>(bundles, bins, codes, terms, begin,
                                                                end, sums);
          });
        };
        if (kSize <= 2 && set.copies == 2) {
          return add(std::integral_constant<std::size_t, kSize <= 2 ? 2 : 1>{});
        }
        return add(std::integral_constant<std::size_t, 1>{});
      }
    }
    const std::uint8_t* code[kSize];
    for (std::size_t k = 0; k < kSize; ++k) {
      code[k] = codes.feature(set.bundles[k].features.front());
    }
    if (set.stride == BundleSet::kNarrow) {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, BundleSet::kNarrow>(code, terms, begin, end, sums);
      });
    } else {
      vectorized([&code, terms, begin, end, sums] {
        add_terms<kSize, kMaxCodes>(code, terms, begin, end, sums);
      });
    }
  });
}

// Adds a set's sums to the cells of its features, and clears them.
template <class Sum>
void flush_set(const BundleSet& set, const Bins& bins, const Reading<Sum::kLanes>& how, Sum* sums,
               Aligned<unsigned char>& scratch, Histogram& histogram) {
  const std::size_t size = set.bundles.size();
  for (std::size_t k = 0; k < size; ++k) {
    const Bundle& bundle = set.bundles[k];
    Sum* const to = sums + k * set.stride;
    if (set.copies == 2) {
      vectorized([to, n = bundle.cells, from = to + size * set.stride] {
        for (std::size_t b = 0; b < n; ++b) {
          to[b] += from[b];
          from[b] = Sum();
        }
      });
    }
    if (bundle.joint()) {
      vectorized([&, to] { flush_joint(to, bundle, bins, how, histogram, scratch); });
    } else {
      const std::size_t f = bundle.features.front();
      vectorized([&, f, width = bundle.cells, to] { flush_sums(to, width, how, histogram, f); });
    }
  }
}

// The same of the cells that are due after a chunk; returns what is due next.
template <class Sum>
const FlushSchedule::Due* flush_due(const FlushSchedule::Due* due, std::size_t chunk,
                                    const BundleSet& set, const Bins& bins,
                                    const Reading<Sum::kLanes>& how, Sum* sums,
                                    Histogram& histogram) {
  for (; due->chunk == chunk; ++due) {
    const Bundle& bundle = set.bundles[due->place / set.stride];
    for (std::size_t copy = 0; copy < set.copies; ++copy) {
      Sum& sum = sums[copy * set.bundles.size() * set.stride + due->place];
      visit_codes(bundle, bins, due->place % set.stride, [&](std::size_t f, std::size_t code) {
        Sum own = sum;
        vectorized([&, code] { flush_sums(&own, 1, how, histogram, f, code); });
      });
      sum = Sum();
    }
  }
  return due;
}

}  // namespace

// The state kept between rounds: the sets of bundles, the rows, and the memory of tasks and of the
// cells of parts of the rows.
class HistogramBuilder::State {
 public:
  State(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
        std::vector<std::size_t> features, const std::vector<double>& crowding, std::size_t lanes,
        bool has_curvature, std::shared_ptr<HistogramMemory> memory)
      : codes_(rows.codes),
        bins_(rows.bins),
        sample_weight_(rows.sample_weight),
        blocks_(blocks),
        rows_(count_rows(blocks)),
        lanes_(lanes),
        features_(features.size()),
        adds_(features.size() * rows_),
        sets_(bundle_features(rows.bins, std::move(features), lanes, has_curvature, blocks,
                              crowding)),
        memory_(std::move(memory)) {
    for (const AccumulationBlock& block : blocks_) {
      for (std::size_t k = 0; k < lanes_; ++k) trains_[k] = trains_[k] || block.roles->trained[k];
    }
  }

  // A task owns its features' cells in one part of the rows and walks them in order, and parts are
  // added in order.
  void fill(const float* weight, const float* curvature, const LaneUnits& units,
            Histogram& histogram, Team& team) {
    histogram.set_units(units);
    const double nanoseconds =
        (0.3 + 0.06 * static_cast<double>(lanes_)) * static_cast<double>(adds_);
    // To fill once, a schedule would take longer than it saves.
    const bool narrow = fills_++ > 0 && are_narrow(units, curvature != nullptr);
    visit_kind(curvature != nullptr, narrow, [&](auto kind) {
      using Terms = decltype(kind);
      if (Terms::kScheduled && !schedule_) {
        schedule_ = std::make_unique<FlushSchedule>(sets_, bins_, codes_, blocks_, team);
      }
      const auto terms = [&](const SegmentRoles& roles) {
        Terms own = kind.of(units.data(), roles);
        own.read(weight, curvature, sample_weight_);
        return own;
      };
      const auto reading = [&](const SegmentRoles& roles) {
        return kind.reading(units.data(), roles);
      };
      const Division into = divide(Terms::kFeaturesPerTask, team.size());
      set_tasks(into.tasks * into.parts);
      cut_into_parts(into.parts);
      // Other builders that share them may be of other lanes.
      std::vector<std::unique_ptr<Histogram>>& others = memory_->others;
      if (others.size() + 1 < into.parts) others.resize(into.parts - 1);
      for (std::size_t part = 1; part < into.parts; ++part) {
        std::unique_ptr<Histogram>& other = others[part - 1];
        if (!other || !other->is_for(histogram)) {
          other = std::make_unique<Histogram>(bins_, lanes_, curvature != nullptr);
        }
      }
      team.for_each(into.tasks * into.parts, nanoseconds, [&](std::size_t t) {
        const std::size_t part = t % into.parts;
        fill_sets<Terms>(terms, reading, t / into.parts, into.tasks, part,
                         part == 0 ? histogram : *others[part - 1]);
      });
      add_parts(into.parts, histogram, team);
    });
  }

 private:
  static constexpr std::size_t kRowsForParts = 16'384;
  static constexpr std::size_t kTasksPerThread = 4;  // as some take longer than others

  // Into how many tasks the features are divided, and into how many parts the rows.
  struct Division {
    std::size_t tasks, parts;
  };

  // A task gets as many features as their sums allow, because it makes every row's terms.
  Division divide(std::size_t features_per_task, std::size_t threads) const {
    const std::size_t least = divide_up(features_, features_per_task);
    // Parts have to be added up, which is not worth it where there are features enough for all.
    const bool may_cut = threads > 1 && rows_ >= kRowsForParts && blocks_.size() > 1 &&
                         least < kTasksPerThread * threads;
    const std::size_t parts = may_cut ? 2 : 1;
    const auto take = [&](std::size_t tasks, std::size_t n) {
      return Division{std::min(sets_.size(), std::max(least, tasks)), n};
    };
    if (parts == 1) return take(threads, parts);
    // Every task makes its rows' terms, which takes as long as adding some lanes' to two features.
    const std::size_t wanted = (lanes_ > 1 ? 1 : kTasksPerThread) * threads;
    const std::size_t most = std::max(parts, std::min(blocks_.size(), threads));
    const std::size_t own = std::clamp(divide_up(wanted, least), parts, most);
    return take(divide_up(wanted, own), own);
  }

  static std::size_t divide_up(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

  // Parts have about as many rows each.
  void cut_into_parts(std::size_t n) {
    if (parts_.size() == n) return;
    parts_.assign(n, {});
    std::size_t before = 0;
    for (const AccumulationBlock& block : blocks_) {
      parts_[before * n / rows_].push_back(&block);
      before += block.rows();
    }
  }

  void add_parts(std::size_t parts, Histogram& histogram, Team& team) {
    if (parts == 1) return;
    const std::size_t numbers = 3 * lanes_ * bins_.total_width();
    const double nanoseconds = 0.3 * static_cast<double>(numbers * (parts - 1));
    team.for_each(sets_.size(), nanoseconds, [&](std::size_t g) {
      for (const Bundle& bundle : sets_[g].bundles) {
        for (const std::size_t f : bundle.features) {
          for (std::size_t part = 1; part < parts; ++part) {
            histogram.add(*memory_->others[part - 1], f);
          }
        }
      }
    });
  }

  // Whether all lanes that train have grains, and rows no sample weight.
  bool are_narrow(const LaneUnits& units, bool has_curvature) const {
    if ((lanes_ == 1 && !has_curvature) || !sample_weight_.all_ones()) return false;
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (!trains_[k]) continue;
      if (!units[k].weight_grain.rounds()) return false;
      if (has_curvature && !units[k].curvature_grain.rounds()) return false;
    }
    return true;
  }

  template <class Visitor>
  void visit_kind(bool has_curvature, bool narrow, const Visitor& visitor) const {
    visit_width(lanes_, [&](auto width) {
      if (narrow && has_curvature) return visitor(NarrowTerms<width, true>());
      if constexpr (width > 1) {
        if (narrow) return visitor(NarrowTerms<width, false>());
      }
      visit_terms<width>(has_curvature, !sample_weight_.all_ones(), visitor);
    });
  }

  void set_tasks(std::size_t n) {
    if (memory_->sums.size() < n) memory_->sums.resize(n);
    if (memory_->scratch.size() < n) memory_->scratch.resize(n);
    if (memory_->terms.size() < n) memory_->terms.resize(n);
  }

  // Memory for a task: zero at first, and again once the sums are read off.
  unsigned char* get(std::size_t task, std::size_t bytes) {
    // Large memory is taken as one large page: scattered small pages would conflict in the second
    // cache.
    constexpr std::size_t kMuch = 3u << 17;
    constexpr std::size_t kLargePage = 1u << 21;
    const std::size_t wanted = bytes < kMuch ? bytes : std::max(bytes, kLargePage);
    Aligned<unsigned char>& own = memory_->sums[task];
    if (own.size() < wanted) own.resize(wanted);
    return own.data();
  }

  // Makes what all features add of the rows from `begin` to `end`.
  template <class Terms>
  static MadeTerms<typename Terms::Sum> make(const Terms& terms, std::size_t begin, std::size_t end,
                                             Aligned<unsigned char>& memory) {
    using Sum = typename Terms::Sum;
    const std::size_t bytes = Terms::kRows * sizeof(Sum);
    if (memory.size() < bytes) memory.resize(bytes);
    Sum* const made = reinterpret_cast<Sum*>(memory.data());
    vectorized([terms, begin, end, made](auto set) { terms.make(set, begin, end, made); });
    return {made, begin};
  }

  // The cells of the features of every `tasks`-th set, from the task's on, in one part of the rows;
  // terms_of(roles) are those of rows of segments with such roles, and reading_of(roles) is how
  // their sums are read.
  template <class Terms, class TermsOf, class ReadingOf>
  void fill_sets(const TermsOf& terms_of, const ReadingOf& reading_of, std::size_t task,
                 std::size_t tasks, std::size_t part, Histogram& histogram) {
    const std::size_t place_of_task = task * parts_.size() + part;
    std::vector<const BundleSet*> sets;
    std::vector<std::size_t> place{0};  // of each set's sums
    for (std::size_t g = task; g < sets_.size(); g += tasks) {
      sets.push_back(&sets_[g]);
      // In whole cache lines.
      place.push_back(place.back() +
                      (sizeof(typename Terms::Sum) * sets.back()->sums() + 63) / 64 * 64);
      for (const Bundle& bundle : sets.back()->bundles) {
        for (const std::size_t f : bundle.features) histogram.clear(f);
      }
    }
    unsigned char* const memory = get(place_of_task, place.back());
    Aligned<unsigned char>& scratch = memory_->scratch[place_of_task];
    const auto sums_of = [&](std::size_t g) {
      return reinterpret_cast<typename Terms::Sum*>(memory + place[g]);
    };
    std::size_t chunk = 0;
    std::vector<const FlushSchedule::Due*> due;  // next, in each set
    if (Terms::kScheduled && !parts_[part].empty()) {
      chunk = schedule_->chunk_of(static_cast<std::size_t>(parts_[part].front() - blocks_.data()));
      for (std::size_t g = task; g < sets_.size(); g += tasks) {
        due.push_back(schedule_->due_from(g, chunk));
      }
    }
    SegmentRoles roles;  // of the rows whose sums have not been read off
    auto reading = reading_of(roles);
    const auto flush = [&] {
      for (std::size_t g = 0; g < sets.size(); ++g) {
        flush_set(*sets[g], bins_, reading, sums_of(g), scratch, histogram);
      }
      roles = {};
    };
    for (const AccumulationBlock* const block : parts_[part]) {
      if (!roles.may_join(*block->roles)) flush();
      roles.join(*block->roles);
      reading = reading_of(roles);
      const Terms terms = terms_of(*block->roles);
      visit_chunks(*block, Terms::kRows, [&](std::size_t begin, std::size_t end) {
        const auto made = make(terms, begin, end, memory_->terms[place_of_task]);
        const std::size_t next = chunk + divide_up(end - begin, FlushSchedule::kRows);
        for (std::size_t g = 0; g < sets.size(); ++g) {
          std::size_t from = begin;
          if constexpr (Terms::kScheduled) {  // chunks are added together until something is due
            for (; due[g]->chunk < next;) {
              const std::size_t last = due[g]->chunk;
              const std::size_t to =
                  std::min(end, begin + (last + 1 - chunk) * FlushSchedule::kRows);
              add_set(*sets[g], codes_, bins_, made, from, to, sums_of(g));
              due[g] = flush_due(due[g], last, *sets[g], bins_, reading, sums_of(g), histogram);
              from = to;
            }
          }
          if (from < end) add_set(*sets[g], codes_, bins_, made, from, end, sums_of(g));
        }
        chunk = next;
      });
    }
    flush();
  }

  const Codes& codes_;
  const Bins& bins_;
  const RowSampleWeights sample_weight_;
  const std::vector<AccumulationBlock> blocks_;
  std::size_t rows_, lanes_, features_, adds_;
  std::array<bool, kMostLanes> trains_{};
  std::vector<BundleSet> sets_;
  std::vector<std::vector<const AccumulationBlock*>> parts_;
  std::size_t fills_ = 0;
  std::unique_ptr<const FlushSchedule> schedule_;  // once it is needed
  const std::shared_ptr<HistogramMemory> memory_;
};

HistogramBuilder::HistogramBuilder(const TrainingRows& rows,
                                   const std::vector<AccumulationBlock>& blocks,
                                   std::vector<std::size_t> features,
                                   const std::vector<double>& crowding, std::size_t lanes,
                                   bool has_curvature, std::shared_ptr<HistogramMemory> memory)
    : state_(std::make_unique<State>(rows, blocks, std::move(features), crowding, lanes,
                                     has_curvature, std::move(memory))) {}
HistogramBuilder::HistogramBuilder(HistogramBuilder&&) noexcept = default;
HistogramBuilder::~HistogramBuilder() = default;

void HistogramBuilder::fill(const float* weight, const float* curvature, const LaneUnits& units,
                            Histogram& histogram, Team& team) {
  state_->fill(weight, curvature, units, histogram, team);
}

}  // namespace properboost
