#include "properboost/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

#include "properboost/split.hpp"

namespace properboost {
namespace {

// Sums of weights as whole numbers of a unit, a power of two so small that its rounding does not
// matter (for weights that are whole numbers themselves there is none) and so large that no sum
// overflows.
class FixedPoint {
 public:
  FixedPoint(const double* x, std::size_t n) : x_(x) {
    double largest = 1.0;
    if (x != nullptr) largest = n == 0 ? 0.0 : *std::max_element(x, x + n);
    if (!(largest > 0.0)) return;
    if (!std::isfinite(largest)) throw std::runtime_error("weights must be finite");
    const double room = std::ceil(std::log2(static_cast<double>(n) + 1.0)) + 1.0;
    const int bits = 62 - static_cast<int>(room) - std::ilogb(largest);
    per_unit_ = std::ldexp(1.0, std::min(bits, 1000));
    unit_ = 1.0 / per_unit_;
  }

  std::int64_t operator[](std::size_t i) const {
    return std::llround(x_ == nullptr ? per_unit_ : x_[i] * per_unit_);
  }
  double unit() const noexcept { return unit_; }

 private:
  const double* x_;
  double per_unit_ = 1.0, unit_ = 1.0;
};

// What is summed: of each class the weight, and the curvature of both.
enum Kind : std::size_t { kPositive, kNegative, kCurvature };

using Sums = Aligned<std::int64_t>;  // [kind][code], features side by side

constexpr std::size_t kBlock = 2048;  // rows whose weights stay in the first cache
constexpr std::size_t kChunk = 16'384;

class Grower {
 public:
  Grower(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
         const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
         const TreeLimits& limits, Team& team)
      : codes_(codes),
        bins_(bins),
        weight_(rows.weight, codes.rows),
        curvature_(rows.curvature, codes.rows),
        criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        team_(team),
        kinds_(criterion.needs_curvature() ? 3 : 2) {
    if (codes.rows > std::numeric_limits<std::uint32_t>::max()) {
      throw std::invalid_argument("a tree is grown from at most 2^32 - 1 rows");
    }
    std::vector<std::size_t> bounds{0};
    for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
      if (!learns(roles[s])) continue;
      kind_.push_back(roles[s] == Role::kPositive ? kPositive : kNegative);
      for (std::size_t i = codes.segments[s]; i < codes.segments[s + 1]; ++i) {
        rows_.push_back(static_cast<std::uint32_t>(i));
      }
      bounds.push_back(rows_.size());
    }
    other_.resize(rows_.size());
    add_node({});
    leaves_.push_back({0, 0, std::move(bounds), {}, {}, 0, 0.0});
    Leaf& root = leaves_.back();
    root.sums = add_up(root.bounds);
    tree_.cell[0] = total(root.sums);
    search(root);
  }

  Tree grow() {
    while (leaves_.size() < limits_.leaves) {
      std::vector<double> costs;
      for (const Leaf& leaf : leaves_) costs.push_back(-leaf.saving);
      const std::size_t next = first_best(costs.data(), costs.size());
      if (!(leaves_[next].saving > 0.0)) break;
      split(next);
    }
    return std::move(tree_);
  }

 private:
  // A node that has no children yet, and the best split that it could have.
  struct Leaf {
    std::size_t node, depth;
    std::vector<std::size_t> bounds;  // of its rows, a range a segment
    Sums sums;
    std::optional<Split> split;
    std::size_t feature;
    double saving;

    std::size_t size() const { return bounds.back() - bounds.front(); }
  };

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
    // The weights of the rows one after the other: they are read once for each feature.
    own_weight_.resize(n);
    if (kinds_ > kCurvature) own_curvature_.resize(n);
    for_chunks(n, 2.0, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        own_weight_[i] = weight_[rows_[begin + i]];
        if (kinds_ > kCurvature) own_curvature_[i] = curvature_[rows_[begin + i]];
      }
    });
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
          for (std::size_t f = task * kTogether; f < last; ++f) {
            const std::uint8_t* const code = codes_.feature(f);
            const std::uint32_t* const row = rows_.data() + from;
            const auto add = [&](const std::int64_t* x, std::int64_t* out) {
              for (std::size_t i = 0; i < rows; ++i) out[code[row[i]]] += x[i];
            };
            add(own_weight_.data() + (from - begin),
                sums.data() + kind_[s] * width + bins_.offset(f));
            if (kinds_ > kCurvature) {
              add(own_curvature_.data() + (from - begin),
                  sums.data() + kCurvature * width + bins_.offset(f));
            }
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
    return {sum(kPositive, weight_.unit()), sum(kNegative, weight_.unit()),
            kinds_ > kCurvature ? sum(kCurvature, curvature_.unit()) : 0.0};
  }

  // Of all rows: those of any one feature.
  Cell total(const Sums& sums) const {
    Cell sum;
    for (std::size_t b = 0; b < bins_.offset(1); ++b) sum += cell(sums, b);
    return sum;
  }

  // Finds the leaf's best split.
  void search(Leaf& leaf) const {
    leaf.saving = 0.0;
    const Cell& all = tree_.cell[leaf.node];
    if (leaf.depth >= limits_.depth || all.positive == 0.0 || all.negative == 0.0) return;
    std::vector<std::optional<Split>> splits(bins_.size());
    team_.for_each(bins_.size(), 5.0 * static_cast<double>(bins_.total_width()),
                   [&](std::size_t f) {
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
    const double saving = criterion_.cost(&all, 1, regularizers_) - costs[best];
    if (!(saving > kTie * std::abs(costs[best]))) return;
    leaf.feature = best;
    leaf.split = splits[best];
    leaf.saving = saving;
  }

  void split(std::size_t which) {
    Leaf parent = std::move(leaves_[which]);
    const Split& cut = *parent.split;
    tree_.feature[parent.node] = static_cast<std::int32_t>(parent.feature);
    tree_.left[parent.node] = static_cast<std::int64_t>(tree_.size());
    tree_.saving[parent.node] = parent.saving;
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins_[parent.feature].width()); ++b) {
      if (cut.side[b] == Split::kLeft) tree_.goes_left[parent.node].insert(b);
      if (cut.side[b] == Split::kRight) tree_.goes_right[parent.node].insert(b);
    }
    std::array<std::vector<std::size_t>, 2> bounds = deal(parent);
    const bool left_is_small =
        bounds[0].back() - bounds[0].front() <= bounds[1].back() - bounds[1].front();
    Sums small = add_up(bounds[left_is_small ? 0 : 1]);
    Sums large = std::move(parent.sums);
    for (std::size_t i = 0; i < large.size(); ++i) large[i] -= small[i];
    for (std::size_t child = 0; child < 2; ++child) {
      Sums& sums = (child == 0) == left_is_small ? small : large;
      add_node(total(sums));
      Leaf leaf{tree_.size() - 1,
                parent.depth + 1,
                std::move(bounds[child]),
                std::move(sums),
                {},
                0,
                0.0};
      search(leaf);
      if (child == 0) {
        leaves_[which] = std::move(leaf);
      } else {
        leaves_.push_back(std::move(leaf));
      }
    }
  }

  // Puts the rows of the left child before those of the right one, each in the order they had.
  std::array<std::vector<std::size_t>, 2> deal(const Leaf& parent) {
    const std::uint8_t* const code = codes_.feature(parent.feature);
    const CellOfCode& side = parent.split->side;
    struct Part {
      std::size_t begin, end, left = 0;  // rows, and how many of them go left
      std::size_t to_left = 0, to_right = 0;
    };
    std::vector<Part> parts;
    std::vector<std::size_t> segment_of;
    for (std::size_t s = 0; s + 1 < parent.bounds.size(); ++s) {
      for (std::size_t from = parent.bounds[s]; from < parent.bounds[s + 1]; from += kChunk) {
        parts.push_back({from, std::min(from + kChunk, parent.bounds[s + 1])});
        segment_of.push_back(s);
      }
    }
    const double nanoseconds = 1.5 * static_cast<double>(parent.size());
    team_.for_each(parts.size(), nanoseconds, [&](std::size_t p) {
      std::size_t left = 0;
      for (std::size_t i = parts[p].begin; i < parts[p].end; ++i) {
        left += side[code[rows_[i]]] == Split::kLeft ? 1 : 0;
      }
      parts[p].left = left;
    });
    std::size_t left = 0;
    for (const Part& part : parts) left += part.left;
    const std::size_t begin = parent.bounds.front();
    std::array<std::vector<std::size_t>, 2> bounds{{{begin}, {begin + left}}};
    std::size_t to_left = begin, to_right = begin + left;
    for (std::size_t p = 0, s = 0; s + 1 < parent.bounds.size(); ++s) {
      for (; p < parts.size() && segment_of[p] == s; ++p) {
        parts[p].to_left = to_left;
        parts[p].to_right = to_right;
        to_left += parts[p].left;
        to_right += parts[p].end - parts[p].begin - parts[p].left;
      }
      bounds[0].push_back(to_left);
      bounds[1].push_back(to_right);
    }
    team_.for_each(parts.size(), nanoseconds, [&](std::size_t p) {
      std::uint32_t* to[2] = {other_.data() + parts[p].to_left, other_.data() + parts[p].to_right};
      for (std::size_t i = parts[p].begin; i < parts[p].end; ++i) {
        *to[side[code[rows_[i]]] == Split::kLeft ? 0 : 1]++ = rows_[i];
      }
    });
    for_chunks(parent.size(), 0.3, [&](std::size_t from, std::size_t to) {
      std::copy(other_.begin() + static_cast<std::ptrdiff_t>(begin + from),
                other_.begin() + static_cast<std::ptrdiff_t>(begin + to),
                rows_.begin() + static_cast<std::ptrdiff_t>(begin + from));
    });
    return bounds;
  }

  template <class Task>
  void for_chunks(std::size_t n, double a_row, const Task& task) {
    team_.for_each((n + kChunk - 1) / kChunk, a_row * static_cast<double>(n),
                   [&](std::size_t c) { task(c * kChunk, std::min((c + 1) * kChunk, n)); });
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
  std::vector<std::uint32_t> rows_, other_;  // sorted by leaf and, inside it, as they came
  Aligned<std::int64_t> own_weight_, own_curvature_;
  Tree tree_;
  std::vector<Leaf> leaves_;
};

}  // namespace

Tree grow_tree(const Codes& codes, const Bins& bins, const std::vector<Role>& roles,
               const RowWeights& rows, const Criterion& criterion, const Regularizers& r,
               const TreeLimits& limits, Team& team) {
  return Grower(codes, bins, roles, rows, criterion, r, limits, team).grow();
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
