// Sums of the rows at a node by the codes of all features, or of one; an adder fixes their layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"

namespace properboost {

template <class Adder>
class LeafSums {
 public:
  using Unit = typename Adder::Unit;
  using Sums = Aligned<Unit>;

  // `spare` is memory of the sums of other trees; memory that is left is for later trees.
  LeafSums(const Codes& codes, const Bins& bins, const LeafRows& rows, const Adder& adder,
           std::vector<Sums>& spare, Team& team)
      : codes_(codes), bins_(bins), rows_(rows), adder_(adder), spare_(spare), team_(team) {}
  LeafSums(const LeafSums&) = delete;
  LeafSums& operator=(const LeafSums&) = delete;
  ~LeafSums() { spare_.resize(std::min(spare_.size(), kMostSpare / bytes())); }

  // The number of numbers in all features' sums.
  std::size_t size() const { return adder_.per_code() * bins_.total_width(); }
  std::size_t per_code() const { return adder_.per_code(); }
  // The number of those in one feature's.
  std::size_t size_of(std::size_t f) const {
    return adder_.per_code() * static_cast<std::size_t>(bins_[f].width());
  }
  // The number of additions for them.
  std::size_t adds(std::size_t node) const {
    return rows_.place(node).size() * adder_.packed().codes_a_row() * adder_.per_row();
  }

  // Whether all features are summed at once.  If most of many sums would have no row, summing one
  // feature at a time takes less memory and no more time.
  // With peers they always are: all must reduce the same sums.  So are sparse features, of which
  // one by itself would be laid out first.
  bool at_once(std::size_t node) const {
    return team_.has_peers() || codes_.sparse.any() || are_worth_it(size(), adds(node));
  }
  static bool are_worth_it(std::size_t size, std::size_t adds) {
    constexpr std::size_t kFew = std::size_t{1} << 17;
    return size <= std::max(kFew, 8 * adds);
  }
  // The bytes of sums in a tree of so many rows and leaves: those of the root, and of its smaller
  // child if that may be split in turn.
  static std::size_t bytes_of(std::size_t size, std::size_t adds, std::size_t leaves) {
    const std::size_t nodes = leaves > 2 ? 2 : 1;
    return are_worth_it(size, adds) ? nodes * size * sizeof(Unit) : 0;
  }

  // Adds the sums of peers at the same nodes, together with the rest of the all-reduce.
  void all_reduce(const std::vector<Sums*>& nodes, AllReduce all_reduce) const {
    if (!team_.has_peers()) return;
    using Number = std::conditional_t<sizeof(Unit) == sizeof(std::int32_t), Unit, std::int64_t>;
    std::vector<std::vector<std::int64_t>> numbers;
    numbers.reserve(nodes.size());
    for (Sums* const sums : nodes) {
      std::size_t n = sums->size();
      if constexpr (!std::is_arithmetic_v<Unit>) n *= sizeof(Unit) / sizeof(Number);
      const Number* const first = reinterpret_cast<const Number*>(sums->data());
      numbers.emplace_back(first, first + n);
      all_reduce.sum(numbers.back().data(), n);
    }
    all_reduce.run();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      Number* const to = reinterpret_cast<Number*>(nodes[k]->data());
      for (std::size_t i = 0; i < numbers[k].size(); ++i)
        to[i] = static_cast<Number>(numbers[k][i]);
    }
  }

  // Those of this process's rows.
  Sums add_up(std::size_t node) {
    Sums sums = adder_.packed().features() > 0 ? add_dense(node) : take();
    if constexpr (Adder::kTakesEntries) {
      if (!adder_.packed().sparse().empty()) add_entries(node, sums);
    }
    return sums;
  }
  // Subtracts some from others.
  void subtract(const Sums& less, Sums& sums) const {
    for_pieces([to = sums.data(), from = less.data()](std::size_t begin, std::size_t end) {
      subtract_sums(to + begin, from + begin, end - begin);
    });
  }

  // One feature's sums: part of those of all features or, if these are empty, made in `memory`.
  const Unit* feature(std::size_t node, const Sums& all, std::size_t f, Sums& memory) const {
    if (!all.empty()) return all.data() + adder_.per_code() * bins_.offset(f);
    const LeafRows::Place& place = rows_.place(node);
    const std::uint32_t* const row = rows_.rows(node);
    WholeFeature whole;
    const std::uint8_t* const code = whole.of(codes_, f);
    const auto width = static_cast<std::size_t>(bins_[f].width());
    memory.assign(adder_.per_code() * width, Unit{});
    for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
      const std::size_t begin = place.bounds[s];
      adder_.add_feature(code, f, row + begin, place.bounds[s + 1] - begin, s, memory.data());
    }
    return memory.data();
  }

  // Whether a node's sums are kept until it is split, if others take so many bytes.  Beyond a
  // limit, sums of leaves with few rows are recomputed instead: a tree may have many such leaves.
  bool may_stay(std::size_t node, std::size_t others) const {
    constexpr std::size_t kMostBytes = std::size_t{1} << 26;
    return team_.has_peers() || others + bytes() <= kMostBytes || 8 * size() < adds(node);
  }
  std::size_t bytes() const { return size() * sizeof(Unit); }

  void give_back(Sums&& sums) {
    if (!sums.empty()) spare_.push_back(std::move(sums));
    sums.clear();
  }

 private:
  static constexpr std::size_t kRowsForParts = 2048;
  static constexpr std::size_t kMostSpare = 1u << 24;  // bytes, from tree to tree

  // Calls visit(begin, end) for pieces of all features' sums.
  template <class Visit>
  void for_pieces(const Visit& visit) const {
    constexpr std::size_t kPiece = 4096;
    const std::size_t pieces = (size() + kPiece - 1) / kPiece;
    team_.for_each(pieces, 0.5 * static_cast<double>(size()),
                   [&](std::size_t k) { visit(k * kPiece, std::min(size(), (k + 1) * kPiece)); });
  }

  // The sums of dense features; those of sparse ones are not made.
  Sums add_dense(std::size_t node) {
    const LeafRows::Place& place = rows_.place(node);
    const std::size_t begin = place.bounds.front(), n = place.size();
    const std::uint32_t* const row = rows_.rows(node);
    const double nanoseconds =
        0.4 * static_cast<double>(adds(node)) + 0.5 * static_cast<double>(size());
    // Rows are summed in parts; the order does not matter for whole numbers.  With few rows the
    // parts are fewer than threads, which share the features of each then.
    const std::size_t worthwhile = std::min(n / kRowsForParts, adds(node) / size());
    const std::size_t parts = std::clamp<std::size_t>(worthwhile, 1, team_.size());
    const PackedCodes& packed = adder_.packed();
    const std::size_t groups = std::clamp<std::size_t>(team_.size() / parts, 1, packed.words());
    std::vector<Sums> sums(parts);
    for (Sums& part : sums) part = take();
    memory_.resize(std::max(parts, memory_.size()));
    for (std::size_t part = 0; part < parts; ++part) adder_.prepare(memory_[part], n / parts);
    team_.for_each(parts * groups, nanoseconds, [&](std::size_t task) {
      const std::size_t part = task / groups, group = task % groups;
      const FeatureRange features = packed.part(group, groups);
      typename Adder::Run run(adder_, features, sums[part], n / parts, memory_[part]);
      const std::vector<std::size_t>& bounds = place.bounds;
      for (std::size_t s = 0, next = 0; s + 1 < bounds.size(); s = next) {
        for (next = s + 1; next + 1 < bounds.size() && adder_.adds_alike(s, next);) ++next;
        const std::size_t from = std::max(bounds[s], begin + n * part / parts);
        const std::size_t end = std::min(bounds[next], begin + n * (part + 1) / parts);
        if (from < end) run.add(row + from, end - from, s);
      }
      run.end();
    });
    for (std::size_t part = 1; part < parts; ++part) {
      for_pieces(
          [to = sums[0].data(), from = sums[part].data()](std::size_t begin, std::size_t end) {
            add_sums(to + begin, from + begin, end - begin);
          });
      give_back(std::move(sums[part]));
    }
    return std::move(sums[0]);
  }
  // The sums of sparse features, of which a thread has some.
  void add_entries(std::size_t node, Sums& sums) const {
    const LeafRows::Place& place = rows_.place(node);
    const std::uint32_t* const row = rows_.rows(node);
    const std::size_t tasks = team_.size(), features = bins_.size();
    const double nanoseconds =
        4.0 * static_cast<double>(place.size() * adder_.packed().codes_a_row()) +
        static_cast<double>(size());
    team_.for_each(tasks, nanoseconds, [&](std::size_t task) {
      typename Adder::EntryRun run(adder_, {features * task / tasks, features * (task + 1) / tasks},
                                   sums);
      for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
        run.add(row + place.bounds[s], place.bounds[s + 1] - place.bounds[s], s);
      }
      run.end();
    });
  }

  Sums take() {
    if (spare_.empty()) return Sums(size());
    Sums sums = std::move(spare_.back());
    spare_.pop_back();
    sums.resize(size());  // those of another criterion may be fewer
    return sums;
  }

  const Codes& codes_;
  const Bins& bins_;
  const LeafRows& rows_;
  const Adder& adder_;
  std::vector<Sums>& spare_;
  Team& team_;
  std::vector<typename Adder::Memory> memory_;  // of each part
};

}  // namespace properboost
