#include "properboost/trees/growing/leaf_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/prefetch.hpp"
#include "properboost/core/vectors.hpp"

namespace properboost {
namespace {

constexpr std::size_t kStrip = 256;  // rows whose numbers stay in the first cache
constexpr std::size_t kPad = 8;      // more, of weight 0, which fill the last vector
using Strip = std::array<double, kStrip + kPad>;

// Sums over rows of terms in whole units (see Unit), a vector of rows at a time.
template <InstructionSet kSet>
class VectorAdder {
 public:
  using Real = VectorOf<double, kSet>;
  using Bits = VectorOf<std::uint64_t, kSet>;
  static constexpr std::size_t kRows = Real::kSize;
  static_assert(kRows <= kPad);

  explicit VectorAdder(const Unit& unit) : zero_(unit.zero) {
    for (std::size_t q = 0; q < kRows; ++q) rounder_.data[q] = unit.rounder;
  }
  // Adds terms to a sum, which is then too much by the unit's zero for each of them.
  void add(const Real& terms, Bits& sum) const noexcept {
    Bits bits;
    round(terms, bits);
    sum += bits;
  }
  // Notes what terms beyond their bound, or that are no numbers, have in their exponents.
  void look_at(const Real& terms, Bits& seen) const noexcept {
    Bits bits;
    round(terms, bits);
    for (std::size_t q = 0; q < kRows; ++q) bits.data[q] ^= zero_;
    seen |= bits;
  }
  static bool is_any_outside(const Bits& seen) noexcept {
    std::uint64_t any = 0;
    for (std::size_t q = 0; q < kRows; ++q) any |= seen.data[q];
    return any >> 52 != 0;
  }
  std::int64_t read(const Bits& sum, std::size_t terms) const noexcept {
    std::uint64_t total = 0 - terms * zero_;
    for (std::size_t q = 0; q < kRows; ++q) total += sum.data[q];
    return static_cast<std::int64_t>(total);
  }

 private:
  void round(const Real& terms, Bits& bits) const noexcept {
    Real x = terms;
    x += rounder_;
    std::memcpy(&bits, &x, sizeof bits);
  }

  Real rounder_;
  std::uint64_t zero_;
};

// The same number for each row of a vector.
template <class Real>
void fill(double number, Real& to) {
  for (std::size_t q = 0; q < Real::kSize; ++q) to.data[q] = number;
}

// Reads how far positions are from a center; missing ones, which are NaN, are there.
template <class Real>
void read_from_center(const double* positions, const Real& center, Real& to) {
  std::memcpy(&to, positions, sizeof to);
  to -= center;
  to.clear_nan();
}

// Calls visit(terms) with a number that is known when the call is compiled.
template <class Visit>
void visit_terms(std::size_t terms, const Visit& visit) {
  switch (terms) {
    case 0: return;
    case 1: return visit(std::integral_constant<std::size_t, 1>{});
    case 2: return visit(std::integral_constant<std::size_t, 2>{});
    case 3: return visit(std::integral_constant<std::size_t, 3>{});
    default: return visit(std::integral_constant<std::size_t, 4>{});
  }
}

// Solves a symmetric system of n unknowns, of which the lower triangle is given by rows; returns
// whether it is positive definite beyond rounding.
template <std::size_t kMost>
bool solve(std::size_t n, std::array<std::array<double, kMost>, kMost> a,
           std::array<double, kMost>& x) {
  constexpr double kRounded = 1e-12;
  for (std::size_t j = 0; j < n; ++j) {
    const double whole = a[j][j];
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > kRounded * whole)) return false;
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[i][k] * x[k];
    x[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[k][i] * x[k];
    x[i] /= a[i][i];
  }
  return true;
}

// Where a pair of terms, of which the second comes no later, is among the products.
constexpr std::size_t place(std::size_t j, std::size_t k) { return j * (j + 1) / 2 + k; }

double factor(const LineTwin& twin, std::size_t of_class) {
  return of_class == 1 ? twin.positive : twin.negative;
}

}  // namespace

LeafLines::LeafLines(const Tree& tree, const LeafRows& rows, const PackedCodes& packed,
                     const Bins& bins, const TreeLimits& limits, RowSampleWeights sample_weight,
                     double total, Team& team)
    : rows_(rows),
      packed_(packed),
      bins_(bins),
      limits_(limits),
      team_(team),
      sample_units_(total) {
  find_leaves(tree);
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    for (const RowBlock& block : cut_into_row_blocks(rows_.place(leaves_[k].node).bounds)) {
      tasks_.push_back({k, block.segment, block.begin, block.end});
    }
  }
  gather();
  add_up_samples(sample_weight);
}

// A leaf's terms are the numeric features of its path that take several positions there: those that
// saved most on the way to it.
void LeafLines::find_leaves(const Tree& tree) {
  struct Candidate {
    std::size_t feature;
    double saving;
    CodeSet codes;
  };
  std::vector<std::size_t> parent(tree.size(), 0);
  std::vector<std::size_t> way;  // from a leaf to the root
  std::vector<Candidate> path;
  const auto add = [&](std::size_t node, const CodeSet& codes) {
    const auto f = static_cast<std::size_t>(tree.feature[node]);
    if (bins_[f].positions() == nullptr) return;
    const auto candidate =
        std::find_if(path.begin(), path.end(), [&](const Candidate& c) { return c.feature == f; });
    if (candidate == path.end()) return path.push_back({f, tree.saving[node], codes});
    candidate->saving += tree.saving[node];
    for (std::size_t w = 0; w < codes.bits.size(); ++w) candidate->codes.bits[w] &= codes.bits[w];
  };
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (!tree.is_leaf(node)) {
      const auto left = static_cast<std::size_t>(tree.left[node]);
      parent[left] = parent[left + 1] = node;
      continue;
    }
    way.clear();
    for (std::size_t n = node; n != 0; n = parent[n]) way.push_back(n);
    path.clear();
    for (auto child = way.rbegin(); child != way.rend(); ++child) {
      const std::size_t n = parent[*child];
      const bool left = static_cast<std::size_t>(tree.left[n]) == *child;
      add(n, left ? tree.goes_left[n] : tree.goes_right[n]);
    }
    std::stable_sort(path.begin(), path.end(),
                     [](const Candidate& a, const Candidate& b) { return a.saving > b.saving; });
    Leaf leaf{node};
    for (const Candidate& candidate : path) {
      if (leaf.terms == kMost) break;
      const FeatureBins& bins = bins_[candidate.feature];
      double low = 1.0, high = 0.0;
      for (int b = 0; b < bins.bins(); ++b) {
        if (!candidate.codes.has(static_cast<std::uint8_t>(b))) continue;
        low = std::min(low, bins.positions()[b]);
        high = std::max(high, bins.positions()[b]);
      }
      if (!(high > low)) continue;
      leaf.feature[leaf.terms] = candidate.feature;
      leaf.low[leaf.terms] = low;
      leaf.high[leaf.terms] = high;
      leaf.may_miss[leaf.terms] = candidate.codes.has(static_cast<std::uint8_t>(bins.missing()));
      ++leaf.terms;
    }
    if (leaf.terms > 0) leaves_.push_back(leaf);
  }
}

template <class AreAlike>
std::vector<LeafLines::Task> LeafLines::join_tasks(const AreAlike& are_alike) const {
  constexpr std::size_t kEnough = 4096;  // rows of a task
  std::vector<Task> joined;
  for (const Task& task : tasks_) {
    if (!joined.empty()) {
      Task& last = joined.back();
      if (last.leaf == task.leaf && last.end == task.begin && task.end - last.begin <= kEnough &&
          are_alike(last.segment, task.segment)) {
        last.end = task.end;
        continue;
      }
    }
    joined.push_back(task);
  }
  return joined;
}

// Takes the codes of the leaves' terms from the rows, which lie scattered, and their positions,
// which every class reads twice.
void LeafLines::gather() {
  constexpr std::size_t kAhead = 24;
  const std::size_t rows = rows_.grown();
  codes_.resize(rows * kMost);
  positions_.resize((rows + kPad) * kMost);
  for (std::size_t j = 0; j < kMost; ++j) std::fill_n(positions(rows, j), kPad, 0.0);
  const double nanoseconds = 12.0 * static_cast<double>(rows);
  const std::vector<Task> tasks = join_tasks([](std::size_t, std::size_t) { return true; });
  team_.for_each(tasks.size(), nanoseconds, [&](std::size_t t) {
    const Task& task = tasks[t];
    const Leaf& leaf = leaves_[task.leaf];
    const std::uint32_t* const row = rows_.rows(leaf.node);
    std::vector<std::size_t> lines;  // the first term in each cache line of a row
    for (std::size_t j = 0; j < leaf.terms; ++j) {
      if (std::none_of(lines.begin(), lines.end(), [&](std::size_t k) {
            return leaf.feature[k] / kCacheLine == leaf.feature[j] / kCacheLine;
          })) {
        lines.push_back(j);
      }
    }
    visit_terms(leaf.terms, [&](auto size) {
      constexpr std::size_t kTerms = decltype(size)::value;
      std::array<std::size_t, kTerms> feature;  // copies, which no code that is written changes
      std::array<const double*, kTerms> position_of;
      std::array<double*, kTerms> to_position;
      for (std::size_t j = 0; j < kTerms; ++j) {
        feature[j] = leaf.feature[j];
        position_of[j] = bins_[feature[j]].positions();
        to_position[j] = positions(task.begin, j);
      }
      std::uint8_t* to = codes_.data() + task.begin * kMost;
      for (std::size_t i = task.begin; i < task.end; ++i, to += kMost) {
        const std::size_t later = std::min(i + kAhead, task.end - 1);
        for (const std::size_t j : lines) prefetch(packed_.row(row[later]) + feature[j]);
        const std::uint8_t* const codes = packed_.row(row[i]);
        for (std::size_t j = 0; j < kTerms; ++j) {
          to[j] = codes[feature[j]];
          to_position[j][i - task.begin] = position_of[j][to[j]];
        }
      }
    });
  });
}

// Where the rows are, by their sample weights: it is the same for all classes.
void LeafLines::add_up_samples(RowSampleWeights sample_weight) {
  samples_.resize(tasks_.size());
  const double nanoseconds = 2.0 * static_cast<double>(rows_.grown());
  team_.for_each(tasks_.size(), nanoseconds, [&](std::size_t t) {
    const Task& task = tasks_[t];
    const Leaf& leaf = leaves_[task.leaf];
    const std::uint32_t* const row = rows_.rows(leaf.node);
    for (std::size_t begin = task.begin; begin < task.end; begin += kStrip) {
      const std::size_t n = std::min(kStrip, task.end - begin);
      Strip sample;
      for (std::size_t i = 0; i < n; ++i) sample[i] = sample_weight[row[begin + i]];
      for (std::size_t j = 0; j < leaf.terms; ++j) {
        const double* const position = positions(begin, j);
        vectorized([=, per_unit = sample_units_.per_unit, &sample, &sums = samples_[t]](auto set) {
          std::int64_t at = 0, present = 0;
          for (std::size_t i = 0; i < n; ++i) {
            const bool is_there = position[i] == position[i];
            const double x = is_there ? position[i] : 0.0;
            at += whole_part(x * sample[i] * per_unit + 0.5, set);
            present += whole_part((is_there ? sample[i] : 0.0) * per_unit + 0.5, set);
          }
          sums.position[j] += at;
          sums.present[j] += present;
        });
      }
    }
  });
}

void LeafLines::Samples::operator+=(const Samples& other) {
  for (std::size_t j = 0; j < kMost; ++j) {
    present[j] += other.present[j];
    position[j] += other.position[j];
  }
}

void LeafLines::Means::operator+=(const Means& other) {
  weight += other.weight;
  squares += other.squares;
  for (std::size_t j = 0; j < kMost; ++j) {
    present[j] += other.present[j];
    position[j] += other.position[j];
  }
  sample += other.sample;
}

void LeafLines::Means::add_to(AllReduce& all_reduce) {
  all_reduce.sum(weight).sum(squares).sum(present.data(), kMost).sum(position.data(), kMost);
  all_reduce.sum(sample.present.data(), kMost).sum(sample.position.data(), kMost);
}

void LeafLines::Products::operator+=(const Products& other) {
  for (std::size_t j = 0; j < kMost; ++j) gradient[j] += other.gradient[j];
  for (std::size_t p = 0; p < kProducts; ++p) curvature[p] += other.curvature[p];
}

void LeafLines::Products::add_to(AllReduce& all_reduce) {
  all_reduce.sum(gradient.data(), kMost).sum(curvature.data(), kProducts);
}

std::size_t LeafLines::class_of(const Slots& slots, std::size_t segment) {
  return slots.of_segment[segment] == Slots::kPositive ? 1 : 0;
}

template <class Sums, class SumTask>
std::vector<LeafLines::OfClasses<Sums>> LeafLines::sum_by_leaf(const std::vector<Task>& tasks,
                                                               const Slots& slots,
                                                               const RowWeights& weights,
                                                               double ns_a_row,
                                                               const SumTask& sum_task) const {
  const bool is_soft = weights.is_soft();
  const RowWeights others = is_soft ? weights.of_others() : weights;
  std::vector<Sums> of_tasks(tasks.size()), of_others(is_soft ? tasks.size() : 0);
  team_.for_each(tasks.size(), ns_a_row * static_cast<double>(rows_.grown()), [&](std::size_t t) {
    of_tasks[t] = sum_task(tasks[t], weights);
    if (is_soft) of_others[t] = sum_task(tasks[t], others);
  });
  std::vector<OfClasses<Sums>> leaves(leaves_.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    OfClasses<Sums>& leaf = leaves[tasks[t].leaf];
    leaf[class_of(slots, tasks[t].segment)] += of_tasks[t];
    if (is_soft) leaf[0] += of_others[t];
  }
  return leaves;
}

template <class Sums>
void LeafLines::all_reduce(std::vector<OfClasses<Sums>>& leaves) const {
  AllReduce all_reduce = team_.all_reduce();
  for (OfClasses<Sums>& leaf : leaves) {
    for (Sums& of_class : leaf) of_class.add_to(all_reduce);
  }
  all_reduce.run();
}

// Reads the weights of n rows, and fills their last vector.
template <class WeightOf>
void LeafLines::read_strip(const std::uint32_t* row, std::size_t n, const WeightOf& weight_of,
                           double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = weight_of(row[i]);
  std::fill_n(to + n, kPad, 0.0);
}

LeafLines::Means LeafLines::sum_means(const Task& task, const RowWeights& weights,
                                      bool needs_curvature, const Units& units) const {
  const Leaf& leaf = leaves_[task.leaf];
  const std::uint32_t* const row = rows_.rows(leaf.node);
  const float* const of_row = needs_curvature ? weights.curvature : weights.weight;
  const auto ratio_of = [=](std::size_t r) { return static_cast<double>(of_row[r]); };
  const RowSampleWeights sample_weight = weights.sample_weight;
  Means sums;
  visit_terms(leaf.terms, [&](auto size) {
    vectorized([&](auto set) {
      using Adder = VectorAdder<decltype(set)::value>;
      using Real = typename Adder::Real;
      using Bits = typename Adder::Bits;
      constexpr std::size_t kTerms = decltype(size)::value;
      const Adder adder(units.curvature.of(0)), square_adder(units.squares.of(0));
      Real zero;
      fill(0.0, zero);
      Bits weight_sum{}, squares{}, seen{}, seen_squares{};
      std::array<Bits, kTerms> position{}, present{};
      alignas(64) Strip weight, square;  // and those of rows that have a value
      std::size_t added = 0;
      for (std::size_t begin = task.begin; begin < task.end; begin += kStrip) {
        const std::size_t n = std::min(kStrip, task.end - begin);
        const std::uint32_t* const rows = row + begin;
        if (sample_weight.all_ones()) {
          read_strip(rows, n, ratio_of, weight.data());
          for (std::size_t i = 0; i < n + kPad; ++i) square[i] = weight[i] * weight[i];
        } else {
          const auto weight_of = [=](std::size_t r) {
            return ratio_of(r) * sample_weight.stored(r);
          };
          read_strip(rows, n, weight_of, weight.data());
          const auto square_of = [=](std::size_t r) { return weight_of(r) * ratio_of(r); };
          read_strip(rows, n, square_of, square.data());
        }
        if (weights.is_soft()) {
          const auto square_of = [&](std::size_t r) { return weights.square_of(r); };
          read_strip(rows, n, square_of, square.data());
        }
        for (std::size_t i = 0; i < n; i += Adder::kRows, added += Adder::kRows) {
          Real w, w2, x;
          std::memcpy(&w, &weight[i], sizeof w);
          std::memcpy(&w2, &square[i], sizeof w2);
          adder.add(w, weight_sum);
          adder.look_at(w, seen);
          square_adder.add(w2, squares);
          square_adder.look_at(w2, seen_squares);
          for (std::size_t j = 0; j < kTerms; ++j) {
            read_from_center(positions(begin + i, j), zero, x);
            x *= w;
            adder.add(x, position[j]);
          }
        }
        for (std::size_t j = 0; j < kTerms; ++j) {
          if (!leaf.may_miss[j]) continue;
          const double* const at = positions(begin, j);
          for (std::size_t i = 0; i < n + kPad; ++i) square[i] = at[i] == at[i] ? weight[i] : 0.0;
          for (std::size_t i = 0; i < n; i += Adder::kRows) {
            Real w;
            std::memcpy(&w, &square[i], sizeof w);
            adder.add(w, present[j]);
          }
        }
      }
      // No other term is beyond its bound if none of these is: positions are at most 1.
      if (Adder::is_any_outside(seen)) units.curvature.lose(0);
      if (Adder::is_any_outside(seen_squares)) units.squares.lose(0);
      sums.weight = adder.read(weight_sum, added);
      sums.squares = square_adder.read(squares, added);
      for (std::size_t j = 0; j < kTerms; ++j) {
        sums.position[j] = adder.read(position[j], added);
        sums.present[j] = leaf.may_miss[j] ? adder.read(present[j], added) : sums.weight;
      }
    });
  });
  return sums;
}

LeafLines::Products LeafLines::sum_products(const Task& task, const RowWeights& weights,
                                            bool needs_curvature, const Units& units,
                                            const std::array<double, kMost>& centers) const {
  const Leaf& leaf = leaves_[task.leaf];
  const std::uint32_t* const row = rows_.rows(leaf.node);
  Products sums;
  visit_terms(leaf.terms, [&](auto size) {
    vectorized([&](auto set) {
      using Adder = VectorAdder<decltype(set)::value>;
      using Real = typename Adder::Real;
      using Bits = typename Adder::Bits;
      constexpr std::size_t kTerms = decltype(size)::value;
      const Adder adder(units.curvature.of(0)), gradient_adder(units.gradient.of(0));
      std::array<Real, kTerms> center;
      for (std::size_t j = 0; j < kTerms; ++j) fill(centers[j], center[j]);
      std::array<Bits, kTerms> gradient{};
      std::array<Bits, place(kTerms, 0)> products{};
      Bits seen{};
      alignas(64) Strip weight, curvature;
      std::size_t added = 0;
      for (std::size_t begin = task.begin; begin < task.end; begin += kStrip) {
        const std::size_t n = std::min(kStrip, task.end - begin);
        read_strip(
            row + begin, n, [&](std::size_t r) { return weights.weight_of(r); }, weight.data());
        if (needs_curvature) {
          read_strip(
              row + begin, n, [&](std::size_t r) { return weights.curvature_of(r); },
              curvature.data());
        }
        const double* const beside = needs_curvature ? curvature.data() : weight.data();
        for (std::size_t i = 0; i < n; i += Adder::kRows, added += Adder::kRows) {
          Real w, h, product;
          std::memcpy(&w, &weight[i], sizeof w);
          std::memcpy(&h, beside + i, sizeof h);
          gradient_adder.look_at(w, seen);
          std::array<Real, kTerms> x;
          for (std::size_t j = 0; j < kTerms; ++j) {
            read_from_center(positions(begin + i, j), center[j], x[j]);
            product = w;
            product *= x[j];
            gradient_adder.add(product, gradient[j]);
            Real scaled = h;
            scaled *= x[j];
            for (std::size_t k = 0; k <= j; ++k) {
              product = scaled;
              product *= x[k];
              adder.add(product, products[place(j, k)]);
            }
          }
        }
      }
      if (Adder::is_any_outside(seen)) units.gradient.lose(0);
      for (std::size_t j = 0; j < kTerms; ++j) {
        sums.gradient[j] = gradient_adder.read(gradient[j], added);
      }
      for (std::size_t p = 0; p < products.size(); ++p) {
        sums.curvature[p] = adder.read(products[p], added);
      }
    });
  });
  return sums;
}

void LeafLines::evaluate(const NodeLines& lines, const std::uint8_t* nodes, std::size_t rows,
                         float* out) const {
  if (rows_.grown() < rows)
    return properboost::evaluate(lines, packed_, bins_, nodes, rows, out, team_);
  const std::vector<LineTable> tables = tabulate(lines, bins_);
  std::fill_n(out, rows, 0.0F);
  const std::vector<Task> tasks = join_tasks([](std::size_t, std::size_t) { return true; });
  team_.for_each(tasks.size(), 4.0 * static_cast<double>(rows), [&](std::size_t k) {
    const Task& task = tasks[k];
    const Leaf& leaf = leaves_[task.leaf];
    const std::uint32_t* const row = rows_.rows(leaf.node);
    const std::size_t begin = lines.begin(leaf.node), terms = lines.end(leaf.node) - begin;
    std::array<std::size_t, kMost> place{};  // of each term's codes
    std::array<const float*, kMost> table{};
    for (std::size_t t = 0; t < terms; ++t) {
      table[t] = tables[begin + t].data();
      while (leaf.feature[place[t]] != static_cast<std::size_t>(lines.feature[begin + t])) {
        ++place[t];
      }
    }
    const auto add = [&](auto size) {
      const std::uint8_t* code = codes(task);
      for (std::size_t i = task.begin; i < task.end; ++i, code += kMost) {
        float sum = 0.0F;
        for (std::size_t t = 0; t < size; ++t) sum += table[t][code[place[t]]];
        out[row[i]] = sum;
      }
    };
    visit_terms(terms, add);  // a number that is known beforehand saves a branch for each row
  });
}

LeafLines::Units LeafLines::find_units(const RowWeights& weights, bool needs_curvature) const {
  const CellUnits& most = weights.units;
  const double of_row = needs_curvature ? most.most_curvature : most.most_weight;
  auto grown = static_cast<std::int64_t>(rows_.grown());
  team_.all_reduce().sum(grown).run();
  const auto rows = static_cast<std::size_t>(grown);
  Units units;
  units.curvature.set(0, of_row, rows);
  units.squares.set(0, of_row * of_row, rows);
  units.gradient.set(0, most.most_weight, rows);
  return units;
}

LeafLines::Balance LeafLines::balance(const Leaf& leaf, const LineTwin& twin,
                                      const OfClasses<Means>& means, double sample,
                                      const Units& units) const {
  Balance balance;
  balance.twin = twin;
  std::array<double, kMost> present{};
  for (std::size_t c = 0; c < 2; ++c) {
    const double f = factor(twin, c);
    balance.weight += f * units.curvature.value(0, means[c].weight);
    balance.squares += f * f * units.squares.value(0, means[c].squares);
    for (std::size_t j = 0; j < leaf.terms; ++j) {
      present[j] += f * units.curvature.value(0, means[c].present[j]);
      balance.center[j] += f * units.curvature.value(0, means[c].position[j]);
    }
  }
  for (std::size_t j = 0; j < leaf.terms; ++j) {
    double& center = balance.center[j];
    center = present[j] > 0.0 ? std::clamp(center / present[j], 0.0, 1.0) : 0.0;
    double position = 0.0, absent = 0.0;
    for (const Means& of_class : means) {
      position += sample_units_.value(of_class.sample.position[j]);
      absent -= sample_units_.value(of_class.sample.present[j]);
    }
    absent = leaf.may_miss[j] ? absent + sample : 0.0;
    const double mean = (position + absent * center) / sample;
    balance.mean[j] = sample > 0.0 ? std::clamp(mean, 0.0, 1.0) : center;
  }
  return balance;
}

LeafLines::Equations LeafLines::set_up(const Leaf& leaf, const LineTwin& twin,
                                       const OfClasses<Products>& products, const Units& units) {
  Equations equations;
  for (std::size_t c = 0; c < 2; ++c) {
    const double f = factor(twin, c);
    for (std::size_t j = 0; j < leaf.terms; ++j) {
      const double size = units.gradient.value(0, products[c].gradient[j]);
      const double part = c == 1 ? size : -size;
      equations.gradient[j] += part;
      equations.slope[j] += f * part;
    }
    for (std::size_t p = 0; p < kProducts; ++p) {
      equations.curvature[p] += f * units.curvature.value(0, products[c].curvature[p]);
    }
  }
  return equations;
}

LeafLines::Line LeafLines::solve_ridge(const Leaf& leaf, const Balance& balance,
                                       const Equations& equations) const {
  constexpr double kLeastVariance = 1e-24;  // of positions: less is rounding
  const double weight = balance.weight, squares = balance.squares;
  const bool enough = weight * weight > 0.0 && squares > 0.0 &&
                      weight * weight >= kLeastRows * limits_.row_weight * squares;
  if (!enough) return {};
  Line line;
  std::array<double, kMost> deviation{};
  for (std::size_t j = 0; j < leaf.terms; ++j) {
    const double variance = equations.curvature[place(j, j)] / weight;
    if (!(variance > kLeastVariance)) continue;
    line.term[line.terms] = j;
    deviation[line.terms] = std::sqrt(variance);
    line.slope[line.terms] = equations.slope[j] / deviation[line.terms];
    ++line.terms;
  }
  std::array<std::array<double, kMost>, kMost> a{};
  const double penalty = limits_.fields.linear_l2 * squares / weight;
  for (std::size_t j = 0; j < line.terms; ++j) {
    for (std::size_t k = 0; k <= j; ++k) {  // terms ascend
      a[j][k] =
          equations.curvature[place(line.term[j], line.term[k])] / (deviation[j] * deviation[k]);
    }
    a[j][j] += penalty;
  }
  if (!solve(line.terms, a, line.slope)) return {};
  for (std::size_t j = 0; j < line.terms; ++j) {
    line.slope[j] *= balance.twin.unit / deviation[j];
    if (!std::isfinite(line.slope[j])) return {};
  }
  return line;
}

void LeafLines::add_line(const Leaf& leaf, const Balance& balance, const Equations& equations,
                         const Regularizers& r, double value, FittedLines& fitted) const {
  const Line line = solve_ridge(leaf, balance, equations);
  double reach = 0.0;  // the most that it adds or takes, over the codes that can come here
  for (std::size_t j = 0; j < line.terms; ++j) {
    const std::size_t term = line.term[j];
    const double center = balance.center[term];
    reach += std::abs(line.slope[j]) * std::max(leaf.high[term] - center, center - leaf.low[term]);
  }
  const double most = balance.twin.unit * r.largest;
  const double cut = reach > most ? most / reach : 1.0;
  for (std::size_t j = 0; j < line.terms; ++j) {
    const std::size_t term = line.term[j];
    fitted.lines.feature.push_back(static_cast<std::int32_t>(leaf.feature[term]));
    fitted.lines.slope.push_back(cut * line.slope[j]);
    fitted.lines.center.push_back(balance.center[term]);
    fitted.lines.mean.push_back(balance.mean[term]);
    fitted.slope += cut * line.slope[j] * equations.gradient[term];
  }
  fitted.largest = std::max(fitted.largest, std::abs(value) + cut * reach);
}

FittedLines LeafLines::fit(const Tree& tree, const Slots& slots, const RowWeights& weights,
                           const Response& response, const Regularizers& r,
                           const std::vector<double>& values) const {
  const bool needs_curvature = response.needs_curvature();
  const Units units = find_units(weights, needs_curvature);
  const std::vector<Task> tasks = join_tasks(
      [&](std::size_t a, std::size_t b) { return class_of(slots, a) == class_of(slots, b); });
  std::vector<OfClasses<Means>> means = sum_by_leaf<Means>(
      tasks, slots, weights, 6.0, [&](const Task& task, const RowWeights& of_class) {
        return sum_means(task, of_class, needs_curvature, units);
      });
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    means[tasks_[t].leaf][class_of(slots, tasks_[t].segment)].sample += samples_[t];
  }
  all_reduce(means);
  std::vector<Balance> balances;
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    const LineTwin twin = response.line_twin(values[leaves_[k].node], r);
    const double sample = tree.cell[leaves_[k].node].weight();
    balances.push_back(balance(leaves_[k], twin, means[k], sample, units));
  }
  std::vector<OfClasses<Products>> products = sum_by_leaf<Products>(
      tasks, slots, weights, 12.0, [&](const Task& task, const RowWeights& of_class) {
        return sum_products(task, of_class, needs_curvature, units, balances[task.leaf].center);
      });
  all_reduce(products);

  FittedLines fitted;
  fitted.lines.offsets.push_back(0);
  std::size_t next = 0;  // leaf that may have a line
  for (std::size_t node = 0; node < tree.size(); ++node) {
    fitted.largest = std::max(fitted.largest, std::abs(values[node]));
    if (next < leaves_.size() && leaves_[next].node == node) {
      const Balance& balance = balances[next];
      const Equations equations = set_up(leaves_[next], balance.twin, products[next], units);
      add_line(leaves_[next], balance, equations, r, values[node], fitted);
      ++next;
    }
    fitted.lines.offsets.push_back(static_cast<std::int64_t>(fitted.lines.feature.size()));
  }
  return fitted;
}

}  // namespace properboost
