#include "properboost/trees/growing/leaf_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/prefetch.hpp"

namespace properboost {
namespace {

constexpr std::size_t kStrip = 256;  // rows whose numbers stay in the first cache
using Strip = std::array<double, kStrip>;

// The sum of the products of two numbers of each row.
using ProductSum = RowAdder<1, Signs::kBoth>;

template <class Set>
void add_products(Set set, const double* a, const double* b, std::size_t n, ProductSum& sum) {
  sum.add(set, n, {}, [=](std::size_t i) { return a[i] * b[i]; });
}

// Sums of products, all of them in the same units.
template <std::size_t... K>
std::array<ProductSum, sizeof...(K)> make_sums(const TermUnits& units, std::index_sequence<K...>) {
  return {(static_cast<void>(K), ProductSum(units))...};
}
template <std::size_t kSums>
std::array<ProductSum, kSums> make_sums(const TermUnits& units) {
  return make_sums(units, std::make_index_sequence<kSums>());
}

std::int64_t read(const ProductSum& sum) {
  WholeSums total{};
  sum.add_to(total);
  return total[0];
}

const Strip& ones() {
  static const Strip all = [] {
    Strip strip;
    strip.fill(1.0);
    return strip;
  }();
  return all;
}

// Writes how far positions are from the center; missing ones, which are NaN, are there.
void move_to_center(const double* positions, double center, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const double at = positions[i];
    out[i] = at == at ? at - center : 0.0;
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
                     const Bins& bins, const TreeLimits& limits, Team& team)
    : rows_(rows), packed_(packed), bins_(bins), limits_(limits), team_(team) {
  find_leaves(tree);
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    for (const RowBlock& block : cut_into_row_blocks(rows_.place(leaves_[k].node).bounds)) {
      tasks_.push_back({k, block.segment, block.begin, block.end});
    }
  }
  gather();
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
  positions_.resize(rows * kMost);
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
    std::uint8_t* to = codes_.data() + task.begin * kMost;
    for (std::size_t i = task.begin; i < task.end; ++i, to += kMost) {
      const std::size_t later = std::min(i + kAhead, task.end - 1);
      for (const std::size_t j : lines) prefetch(packed_.row(row[later]) + leaf.feature[j]);
      const std::uint8_t* const codes = packed_.row(row[i]);
      for (std::size_t j = 0; j < leaf.terms; ++j) to[j] = codes[leaf.feature[j]];
    }
    for (std::size_t j = 0; j < leaf.terms; ++j) {
      const double* const position_of = bins_[leaf.feature[j]].positions();
      const std::uint8_t* const code = codes_.data() + task.begin * kMost + j;
      double* const position = positions_.data() + j * rows + task.begin;
      for (std::size_t i = 0; i < task.end - task.begin; ++i) {
        position[i] = position_of[code[i * kMost]];
      }
    }
  });
}

void LeafLines::Means::operator+=(const Means& other) {
  weight += other.weight;
  squares += other.squares;
  for (std::size_t j = 0; j < kMost; ++j) {
    present[j] += other.present[j];
    position[j] += other.position[j];
    sample_present[j] += other.sample_present[j];
    sample_position[j] += other.sample_position[j];
  }
}

void LeafLines::Means::add_to(AllReduce& all_reduce) {
  all_reduce.sum(weight).sum(squares).sum(present.data(), kMost).sum(position.data(), kMost);
  all_reduce.sum(sample_present.data(), kMost).sum(sample_position.data(), kMost);
}

void LeafLines::Products::operator+=(const Products& other) {
  for (std::size_t j = 0; j < kMost; ++j) gradient[j] += other.gradient[j];
  for (std::size_t p = 0; p < kProducts; ++p) curvature[p] += other.curvature[p];
}

void LeafLines::Products::add_to(AllReduce& all_reduce) {
  all_reduce.sum(gradient.data(), kMost).sum(curvature.data(), kProducts);
}

template <class Sums, class SumTask>
std::vector<LeafLines::OfClasses<Sums>> LeafLines::sum_by_leaf(const Slots& slots,
                                                               const RowWeights& weights,
                                                               double ns_a_row,
                                                               const SumTask& sum_task) const {
  const auto class_of = [&](std::size_t segment) -> std::size_t {
    return slots.of_segment[segment] == Slots::kPositive ? 1 : 0;
  };
  const std::vector<Task> tasks =
      join_tasks([&](std::size_t a, std::size_t b) { return class_of(a) == class_of(b); });
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
    leaf[class_of(tasks[t].segment)] += of_tasks[t];
    if (is_soft) leaf[0] += of_others[t];
  }
  AllReduce all_reduce = team_.all_reduce();
  for (OfClasses<Sums>& leaf : leaves) {
    for (Sums& of_class : leaf) of_class.add_to(all_reduce);
  }
  all_reduce.run();
  return leaves;
}

LeafLines::Means LeafLines::sum_means(const Task& task, const RowWeights& weights,
                                      bool needs_curvature, const Units& units) const {
  const Leaf& leaf = leaves_[task.leaf];
  const std::uint32_t* const row = rows_.rows(leaf.node) + task.begin;
  const float* const of_row = needs_curvature ? weights.curvature : weights.weight;
  const RowSampleWeights sample_weight = weights.sample_weight;
  const bool once_by_sample = !weights.are_of_others;
  Means sums;
  ProductSum weight_sum(units.curvature), squares(units.squares);
  auto position = make_sums<kMost>(units.curvature), present = make_sums<kMost>(units.curvature);
  alignas(64) Strip base, ratio, x, is_there, sample, square;
  for (std::size_t begin = 0; begin < task.end - task.begin; begin += kStrip) {
    const std::size_t n = std::min(kStrip, task.end - task.begin - begin);
    for (std::size_t i = 0; i < n; ++i) ratio[i] = static_cast<double>(of_row[row[begin + i]]);
    for (std::size_t i = 0; !sample_weight.all_ones() && i < n; ++i) {
      sample[i] = sample_weight.stored(row[begin + i]);
      base[i] = ratio[i] * sample[i];
    }
    const double* const once = sample_weight.all_ones() ? ones().data() : sample.data();
    const double* const weight = sample_weight.all_ones() ? ratio.data() : base.data();
    for (std::size_t i = 0; weights.is_soft() && i < n; ++i) {
      square[i] = weights.square_of(row[begin + i]);
    }
    vectorized([&, once, weight, n](auto set) {
      const auto add_sample = [=, per_unit = units.sample.per_unit](const Strip& a,
                                                                    std::int64_t& to) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += whole_part(a[i] * once[i] * per_unit + 0.5, set);
        to += sum;
      };
      add_products(set, weight, ones().data(), n, weight_sum);
      if (weights.is_soft()) {
        add_products(set, square.data(), ones().data(), n, squares);
      } else {
        add_products(set, weight, ratio.data(), n, squares);
      }
      for (std::size_t j = 0; j < leaf.terms; ++j) {
        const double* const at = positions(task, j) + begin;
        move_to_center(at, 0.0, n, x.data());
        add_products(set, weight, x.data(), n, position[j]);
        if (once_by_sample) add_sample(x, sums.sample_position[j]);
        if (!leaf.may_miss[j]) continue;
        for (std::size_t i = 0; i < n; ++i) is_there[i] = at[i] == at[i] ? 1.0 : 0.0;
        add_products(set, weight, is_there.data(), n, present[j]);
        if (once_by_sample) add_sample(is_there, sums.sample_present[j]);
      }
    });
  }
  sums.weight = read(weight_sum);
  sums.squares = read(squares);
  for (std::size_t j = 0; j < leaf.terms; ++j) {
    sums.position[j] = read(position[j]);
    sums.present[j] = leaf.may_miss[j] ? read(present[j]) : sums.weight;
  }
  return sums;
}

LeafLines::Products LeafLines::sum_products(const Task& task, const RowWeights& weights,
                                            bool needs_curvature, const Units& units,
                                            const std::array<double, kMost>& center) const {
  const Leaf& leaf = leaves_[task.leaf];
  const std::size_t terms = leaf.terms;
  const std::uint32_t* const row = rows_.rows(leaf.node) + task.begin;
  auto gradient = make_sums<kMost>(units.gradient);
  auto products = make_sums<kProducts>(units.curvature);
  alignas(64) Strip weight, curvature, scaled;
  alignas(64) std::array<Strip, kMost> x;
  for (std::size_t begin = 0; begin < task.end - task.begin; begin += kStrip) {
    const std::size_t n = std::min(kStrip, task.end - task.begin - begin);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t r = row[begin + i];
      weight[i] = weights.weight_of(r);
      curvature[i] = needs_curvature ? weights.curvature_of(r) : weight[i];
    }
    vectorized([&, terms, n](auto set) {
      for (std::size_t j = 0; j < terms; ++j) {
        double* __restrict const to = scaled.data();
        const double* const from = x[j].data();
        move_to_center(positions(task, j) + begin, center[j], n, x[j].data());
        for (std::size_t i = 0; i < n; ++i) to[i] = curvature[i] * from[i];
        add_products(set, weight.data(), from, n, gradient[j]);
        for (std::size_t k = 0; k <= j; ++k) {
          add_products(set, to, x[k].data(), n, products[place(j, k)]);
        }
      }
    });
  }
  Products sums;
  for (std::size_t j = 0; j < terms; ++j) sums.gradient[j] = read(gradient[j]);
  for (std::size_t p = 0; p < place(terms, 0); ++p) sums.curvature[p] = read(products[p]);
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
    switch (terms) {  // a number that is known beforehand saves a branch for each row
      case 0: return;
      case 1: return add(std::integral_constant<std::size_t, 1>{});
      case 2: return add(std::integral_constant<std::size_t, 2>{});
      case 3: return add(std::integral_constant<std::size_t, 3>{});
      default: return add(std::integral_constant<std::size_t, kMost>{});
    }
  });
}

LeafLines::Units LeafLines::find_units(const RowWeights& weights, bool needs_curvature,
                                       double total) const {
  const CellUnits& most = weights.units;
  const double of_row = needs_curvature ? most.most_curvature : most.most_weight;
  auto grown = static_cast<std::int64_t>(rows_.grown());
  team_.all_reduce().sum(grown).run();
  const auto rows = static_cast<std::size_t>(grown);
  Units units;
  units.curvature.set(0, of_row, rows);
  units.squares.set(0, of_row * of_row, rows);
  units.gradient.set(0, most.most_weight, rows);
  units.sample = FixedPoint(total);
  return units;
}

LeafLines::Balance LeafLines::balance(const Leaf& leaf, const LineTwin& twin,
                                      const OfClasses<Means>& means, double sample,
                                      const Units& units) {
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
      position += units.sample.value(of_class.sample_position[j]);
      absent -= units.sample.value(of_class.sample_present[j]);
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
                           const std::vector<double>& values, double total) const {
  const bool needs_curvature = response.needs_curvature();
  const Units units = find_units(weights, needs_curvature, total);
  const std::vector<OfClasses<Means>> means =
      sum_by_leaf<Means>(slots, weights, 6.0, [&](const Task& task, const RowWeights& of_class) {
        return sum_means(task, of_class, needs_curvature, units);
      });
  std::vector<Balance> balances;
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    const LineTwin twin = response.line_twin(values[leaves_[k].node], r);
    const double sample = tree.cell[leaves_[k].node].weight();
    balances.push_back(balance(leaves_[k], twin, means[k], sample, units));
  }
  const std::vector<OfClasses<Products>> products = sum_by_leaf<Products>(
      slots, weights, 12.0, [&](const Task& task, const RowWeights& of_class) {
        return sum_products(task, of_class, needs_curvature, units, balances[task.leaf].center);
      });

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
