#include "properboost/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "properboost/split.hpp"

namespace properboost {
namespace {

constexpr std::size_t kBlock = 2048;  // rows whose weights stay in the first cache

// task(from, to) for chunks of n rows; `a_row` is a guess of its nanoseconds.
template <class Task>
void for_chunks(std::size_t n, double a_row, Team& team, const Task& task) {
  constexpr std::size_t kRows = Chunk::kRows;
  team.for_each((n + kRows - 1) / kRows, a_row * static_cast<double>(n),
                [&](std::size_t c) { task(c * kRows, std::min((c + 1) * kRows, n)); });
}

// Weights as whole numbers of a unit, a power of two: their sum takes 61 bits, and whole numbers
// that add up to less are kept as they are.
struct FixedPoint {
  Aligned<std::int64_t> units;
  double unit = 1.0;

  FixedPoint(const double* x, std::size_t n, const char* what, Team& team) : units(n) {
    if (n == 0) return;
    constexpr double kLeast = 1e-280;
    double total = x == nullptr ? static_cast<double>(n) : 0.0;
    for (std::size_t i = 0; x != nullptr && i < n; ++i) {
      if (!(x[i] >= 0.0)) throw std::invalid_argument(std::string(what) + " must be at least 0");
      total += x[i];
    }
    if (!(total >= kLeast && std::isfinite(total))) {
      throw std::invalid_argument(std::string(what) + " must have a finite sum of at least 1e-280");
    }
    const double per_unit = std::ldexp(1.0, 60 - std::ilogb(total));
    unit = 1.0 / per_unit;
    for_chunks(n, 0.5, team, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        units[i] = static_cast<std::int64_t>((x == nullptr ? 1.0 : x[i]) * per_unit + 0.5);
      }
    });
  }
};

// What is summed: of each class the weight, and the curvature of both.
enum Kind : std::size_t { kPositive, kNegative, kCurvature };

using Sums = Aligned<std::int64_t>;  // [kind][code], features side by side

class Grower {
 public:
  Grower(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
         const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
         const TreeLimits& limits, Team& team)
      : codes_(codes),
        bins_(bins),
        weight_(rows.weight, codes.rows, "weight", team),
        curvature_(rows.curvature, criterion.needs_curvature() ? codes.rows : 0, "curvature", team),
        criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        team_(team),
        kinds_(criterion.needs_curvature() ? 3 : 2) {
    rows_.reserve(codes.rows);
    std::vector<std::size_t> bounds{0};
    for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
      if (!learns(roles[s])) continue;
      kind_.push_back(roles[s] == Role::kPositive ? kPositive : kNegative);
      for (std::size_t i = codes.segments[s]; i < codes.segments[s + 1]; ++i) {
        if (weight_.units[i] > 0) {
          rows_.push_back(static_cast<std::uint32_t>(i));
        } else {
          all_count_ = false;  // too light to be told from nothing
        }
      }
      bounds.push_back(rows_.size());
    }
    other_.resize(rows_.size());
    Leaf root{0, 0, std::move(bounds), {}, {}, 0, 0.0};
    root.sums = add_up(root.bounds);
    add_node(total(root.sums));
    consider(std::move(root));
  }

  Tree grow(const std::function<void()>& progress) {
    for (std::size_t leaves = 1; leaves < limits_.leaves && !waiting_.empty(); ++leaves) {
      progress();
      std::pop_heap(waiting_.begin(), waiting_.end(), comes_later);
      Leaf next = std::move(waiting_.back());
      waiting_.pop_back();
      split(std::move(next));
    }
    return std::move(tree_);
  }

 private:
  // A node to be split, and how.
  struct Leaf {
    std::size_t node, depth;
    std::vector<std::size_t> bounds;  // of its rows, a range a segment
    Sums sums;                        // none if it has few rows
    std::optional<Split> split;
    std::size_t feature;
    double saving;

    std::size_t size() const { return bounds.back() - bounds.front(); }
  };
  static bool comes_later(const Leaf& a, const Leaf& b) {
    return a.saving < b.saving || (a.saving == b.saving && a.node > b.node);
  }
  // Of so few rows sums are made again rather than kept: a tree may have many such leaves.
  static constexpr std::size_t kFew = 4096;

  void add_node(const Cell& cell) {
    tree_.feature.push_back(Tree::kLeaf);
    tree_.left.push_back(0);
    tree_.goes_left.emplace_back();
    tree_.goes_right.emplace_back();
    tree_.cell.push_back(cell);
    tree_.saving.push_back(0.0);
  }

  // The sums of the rows in these ranges.
  Sums add_up(const std::vector<std::size_t>& bounds) {
    const std::size_t width = bins_.total_width();
    const std::size_t begin = bounds.front(), n = bounds.back() - begin;
    // The weights one after the other, as they are read for each feature.  The root's rows are so
    // already, inside each segment.
    const bool in_order = all_count_ && n == rows_.size();
    if (!in_order) {
      own_weight_.resize(n);
      if (kinds_ > kCurvature) own_curvature_.resize(n);
      for_chunks(n, 2.0, team_, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          own_weight_[i] = weight_.units[rows_[begin + i]];
          if (kinds_ > kCurvature) own_curvature_[i] = curvature_.units[rows_[begin + i]];
        }
      });
    }
    Sums sums(kinds_ * width, 0);
    const double nanoseconds = 0.7 * static_cast<double>(n * bins_.size() * (kinds_ - 1));
    // A few features at a time share a look at the rows and their weights.
    constexpr std::size_t kTogether = 4;
    const std::size_t tasks = (bins_.size() + kTogether - 1) / kTogether;
    team_.for_each(tasks, nanoseconds, [&](std::size_t task) {
      const std::size_t last = std::min((task + 1) * kTogether, bins_.size());
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        for (std::size_t from = bounds[s]; from < bounds[s + 1]; from += kBlock) {
          const std::size_t rows = std::min(kBlock, bounds[s + 1] - from);
          const std::uint32_t* const row = rows_.data() + from;
          for (std::size_t f = task * kTogether; f < last; ++f) {
            const std::uint8_t* const code = codes_.feature(f);
            const auto add = [&](const FixedPoint& all, const Aligned<std::int64_t>& own,
                                 Kind kind) {
              std::int64_t* const out = sums.data() + kind * width + bins_.offset(f);
              if (in_order) {
                const std::int64_t* const x = all.units.data() + row[0];
                for (std::size_t i = 0; i < rows; ++i) out[code[row[0] + i]] += x[i];
              } else {
                const std::int64_t* const x = own.data() + (from - begin);
                for (std::size_t i = 0; i < rows; ++i) out[code[row[i]]] += x[i];
              }
            };
            add(weight_, own_weight_, kind_[s]);
            if (kinds_ > kCurvature) add(curvature_, own_curvature_, kCurvature);
          }
        }
      }
    });
    return sums;
  }

  Cell cell(const Sums& sums, std::size_t code) const {
    const std::size_t width = bins_.total_width();
    const auto sum = [&](Kind kind, double unit) {
      return static_cast<double>(sums[kind * width + code]) * unit;
    };
    return {sum(kPositive, weight_.unit), sum(kNegative, weight_.unit),
            kinds_ > kCurvature ? sum(kCurvature, curvature_.unit) : 0.0};
  }

  // Of all rows: those of any one feature.
  Cell total(const Sums& sums) const {
    Cell sum;
    for (std::size_t b = 0; b < bins_.offset(1); ++b) sum += cell(sums, b);
    return sum;
  }

  // Finds the leaf's best split, and lets it wait for its turn if that saves anything.
  void consider(Leaf leaf) {
    const Cell& all = tree_.cell[leaf.node];
    if (leaf.depth >= limits_.depth || all.positive == 0.0 || all.negative == 0.0) return;
    std::vector<std::optional<Split>> splits(bins_.size());
    const double nanoseconds = 5.0 * static_cast<double>(bins_.total_width() + 200 * bins_.size());
    team_.for_each(bins_.size(), nanoseconds, [&](std::size_t f) {
      std::array<Cell, kMaxCodes> cells;
      std::array<std::uint8_t, kMaxCodes> occupied;
      const FeatureCells feature{cells.data(), occupied.data(), &bins_[f]};
      for (std::size_t b = 0; b < feature.width(); ++b) {
        cells[b] = cell(leaf.sums, bins_.offset(f) + b);
        occupied[b] = cells[b].weight() > 0.0 ? 1 : 0;
      }
      splits[f].emplace(feature, criterion_, regularizers_, limits_.child_weight);
    });
    std::vector<double> costs;
    for (const auto& split : splits) costs.push_back(split->cost);
    const std::size_t best = first_best(costs.data(), costs.size());
    leaf.saving = criterion_.cost(&all, 1, regularizers_) - costs[best];
    if (!(leaf.saving > kTie * std::abs(costs[best]))) return;
    leaf.feature = best;
    leaf.split = splits[best];
    if (leaf.size() <= kFew) leaf.sums = {};
    waiting_.push_back(std::move(leaf));
    std::push_heap(waiting_.begin(), waiting_.end(), comes_later);
  }

  void split(Leaf parent) {
    tree_.feature[parent.node] = static_cast<std::int32_t>(parent.feature);
    tree_.left[parent.node] = static_cast<std::int64_t>(tree_.size());
    tree_.saving[parent.node] = parent.saving;
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins_[parent.feature].width()); ++b) {
      const std::uint8_t side = parent.split->side[b];
      if (side == Split::kLeft) tree_.goes_left[parent.node].insert(b);
      if (side == Split::kRight) tree_.goes_right[parent.node].insert(b);
    }
    std::array<Leaf, 2> children = deal(parent);
    const std::size_t small = children[0].size() <= children[1].size() ? 0 : 1;
    Sums& least = children[small].sums = add_up(children[small].bounds);
    Sums& most = children[1 - small].sums = std::move(parent.sums);
    if (most.empty()) {
      most = add_up(children[1 - small].bounds);
    } else {
      for (std::size_t i = 0; i < most.size(); ++i) most[i] -= least[i];
    }
    for (Leaf& child : children) {
      child.node = tree_.size();
      child.depth = parent.depth + 1;
      add_node(total(child.sums));
    }
    for (Leaf& child : children) consider(std::move(child));
  }

  // Puts the rows of the left child before those of the right one, each in the order they had.
  std::array<Leaf, 2> deal(const Leaf& parent) {
    const std::uint8_t* const code = codes_.feature(parent.feature);
    const CellOfCode& side = parent.split->side;
    const std::vector<Chunk> chunks = cut_into_chunks(parent.bounds);
    const double nanoseconds = 1.5 * static_cast<double>(parent.size());
    std::vector<std::size_t> go_left(chunks.size());
    team_.for_each(chunks.size(), nanoseconds, [&](std::size_t c) {
      std::size_t left = 0;
      for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
        left += side[code[rows_[i]]] == Split::kLeft ? 1 : 0;
      }
      go_left[c] = left;
    });
    const std::size_t begin = parent.bounds.front();
    const std::size_t middle = std::accumulate(go_left.begin(), go_left.end(), begin);
    std::array<Leaf, 2> children{};
    std::array<std::size_t, 2> next{begin, middle};  // places to put rows
    std::vector<std::array<std::size_t, 2>> places;  // of each chunk's
    std::size_t c = 0;
    for (std::size_t s = 0; s < parent.bounds.size(); ++s) {
      children[0].bounds.push_back(next[0]);
      children[1].bounds.push_back(next[1]);
      for (; c < chunks.size() && chunks[c].segment == s; ++c) {
        places.push_back(next);
        next[0] += go_left[c];
        next[1] += chunks[c].end - chunks[c].begin - go_left[c];
      }
    }
    team_.for_each(chunks.size(), nanoseconds, [&](std::size_t k) {
      std::array<std::size_t, 2> place = places[k];
      for (std::size_t i = chunks[k].begin; i < chunks[k].end; ++i) {
        other_[place[side[code[rows_[i]]] == Split::kLeft ? 0 : 1]++] = rows_[i];
      }
    });
    for_chunks(parent.size(), 0.3, team_, [&](std::size_t from, std::size_t to) {
      std::copy(other_.begin() + static_cast<std::ptrdiff_t>(begin + from),
                other_.begin() + static_cast<std::ptrdiff_t>(begin + to),
                rows_.begin() + static_cast<std::ptrdiff_t>(begin + from));
    });
    return children;
  }

  const Codes& codes_;
  const Bins& bins_;
  FixedPoint weight_, curvature_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  TreeLimits limits_;
  Team& team_;
  std::size_t kinds_;
  std::vector<Kind> kind_;                   // of each segment that is learnt from
  bool all_count_ = true;                    // none of their rows is too light
  std::vector<std::uint32_t> rows_, other_;  // sorted by leaf and, inside it, as they came
  Aligned<std::int64_t> own_weight_, own_curvature_;
  Tree tree_;
  std::vector<Leaf> waiting_;  // a heap
};

}  // namespace

Tree grow_tree(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
               const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
               const TreeLimits& limits, const std::function<void()>& progress, Team& team) {
  if (codes.rows > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("a tree is grown from at most 2^32 - 1 rows");
  }
  return Grower(codes, bins, roles, rows, criterion, r, limits, team).grow(progress);
}

void find_nodes(const Tree& tree, const std::uint8_t* codes, std::size_t n, std::int64_t* nodes,
                Team& team) {
  constexpr std::size_t kRows = 1024;
  team.for_each((n + kRows - 1) / kRows, 20.0 * static_cast<double>(n), [&](std::size_t c) {
    for (std::size_t i = c * kRows; i < std::min((c + 1) * kRows, n); ++i) {
      std::size_t node = 0;
      while (tree.feature[node] != Tree::kLeaf) {
        const std::uint8_t code = codes[static_cast<std::size_t>(tree.feature[node]) * n + i];
        const bool left = tree.goes_left[node].has(code);
        if (!left && !tree.goes_right[node].has(code)) break;
        node = static_cast<std::size_t>(tree.left[node]) + (left ? 0 : 1);
      }
      nodes[i] = static_cast<std::int64_t>(node);
    }
  });
}

}  // namespace properboost
