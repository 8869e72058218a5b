#include "properboost/trees/tree_grower.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "properboost/core/random.hpp"
#include "properboost/core/words.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {
namespace {

// task(from, to) for chunks of n rows; `a_row` is a guess of its nanoseconds.
template <class Task>
void for_chunks(std::size_t n, double a_row, Team& team, const Task& task) {
  constexpr std::size_t kRows = Chunk::kRows;
  team.for_each((n + kRows - 1) / kRows, a_row * static_cast<double>(n),
                [&](std::size_t c) { task(c * kRows, std::min((c + 1) * kRows, n)); });
}

// What a row adds to a code of its class: its weight and, where they are asked for, its curvature.
template <bool kCurvature>
using Units = std::conditional_t<kCurvature, Pair<std::int64_t>, std::int64_t>;

// Numbers as whole ones of a unit, a power of two: their sum takes 61 bits, and whole numbers that
// add up to less are kept as they are.
struct FixedPoint {
  double per_unit = 1.0;
  double unit = 1.0;

  FixedPoint() = default;
  explicit FixedPoint(double total) {
    if (!std::isfinite(total)) throw std::invalid_argument("weight must have a finite sum");
    if (!(total > 0.0)) return;
    per_unit = std::ldexp(1.0, std::min(60 - std::ilogb(total), 1023));
    unit = 1.0 / per_unit;
  }
  // A call would keep loops from being vectorised, and x is not negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  std::int64_t round(double x) const { return static_cast<std::int64_t>(x * per_unit + 0.5); }
};

// Adds the units of n rows to the cells of the features of one group.  Rows are those named, or
// follow the first.
template <std::size_t Group, class Unit>
void add_units(const std::uint8_t* first, std::size_t stride, const std::uint32_t* rows,
               const Unit* units, std::size_t n, Unit* const* cells) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t word;
    const std::size_t row = rows == nullptr ? i : rows[i];
    std::memcpy(&word, first + row * stride, sizeof word);
    const Unit unit = units[i];
    for (unsigned g = 0; g < Group; ++g) cells[g][unpack<std::uint8_t>(word, g)] += unit;
  }
}

template <class Visitor>
void visit_group(std::size_t size, const Visitor& visitor) {
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

}  // namespace

class TreeGrower::State {
 public:
  State(const Codes& codes, const PackedCodes& packed, const Bins& bins,
        const std::vector<Role>& roles)
      : codes_(codes), packed_(packed), bins_(bins), roles_(roles) {
    if (codes.rows > std::numeric_limits<std::uint32_t>::max()) {
      throw std::invalid_argument("a tree is grown from at most 2^32 - 1 rows");
    }
    for (const Chunk& chunk : cut_into_chunks(codes.segments)) {
      if (!learns(roles[chunk.segment])) continue;
      chunks_.push_back(chunk);
      n_rows_ += chunk.end - chunk.begin;
    }
    for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
      if (learns(roles[s])) classes_.push_back(roles[s] == Role::kPositive ? 0 : 1);
    }
    for (auto& rows : rows_) rows.resize(n_rows_);
  }

  Tree grow(const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
            const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
            Team& team);
  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
    constexpr std::uint8_t kUnknown = kMostNodes;
    const bool all_grown = grown() == codes_.rows;
    if (!all_grown) std::fill_n(nodes, codes_.rows, kUnknown);
    team.for_each(places_.size(), static_cast<double>(grown()), [&](std::size_t node) {
      const Place& place = places_[node];
      const std::uint32_t* const row = rows_[place.buffer].data();
      for (std::size_t i = place.bounds.front(); i < place.bounds.back(); ++i) {
        nodes[row[i]] = static_cast<std::uint8_t>(node);
      }
    });
    if (all_grown) return;
    for_chunks(codes_.rows, 10.0, team, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (nodes[i] != kUnknown) continue;
        nodes[i] = static_cast<std::uint8_t>(
            tree.find_node([&](std::size_t f) { return packed_.row(i)[f]; }));
      }
    });
  }

  std::vector<Cell> weigh(const Tree& tree, const double* sample_weight, Team& team) const {
    std::vector<Cell> weight(tree.size(), Cell{});
    team.for_each(places_.size(), static_cast<double>(grown()), [&](std::size_t node) {
      const Place& place = places_[node];
      const std::uint32_t* const row = rows_[place.buffer].data();
      for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
        double sum = static_cast<double>(place.bounds[s + 1] - place.bounds[s]);
        if (sample_weight != nullptr) {
          sum = 0.0;
          for (std::size_t i = place.bounds[s]; i < place.bounds[s + 1]; ++i) {
            sum += sample_weight[row[i]];
          }
        }
        (classes_[s] == 0 ? weight[node].positive : weight[node].negative) += sum;
      }
    });
    for (std::size_t node = tree.size(); node-- > 0;) {  // children come after their parents
      if (tree.is_leaf(node)) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      weight[node] = weight[left];
      weight[node] += weight[left + 1];
    }
    return weight;
  }

 private:
  // Where a leaf's rows are: ranges, one a segment, of one of two buffers.
  struct Place {
    std::vector<std::size_t> bounds;
    std::size_t buffer = 0;

    std::size_t size() const { return bounds.back() - bounds.front(); }
  };

  // Rows that the tree was grown from.
  std::size_t grown() const {
    std::size_t n = 0;
    for (const Place& place : places_) n += place.size();
    return n;
  }

  template <bool kCurvature>
  class Growth;

  const Codes& codes_;
  const PackedCodes& packed_;
  const Bins& bins_;
  const std::vector<Role>& roles_;
  std::vector<Chunk> chunks_;         // of the segments that are learnt from
  std::vector<std::size_t> classes_;  // of these segments: 0 positive, 1 negative
  std::size_t n_rows_ = 0;
  // Kept from tree to tree, for their memory.
  std::array<std::vector<std::uint32_t>, 2> rows_;  // sorted by leaf and, inside it, as they came
  Aligned<Units<false>> weight_units_;              // of one of the two kinds
  Aligned<Units<true>> curvature_units_;
  std::vector<Place> places_;  // of each node of the last tree; of splits, nowhere
};

template <bool kCurvature>
class TreeGrower::State::Growth {
 public:
  using Unit = Units<kCurvature>;
  using Sums = Aligned<Unit>;  // [feature][class][code]

  Growth(State& state, Aligned<Unit>& units, const RowWeights& rows, const Criterion& criterion,
         const Regularizers& r, const TreeLimits& limits, std::uint64_t key, Team& team)
      : state_(state),
        bins_(state.bins_),
        units_(units),
        criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        key_(key),
        team_(team) {
    units_.resize(state_.codes_.rows);
    state_.places_.clear();
    root_.place = take_rows(rows);
    root_.sums = add_up(root_.place);
    add_node(total(root_.sums), root_.place);
  }

  Tree grow_tree(const std::function<void()>& progress) {
    consider(&root_, nullptr);
    for (std::size_t leaves = 1; leaves < limits_.leaves && !waiting_.empty(); ++leaves) {
      progress();
      std::pop_heap(waiting_.begin(), waiting_.end(), comes_later);
      Leaf next = std::move(waiting_.back());
      waiting_.pop_back();
      kept_ -= next.sums.size() * sizeof(Unit);
      split(std::move(next));
    }
    return std::move(tree_);
  }

  // The rows of the left-most leaf are those for which all literals hold.  A literal and its
  // opposite make the same two cells of the root; which of them the rule begins with is decided by
  // the second literal, or else it is the one that holds for less weight.
  Tree grow_rule(const std::function<void()>& progress) {
    progress();
    find_splits({&root_});
    if (!root_.split) return std::move(tree_);
    std::array<Leaf, 2> ends = divide(std::move(root_));
    for (std::size_t i = 0; i < 2; ++i) ends[i].others = tree_.cell[ends[1 - i].node];
    progress();
    find_splits({&ends[0], &ends[1]});
    const auto comes_first = [](const Leaf& a, const Leaf& b) {
      if (!a.split && !b.split) return a.others->weight() > b.others->weight();
      return a.split && (!b.split || a.saving > b.saving);
    };
    if (comes_first(ends[1], ends[0])) {
      std::swap(ends[0], ends[1]);
      exchange_children();
      std::swap(ends[0].node, ends[1].node);
    }
    Leaf end = std::move(ends[0]);
    while (end.split) {
      progress();
      Cell others = *end.others;
      std::array<Leaf, 2> children = divide(std::move(end));
      others += tree_.cell[children[1].node];
      end = std::move(children[0]);
      end.others = others;
      find_splits({&end});
    }
    return std::move(tree_);
  }

 private:
  // A node to be split, and how.
  struct Leaf {
    std::size_t node, depth;
    Place place;
    Sums sums;  // none if they are to be made again
    std::optional<Split> split;
    std::size_t feature;
    double saving;
    std::optional<Cell> others;  // of a rule: the rows for which it does not hold
  };
  static bool comes_later(const Leaf& a, const Leaf& b) {
    return a.saving < b.saving || (a.saving == b.saving && a.node > b.node);
  }
  // Sums of so few rows are made again rather than kept, once so many bytes are: a tree may have
  // many such leaves.
  static constexpr std::size_t kFew = 4096;
  static constexpr std::size_t kMostKept = std::size_t{1} << 26;
  static constexpr std::size_t kRowsForParts = 2048;
  // A block's codes, and how many rows it has at most.
  static constexpr std::size_t kBlockBytes = 1u << 14;
  static constexpr std::size_t kMostRows = 512;

  void add_node(const Cell& cell, const Place& place) {
    tree_.add_leaf(cell);
    state_.places_.push_back(place);
  }

  // Sets the units of all rows, and picks those that count.
  Place take_rows(const RowWeights& rows) {
    const auto term = [&](const float* x, std::size_t i) {
      return (x == nullptr ? 1.0 : static_cast<double>(x[i])) *
             (rows.sample_weight == nullptr ? 1.0 : rows.sample_weight[i]);
    };
    const std::vector<Chunk>& chunks = state_.chunks_;
    const double a_pass = static_cast<double>(state_.n_rows_);
    struct Part {
      double weight = 0.0;
      double curvature = 0.0;
      std::size_t rows = 0;
    };
    std::vector<Part> parts(chunks.size());
    team_.for_each(chunks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
        parts[c].weight += term(rows.weight, i);
        if (kCurvature) parts[c].curvature += term(rows.curvature, i);
      }
    });
    Part sum;
    for (const Part& part : parts) {
      sum.weight += part.weight;
      sum.curvature += part.curvature;
    }
    weight_ = FixedPoint(sum.weight);
    curvature_ = FixedPoint(sum.curvature);
    // Rows too light to be told from nothing are left out, too.
    const double below = rows.share * 0x1p64;
    const auto counts = [&](std::size_t i) {
      bool has_weight;
      if constexpr (kCurvature) {
        has_weight = units_[i].data[0] > 0 || units_[i].data[1] > 0;
      } else {
        has_weight = units_[i] > 0;
      }
      return has_weight &&
             (rows.share >= 1.0 || static_cast<double>(draw_bits(key_, kRowStream, i)) < below);
    };
    team_.for_each(chunks.size(), a_pass, [&](std::size_t c) {
      for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
        const std::int64_t weight = weight_.round(term(rows.weight, i));
        if constexpr (kCurvature) {
          units_[i].data[0] = weight;
          units_[i].data[1] = curvature_.round(term(rows.curvature, i));
        } else {
          units_[i] = weight;
        }
        parts[c].rows += counts(i) ? 1 : 0;
      }
    });
    std::vector<std::size_t> first{0};  // of each chunk's rows
    for (const Part& part : parts) first.push_back(first.back() + part.rows);
    all_count_ = first.back() == state_.n_rows_;
    team_.for_each(chunks.size(), a_pass, [&](std::size_t c) {
      std::uint32_t* to = state_.rows_[0].data() + first[c];
      for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
        if (all_count_ || counts(i)) *to++ = static_cast<std::uint32_t>(i);
      }
    });
    Place place;
    for (std::size_t c = 0, s = 0; s < state_.roles_.size(); ++s) {
      if (!learns(state_.roles_[s])) continue;
      place.bounds.push_back(first[c]);
      while (c < chunks.size() && chunks[c].segment == s) ++c;
    }
    place.bounds.push_back(first.back());
    return place;
  }

  // The sums of the rows in a place.
  Sums add_up(const Place& place) {
    const std::uint32_t* const row = state_.rows_[place.buffer].data();
    const std::size_t begin = place.bounds.front(), n = place.size();
    // The root's rows follow each other inside each segment.
    const bool in_order = all_count_ && n == state_.n_rows_;
    const double nanoseconds =
        0.4 * static_cast<double>(n * bins_.size()) + 0.5 * static_cast<double>(sums_size());
    // Rows are summed in parts; the order in which whole numbers are added is all the same.
    const std::size_t parts = std::clamp<std::size_t>(n / kRowsForParts, 1, team_.size());
    std::vector<Sums> sums(parts);
    for (Sums& part : sums) part = take_sums();
    team_.for_each(parts, nanoseconds, [&](std::size_t part) {
      std::fill(sums[part].begin(), sums[part].end(), Unit{});
      for (std::size_t s = 0; s + 1 < place.bounds.size(); ++s) {
        const std::size_t from = std::max(place.bounds[s], begin + n * part / parts);
        const std::size_t end = std::min(place.bounds[s + 1], begin + n * (part + 1) / parts);
        const std::size_t its_class = state_.classes_[s];
        for (std::size_t i = from; i < end; i += block_) {
          const std::size_t size = std::min(block_, end - i);
          if (in_order) {
            add_block(row[i], nullptr, units_.data() + row[i], size, its_class, sums[part]);
          } else {
            std::array<Unit, kMostRows> own;
            for (std::size_t j = 0; j < size; ++j) own[j] = units_[row[i + j]];
            const std::size_t ahead = std::min(block_, end - i - size);
            add_block(0, row + i, own.data(), size, its_class, sums[part], ahead);
          }
        }
      }
    });
    for (std::size_t part = 1; part < parts; ++part) {
      for (std::size_t i = 0; i < sums_size(); ++i) sums[0][i] += sums[part][i];
      give_back(std::move(sums[part]));
    }
    return std::move(sums[0]);
  }

  // Adds a block of rows of a segment: few enough for their codes to stay in the cache while the
  // groups of features take turns.  On the way the codes of some rows that come next are asked for.
  void add_block(std::size_t first, const std::uint32_t* rows, const Unit* units, std::size_t n,
                 std::size_t its_class, Sums& sums, std::size_t ahead = 0) const {
    const PackedCodes& packed = state_.packed_;
    for (std::size_t g = 0; g < packed.groups(); ++g) {
      for (std::size_t i = ahead * g / packed.groups(); i < ahead * (g + 1) / packed.groups();
           ++i) {
        packed.prefetch(rows[n + i]);
        prefetch(&units_[rows[n + i]]);
      }
      const std::size_t f = g * PackedCodes::kTogether;
      std::array<Unit*, PackedCodes::kTogether> cells{};
      for (std::size_t k = 0; k < packed.size(g); ++k) {
        cells[k] = sums.data() + sums_of(f + k, its_class);
      }
      visit_group(packed.size(g), [&](auto size) {
        add_units<size>(packed.row(first) + f, packed.stride(), rows, units, n, cells.data());
      });
    }
  }

  std::size_t sums_size() const { return 2 * bins_.total_width(); }
  // Where the sums of a class begin.
  std::size_t sums_of(std::size_t f, std::size_t its_class) const {
    return 2 * bins_.offset(f) + its_class * static_cast<std::size_t>(bins_[f].width());
  }
  Sums take_sums() {
    if (spare_.empty()) return Sums(sums_size());
    Sums sums = std::move(spare_.back());
    spare_.pop_back();
    return sums;
  }
  void give_back(Sums&& sums) {
    if (!sums.empty()) spare_.push_back(std::move(sums));
    sums.clear();
  }

  Cell cell(const Sums& sums, std::size_t f, std::size_t code) const {
    const Unit& positive = sums[sums_of(f, 0) + code];
    const Unit& negative = sums[sums_of(f, 1) + code];
    if constexpr (kCurvature) {
      return {static_cast<double>(positive.data[0]) * weight_.unit,
              static_cast<double>(negative.data[0]) * weight_.unit,
              static_cast<double>(positive.data[1] + negative.data[1]) * curvature_.unit};
    } else {
      return {static_cast<double>(positive) * weight_.unit,
              static_cast<double>(negative) * weight_.unit, 0.0};
    }
  }

  // Of all rows: those of any one feature.
  Cell total(const Sums& sums) const {
    Cell sum{};
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins_[0].width()); ++b) {
      sum += cell(sums, 0, b);
    }
    return sum;
  }

  bool may_be_split(const Leaf& leaf) const {
    if (leaf.depth >= limits_.depth) return false;
    const Cell& all = tree_.cell[leaf.node];
    return kCurvature || (all.positive > 0.0 && all.negative > 0.0);
  }

  // Finds the best splits of one leaf or two, and lets those wait for their turn that save
  // anything.
  void consider(Leaf* first, Leaf* second) {
    find_splits({first, second});
    for (Leaf* leaf : {first, second}) {
      if (leaf == nullptr || !leaf->split) continue;
      const std::size_t bytes = leaf->sums.size() * sizeof(Unit);
      if (leaf->place.size() <= kFew && kept_ + bytes > kMostKept) {
        give_back(std::move(leaf->sums));
      }
      kept_ += leaf->sums.size() * sizeof(Unit);
      waiting_.push_back(std::move(*leaf));
      std::push_heap(waiting_.begin(), waiting_.end(), comes_later);
    }
  }

  // Finds the best split of each leaf, if there is one that saves anything.
  void find_splits(std::initializer_list<Leaf*> asked) {
    std::vector<Leaf*> leaves;
    for (Leaf* leaf : asked) {
      if (leaf != nullptr && may_be_split(*leaf)) leaves.push_back(leaf);
    }
    const std::size_t features = bins_.size();
    std::vector<std::optional<Split>> splits(leaves.size() * features);
    const double nanoseconds =
        static_cast<double>(leaves.size()) *
        (4.0 * static_cast<double>(bins_.total_width()) + 300.0 * static_cast<double>(features));
    std::vector<std::uint8_t> allowed(splits.size(), 1);
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      if (limits_.max_features < 1.0) draw_features(leaves[k]->node, &allowed[k * features]);
    }
    team_.for_each(splits.size(), nanoseconds, [&](std::size_t task) {
      if (allowed[task] != 0) splits[task] = find_split(*leaves[task / features], task % features);
    });
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      Leaf& leaf = *leaves[k];
      std::vector<double> costs;
      for (std::size_t f = 0; f < features; ++f) {
        const auto& split = splits[k * features + f];
        costs.push_back(split ? split->cost : std::numeric_limits<double>::infinity());
      }
      const std::size_t best = first_best(costs.data(), costs.size());
      double unsplit = criterion_.cost(&tree_.cell[leaf.node], 1, regularizers_);
      if (leaf.others) unsplit += criterion_.cost(&*leaf.others, 1, regularizers_);
      leaf.saving = unsplit - costs[best];
      if (!(leaf.saving > kTie * std::abs(costs[best]))) continue;
      leaf.feature = best;
      leaf.split = splits[k * features + best];
    }
  }

  Split find_split(const Leaf& leaf, std::size_t f) const {
    std::array<Cell, kMaxCodes> cells;
    std::array<std::uint8_t, kMaxCodes> occupied;
    const FeatureCells feature{cells.data(), occupied.data(), &bins_[f]};
    for (std::size_t b = 0; b < feature.width(); ++b) {
      cells[b] = cell(leaf.sums, f, b);
      occupied[b] = cells[b].weight() > 0.0 || (kCurvature && cells[b].curvature > 0.0) ? 1 : 0;
    }
    const int direction = limits_.directions.empty() ? 0 : limits_.directions[f];
    const auto split = [&](const Cell& beside_left, const Cell& beside_right) {
      return Split(feature, criterion_, regularizers_, limits_.child_weight, direction, beside_left,
                   beside_right);
    };
    if (!leaf.others) return split({}, {});
    // The rows left over by a literal join those for which the rule did not hold before.  Costs
    // being concave, a cut of categories by their share of a class is the best of all sets here,
    // too.
    Split below = split({}, *leaf.others);
    Split above = split(*leaf.others, {});
    if (!(above.cost < below.cost - kTie * std::abs(below.cost))) return below;
    above.swap_sides();
    return above;
  }

  // Of all features the share that a node's split is among, at least one.
  void draw_features(std::size_t node, std::uint8_t* allowed) const {
    const std::size_t n = bins_.size();
    const auto share = std::lround(limits_.max_features * static_cast<double>(n));
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(share));
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t f = 0; f < n; ++f) {
      order.emplace_back(draw_bits(key_, kFeatureStream + node, f), f);
    }
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted) - 1,
                     order.end());
    std::fill_n(allowed, n, std::uint8_t{0});
    for (std::size_t k = 0; k < wanted; ++k) allowed[order[k].second] = 1;
  }

  void split(Leaf parent) {
    std::array<Leaf, 2> children = divide(std::move(parent));
    consider(&children[0], &children[1]);
    for (Leaf& child : children) give_back(std::move(child.sums));  // of those that do not wait
  }

  // Splits a leaf: its children come with their sums.
  std::array<Leaf, 2> divide(Leaf parent) {
    tree_.feature[parent.node] = static_cast<std::int32_t>(parent.feature);
    tree_.left[parent.node] = static_cast<std::int64_t>(tree_.size());
    tree_.saving[parent.node] = parent.saving;
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins_[parent.feature].width()); ++b) {
      const std::uint8_t side = parent.split->side[b];
      if (side == Split::kLeft) tree_.goes_left[parent.node].insert(b);
      if (side == Split::kRight) tree_.goes_right[parent.node].insert(b);
    }
    std::array<Leaf, 2> children = deal(parent);
    state_.places_[parent.node].bounds.assign(2, 0);
    const std::size_t small = children[0].place.size() <= children[1].place.size() ? 0 : 1;
    Sums& least = children[small].sums = add_up(children[small].place);
    Sums& most = children[1 - small].sums = std::move(parent.sums);
    if (most.empty()) {
      most = add_up(children[1 - small].place);
    } else {
      for (std::size_t i = 0; i < most.size(); ++i) most[i] -= least[i];
    }
    for (Leaf& child : children) {
      child.node = tree_.size();
      child.depth = parent.depth + 1;
      add_node(total(child.sums), child.place);
    }
    return children;
  }

  // Makes the left child of the root the right one; both are leaves.
  void exchange_children() {
    std::swap(tree_.goes_left[0], tree_.goes_right[0]);
    std::swap(tree_.cell[1], tree_.cell[2]);
    std::swap(state_.places_[1], state_.places_[2]);
  }

  // Puts the rows of the left child before those of the right one, each in the order they had.
  std::array<Leaf, 2> deal(const Leaf& parent) {
    const std::uint8_t* const code = state_.codes_.feature(parent.feature);
    std::array<std::uint8_t, kMaxCodes> goes_left;
    for (std::size_t b = 0; b < kMaxCodes; ++b) {
      goes_left[b] = parent.split->side[b] == Split::kLeft ? 1 : 0;
    }
    const auto is_left = [&](std::uint32_t row) { return goes_left[code[row]]; };
    const std::vector<std::size_t>& bounds = parent.place.bounds;
    const std::uint32_t* const from = state_.rows_[parent.place.buffer].data();
    std::uint32_t* const to = state_.rows_[1 - parent.place.buffer].data();
    const std::vector<Chunk> chunks = cut_into_chunks(bounds);
    const double nanoseconds = 1.5 * static_cast<double>(parent.place.size());
    std::vector<std::size_t> go_left(chunks.size());
    team_.for_each(chunks.size(), nanoseconds, [&](std::size_t c) {
      std::size_t n = 0;
      for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) n += is_left(from[i]);
      go_left[c] = n;
    });
    const std::size_t begin = bounds.front();
    const std::size_t middle = std::accumulate(go_left.begin(), go_left.end(), begin);
    std::array<Leaf, 2> children{};
    std::array<std::size_t, 2> next{begin, middle};  // places to put rows
    std::vector<std::array<std::size_t, 2>> places;  // of each chunk's
    std::size_t c = 0;
    for (std::size_t s = 0; s < bounds.size(); ++s) {
      for (std::size_t k = 0; k < 2; ++k) children[k].place.bounds.push_back(next[k]);
      for (; c < chunks.size() && chunks[c].segment == s; ++c) {
        places.push_back(next);
        next[0] += go_left[c];
        next[1] += chunks[c].end - chunks[c].begin - go_left[c];
      }
    }
    for (Leaf& child : children) child.place.buffer = 1 - parent.place.buffer;
    team_.for_each(chunks.size(), nanoseconds, [&](std::size_t k) {
      constexpr std::size_t kBlock = 1024;
      std::array<std::uint32_t, kBlock> left, right;
      std::array<std::size_t, 2> place = places[k];
      for (std::size_t i = chunks[k].begin; i < chunks[k].end; i += kBlock) {
        const std::size_t n = std::min(kBlock, chunks[k].end - i);
        std::size_t lefts = 0;
        for (std::size_t j = 0; j < n; ++j) {
          const std::uint32_t row = from[i + j];
          left[lefts] = row;
          right[j - lefts] = row;
          lefts += is_left(row);
        }
        std::copy_n(left.begin(), lefts, to + place[0]);
        std::copy_n(right.begin(), n - lefts, to + place[1]);
        place[0] += lefts;
        place[1] += n - lefts;
      }
    });
    return children;
  }

  static constexpr std::uint64_t kRowStream = 0;
  static constexpr std::uint64_t kFeatureStream = 1;  // and one more a node

  State& state_;
  const Bins& bins_;
  Aligned<Unit>& units_;  // of each row
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const TreeLimits& limits_;
  std::uint64_t key_;
  Team& team_;
  FixedPoint weight_, curvature_;
  bool all_count_ = true;  // none of the rows is left out
  Tree tree_;
  Leaf root_{};
  std::vector<Leaf> waiting_;  // a heap
  std::vector<Sums> spare_;
  std::size_t kept_ = 0;  // bytes that waiting leaves hold
  const std::size_t block_ =
      std::clamp<std::size_t>(kBlockBytes / state_.packed_.stride(), 64, kMostRows);
};

Tree TreeGrower::State::grow(const RowWeights& rows, const Criterion& criterion,
                             const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
                             const std::function<void()>& progress, Team& team) {
  const auto grow_by = [&](auto growth) {
    return limits.only_left ? growth.grow_rule(progress) : growth.grow_tree(progress);
  };
  if (criterion.needs_curvature()) {
    return grow_by(Growth<true>(*this, curvature_units_, rows, criterion, r, limits, key, team));
  }
  return grow_by(Growth<false>(*this, weight_units_, rows, criterion, r, limits, key, team));
}

TreeGrower::TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins,
                       const std::vector<Role>& roles)
    : state_(std::make_unique<State>(codes, packed, bins, roles)) {}
TreeGrower::~TreeGrower() = default;

Tree TreeGrower::grow(const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
                      const TreeLimits& limits, std::uint64_t key,
                      const std::function<void()>& progress, Team& team) {
  return state_->grow(rows, criterion, r, limits, key, progress, team);
}
void TreeGrower::find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
  state_->find_nodes(tree, nodes, team);
}
std::vector<Cell> TreeGrower::weigh(const Tree& tree, const double* sample_weight,
                                    Team& team) const {
  return state_->weigh(tree, sample_weight, team);
}

}  // namespace properboost
