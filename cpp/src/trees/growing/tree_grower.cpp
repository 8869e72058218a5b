#include "properboost/trees/growing/tree_grower.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/random.hpp"
#include "properboost/trees/cells/class_adder.hpp"
#include "properboost/trees/cells/class_cells.hpp"
#include "properboost/trees/cells/joint_cells.hpp"
#include "properboost/trees/cells/vote_cells.hpp"
#include "properboost/trees/growing/best_first_growth.hpp"
#include "properboost/trees/growing/drawn_features.hpp"
#include "properboost/trees/growing/growth.hpp"
#include "properboost/trees/growing/leaf_lines.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/growing/leaf_sums.hpp"
#include "properboost/trees/growing/level_growth.hpp"
#include "properboost/trees/growing/rule_growth.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {
namespace {

constexpr std::uint64_t kRowStream = 0;  // of random draws; those of features come after it
static_assert(kRowStream < kFeatureStream);

template <class Adder>
using SpareSums = std::vector<typename LeafSums<Adder>::Sums>;

}  // namespace

class TreeGrower::State {
 public:
  State(const Codes& codes, const PackedCodes& packed, const Bins& bins)
      : codes_(codes), packed_(packed), bins_(bins), rows_(codes) {}

  Tree grow(const Slots& slots, const RowWeights& rows, const Criterion& criterion,
            const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
            const std::function<void()>& progress, Team& team) {
    const auto grow_by = [&](auto& units, const RowWeights& numbers, auto has_curvature,
                             auto is_soft) {
      const RowWeights drawn = rows.as_drawn();
      units.begin(numbers.as_drawn(), codes_.rows, 0, true);
      take(slots, units, numbers.as_drawn(), key, team);
      using Cells = ClassCells<has_curvature, is_soft>;
      auto grown =
          grow_cells(Cells(criterion, r, limits, units, drawn, slots),
                     ClassAdder(codes_, packed_, bins_, slots, units), limits, key, progress, team);
      grown.tree.cell = std::move(grown.totals);
      if (rows.screen != nullptr) {
        take_all(grown.tree, team);
        grown.tree.cell = sum_all(grown.tree, slots, rows, criterion.needs_curvature(), team);
      } else if (units.is_narrow()) {
        grown.tree.cell =
            sum_classes(grown.tree, slots, {rows}, criterion.needs_curvature(), team)[0];
      }
      return std::move(grown.tree);
    };
    const std::true_type yes;
    const std::false_type no;
    if (rows.is_soft()) return grow_by(with_curvature_, rows.as_pairs(), no, yes);
    if (criterion.needs_curvature()) return grow_by(with_curvature_, rows, yes, no);
    return grow_by(weights_, rows, no, no);
  }

  VoteTree grow(const Slots& slots, const RowWeights& rows, const Vote& vote,
                const TreeLimits& limits, std::uint64_t key, const std::function<void()>& progress,
                Team& team) {
    weights_.begin(rows, codes_.rows, 1, false);
    take(slots, weights_, rows, key, team);
    const VoteCells cells(vote, limits, weights_);
    auto grown = grow_cells(cells, ClassAdder(codes_, packed_, bins_, slots, weights_), limits, key,
                            progress, team);
    VoteTree tree{std::move(grown.tree), {}};
    for (const SlotSums& total : grown.totals) {
      const std::vector<double> weights = cells.vote().weights(total);
      tree.weights.insert(tree.weights.end(), weights.begin(), weights.end());
    }
    return tree;
  }

  JointTree grow(const Slots& slots, const std::vector<RowWeights>& classes,
                 const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
                 std::uint64_t key, const std::function<void()>& progress, Team& team) {
    begin(slots);
    const RowWeights& first = classes.front();
    const auto count = [](const std::uint32_t*, std::size_t n, std::uint8_t* counts) {
      std::fill_n(counts, n, std::uint8_t{1});
    };
    take(first, key, count, team);
    std::vector<RowWeights> drawn;
    for (const RowWeights& weights : classes) drawn.push_back(weights.as_drawn());
    joint_.set(drawn, criterion.needs_curvature(), slots.of_segment, rows_, packed_, key, team);
    auto grown = grow_cells(JointCells(criterion, r, limits, joint_, classes, slots),
                            JointAdder(packed_, bins_, joint_), limits, key, progress, team);
    JointTree tree{std::move(grown.tree), {}};
    if (first.screen != nullptr) {
      take_all(tree.tree, team);
      place_all(team);
    }
    tree.cells = sum_classes(tree.tree, slots, classes, criterion.needs_curvature(), team);
    return tree;
  }

  void find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
    if (!nodes_.empty()) {
      std::copy_n(nodes_.data(), codes_.rows, nodes);
      return;
    }
    const std::size_t grown = rows_.grown();
    if (grown < codes_.rows) return properboost::find_nodes(tree, codes_, &bins_, nodes, team);
    team.for_each(rows_.nodes(), static_cast<double>(grown), [&](std::size_t node) {
      const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
      const std::uint32_t* const row = rows_.rows(node);
      for (std::size_t i = bounds.front(); i < bounds.back(); ++i) {
        nodes[row[i]] = static_cast<std::uint8_t>(node);
      }
    });
  }

  LeafLines lines(const Tree& tree, const TreeLimits& limits, RowSampleWeights sample_weight,
                  double total, Team& team) {
    place_all(team);
    return {tree, rows_, packed_, bins_, limits, sample_weight, total, team};
  }

  std::vector<Cell> weigh(const Tree& tree, const Slots& slots, RowSampleWeights sample_weight,
                          const float* shares, double total, Team& team) const {
    const FixedPoint units(total);
    const bool all_ones = sample_weight.all_ones() && shares == nullptr;
    using Sums = std::array<std::int64_t, 2>;  // of the negative class, and of the positive
    const auto place_of = [](std::size_t slot) { return slot == Slots::kPositive ? 1 : 0; };
    std::vector<Sums> sums(tree.size(), Sums{});
    if (!are_placed()) {
      sums = sum_nodes(tree, slots, Sums{}, team,
                       [&](std::size_t i, std::size_t slot, Sums& node_sums) {
                         node_sums[place_of(slot)] += all_ones ? 1 : units.round(sample_weight[i]);
                       });
    } else {
      team.for_each(rows_.nodes(), static_cast<double>(rows_.grown()), [&](std::size_t node) {
        const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
        const std::uint32_t* const row = rows_.rows(node);
        for (std::size_t i = bounds.front(); shares != nullptr && i < bounds.back(); ++i) {
          const std::int64_t all = units.round(sample_weight[row[i]]);
          const std::int64_t part =
              units.round(sample_weight[row[i]] * static_cast<double>(shares[row[i]]));
          sums[node][1] += part;
          sums[node][0] += all - part;
        }
        for (std::size_t s = 0; shares == nullptr && s + 1 < bounds.size(); ++s) {
          std::int64_t& sum = sums[node][place_of(slots.of_segment[s])];
          if (all_ones) {
            sum += static_cast<std::int64_t>(bounds[s + 1] - bounds[s]);
            continue;
          }
          for (std::size_t i = bounds[s]; i < bounds[s + 1]; ++i) {
            sum += units.round(sample_weight[row[i]]);
          }
        }
      });
    }
    team.all_reduce().sum(sums.front().data(), 2 * sums.size()).run();
    const double unit = all_ones ? 1.0 : units.unit;
    std::vector<Cell> weight;
    for (const Sums& node_sums : sums) {
      weight.push_back({unit * static_cast<double>(node_sums[1]),
                        unit * static_cast<double>(node_sums[0]), 0.0});
    }
    for (std::size_t node = tree.size(); node-- > 0;) {  // children come after their parents
      if (tree.is_leaf(node)) continue;
      const auto left = static_cast<std::size_t>(tree.left[node]);
      Cell below = weight[left];
      below += weight[left + 1];
      weight[node] += below;
    }
    return weight;
  }

 private:
  // Forgets the last tree.
  void begin(const Slots& slots) {
    rows_.set_segments(slots.segments);
    nodes_.clear();
    placed_ = false;
  }

  template <bool kCurvature>
  void take(const Slots& slots, RowUnits<kCurvature>& units, const RowWeights& rows,
            std::uint64_t key, Team& team) {
    begin(slots);
    const auto count = [&](const std::uint32_t* row, std::size_t n, std::uint8_t* counts) {
      if (rows.screen == nullptr && n > 0 && row[n - 1] - row[0] == n - 1) {
        return units.set(rows, row[0], n, counts);
      }
      units.set(rows, row, n, counts);
    };
    take(rows, key, count, team);
  }

  // Takes rows that are drawn by the key, for a screen or as a share of all, as far as they count;
  // only drawn rows are checked for that.
  template <class Count>
  void take(const RowWeights& rows, std::uint64_t key, const Count& count, Team& team) {
    const std::uint64_t stream = stream_key(key, kRowStream);
    const std::uint64_t undrawn = first_not_below(rows.share * 0x1p64);
    const auto draw = [&](std::size_t begin, std::size_t n, std::uint8_t* drawn) {
      if (rows.screen != nullptr) return rows.screen->draw(stream, begin, n, drawn);
      if (rows.share >= 1.0) return static_cast<void>(std::fill_n(drawn, n, 1));
      vectorized([=, number = rows.numbers] {
        // Copies, as bytes that are written could be part of whatever is captured.
        std::uint8_t* const __restrict to = drawn;
        const RowNumbers row_numbers = number;
        const std::uint64_t bits = stream, end = undrawn;
        const std::size_t first = begin, rows_here = n;
        for (std::size_t i = 0; i < rows_here; ++i)
          to[i] = draw_bits(bits, row_numbers[first + i]) < end;
      });
    };
    rows_.take(draw, count, team);
  }

  // Finds the nodes of all rows in a tree that was grown from some.
  void take_all(const Tree& tree, Team& team) {
    nodes_.resize(codes_.rows);
    properboost::find_nodes(tree, codes_, &bins_, nodes_.data(), team);
  }
  // Whether a node's rows are known, rather than the rows' nodes alone.
  bool are_placed() const { return nodes_.empty() || placed_; }
  void place_all(Team& team) {
    if (!are_placed()) rows_.place(nodes_.data(), team);
    placed_ = true;
  }

  // Whole numbers of all rows that end at each node, once these are known: in the order of the
  // table, which takes a third of the time that nodes take one by one.  add(row, slot, sums).
  template <class Sums, class Add>
  std::vector<Sums> sum_nodes(const Tree& tree, const Slots& slots, const Sums& none, Team& team,
                              const Add& add) const {
    const std::vector<RowBlock>& blocks = rows_.blocks();
    const std::vector<std::size_t> slot_of = slots.by_segment(codes_);
    std::vector<std::vector<Sums>> parts(blocks.size());
    team.for_each(blocks.size(), 2.0 * static_cast<double>(codes_.rows), [&](std::size_t c) {
      parts[c].assign(tree.size(), none);
      const std::size_t slot = slot_of[blocks[c].segment];
      for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) {
        add(i, slot, parts[c][nodes_[i]]);
      }
    });
    std::vector<Sums> sums(tree.size(), none);
    for (const std::vector<Sums>& part : parts) {
      for (std::size_t node = 0; node < sums.size(); ++node) {
        for (std::size_t j = 0; j < none.size(); ++j) sums[node][j] += part[node][j];
      }
    }
    return sums;
  }

  // The sums of all rows that end at each node.
  std::vector<Cell> sum_all(const Tree& tree, const Slots& slots, const RowWeights& rows,
                            bool needs_curvature, Team& team) const {
    using Sums = std::array<std::int64_t, 3>;  // weights by slot, curvature
    std::vector<Sums> sums =
        sum_nodes(tree, slots, Sums{}, team, [&](std::size_t i, std::size_t slot, Sums& node_sums) {
          node_sums[slot] += rows.units.weight.round(rows.weight_of(i));
          if (needs_curvature) node_sums[2] += rows.units.curvature.round(rows.curvature_of(i));
        });
    team.all_reduce().sum(sums.front().data(), 3 * sums.size()).run();
    std::vector<Cell> cells;
    for (const Sums& node_sums : sums) {
      cells.push_back({rows.units.weight.value(node_sums[Slots::kPositive]),
                       rows.units.weight.value(node_sums[Slots::kNegative]),
                       rows.units.curvature.value(node_sums[2])});
    }
    return cells;
  }

  // The sums of each class of the rows that end at each node, from the weights themselves: the
  // rounded weights of the search are too coarse for the values of leaves whose rows are light.
  std::vector<std::vector<Cell>> sum_classes(const Tree& tree, const Slots& slots,
                                             const std::vector<RowWeights>& classes,
                                             bool needs_curvature, Team& team) const {
    using Sums = std::array<std::int64_t, 3>;  // weights of both classes, curvature
    std::vector<Sums> sums(classes.size() * tree.size(), Sums{});
    const double nanoseconds =
        2.0 * static_cast<double>(rows_.grown()) * static_cast<double>(classes.size());
    team.for_each(sums.size(), nanoseconds, [&](std::size_t task) {
      const std::size_t k = task / tree.size(), node = task % tree.size();
      const std::vector<std::size_t>& bounds = rows_.place(node).bounds;
      const std::uint32_t* const row = rows_.rows(node);
      const CellUnits& units = classes[k].units;
      const auto is_of_class = [&](std::size_t s) { return slots.of_segment[s] == k; };
      for (std::size_t s = 0, next = 0; s + 1 < bounds.size(); s = next) {
        for (next = s + 1; next + 1 < bounds.size() && is_of_class(next) == is_of_class(s);) ++next;
        const std::uint32_t* const first = row + bounds[s];
        const std::size_t n = bounds[next] - bounds[s];
        sums[task][classes[k].is_soft() || is_of_class(s) ? 0 : 1] += sum_rounded(
            units.weight, first, n, [&](std::size_t i) { return classes[k].weight_of(i); });
        if (classes[k].is_soft()) {
          sums[task][1] += sum_rounded(units.weight, first, n,
                                       [&](std::size_t i) { return classes[k].against_of(i); });
        }
        if (!needs_curvature) continue;
        sums[task][2] += sum_rounded(units.curvature, first, n,
                                     [&](std::size_t i) { return classes[k].curvature_of(i); });
      }
    });
    team.all_reduce().sum(sums.front().data(), 3 * sums.size()).run();
    std::vector<std::vector<Cell>> cells(classes.size());
    for (std::size_t task = 0; task < sums.size(); ++task) {
      const CellUnits& units = classes[task / tree.size()].units;
      cells[task / tree.size()].push_back({units.weight.value(sums[task][0]),
                                           units.weight.value(sums[task][1]),
                                           units.curvature.value(sums[task][2])});
    }
    return cells;
  }

  // The least whole number that is, as a double, not below a bound.
  static std::uint64_t first_not_below(double bound) {
    std::uint64_t low = 0, high = ~std::uint64_t{0};
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (static_cast<double>(middle) < bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return high;
  }

  template <class Cells>
  GrownTree<Cells> grow_cells(const Cells& cells, const typename Cells::Adder& adder,
                              const TreeLimits& limits, std::uint64_t key,
                              const std::function<void()>& progress, Team& team) {
    using Sums = LeafSums<typename Cells::Adder>;
    auto& spare = std::get<std::vector<typename Sums::Sums>>(spare_);
    Sums sums(codes_, bins_, rows_, adder, spare, team);
    Growth<Cells> growth(cells, rows_, sums, codes_, bins_, limits, team);
    auto root = growth.begin();
    if (limits.by_level()) {
      LevelGrowth<Cells>(growth, key).grow(std::move(root), progress);
    } else if (limits.rule) {
      RuleGrowth<Cells>(growth, key).grow(std::move(root), progress);
    } else {
      BestFirstGrowth<Cells>(growth, key).grow(std::move(root), progress);
    }
    return growth.end();
  }

  const Codes& codes_;
  const PackedCodes& packed_;
  const Bins& bins_;
  // Kept from tree to tree, for their memory.
  LeafRows rows_;
  RowUnits<false> weights_;  // or these
  RowUnits<true> with_curvature_;
  JointUnits joint_;
  Aligned<std::uint8_t> nodes_;  // of all rows, if the last tree was grown from a screen
  bool placed_ = false;          // whether they are in rows_, too
  std::tuple<SpareSums<ClassAdder<false>>, SpareSums<ClassAdder<true>>, SpareSums<JointAdder>>
      spare_;
};

TreeGrower::TreeGrower(const Codes& codes, const PackedCodes& packed, const Bins& bins)
    : state_(std::make_unique<State>(codes, packed, bins)) {}
TreeGrower::~TreeGrower() = default;

std::size_t TreeGrower::bytes(std::size_t rows, std::size_t training,
                              bool needs_curvature) noexcept {
  const std::size_t units = needs_curvature ? sizeof(Units<true>) : sizeof(Units<false>);
  return rows * units + LeafRows::bytes(training);
}

std::size_t TreeGrower::joint_bytes(const Bins& bins, std::size_t rows, std::size_t training,
                                    std::size_t classes, std::size_t leaves) noexcept {
  const std::size_t stride = JointUnits::stride_for(classes);
  return rows * (stride * sizeof(std::int32_t) + sizeof(std::uint64_t)) +
         LeafRows::bytes(training) +
         LeafSums<JointAdder>::bytes_of(stride * bins.total_width(),
                                        training * bins.size() * stride, leaves);
}

Tree TreeGrower::grow(const Slots& slots, const RowWeights& rows, const Criterion& criterion,
                      const Regularizers& r, const TreeLimits& limits, std::uint64_t key,
                      const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, rows, criterion, r, limits, key, progress, team);
}
VoteTree TreeGrower::grow(const Slots& slots, const RowWeights& rows, const Vote& vote,
                          const TreeLimits& limits, std::uint64_t key,
                          const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, rows, vote, limits, key, progress, team);
}
JointTree TreeGrower::grow(const Slots& slots, const std::vector<RowWeights>& classes,
                           const Criterion& criterion, const Regularizers& r,
                           const TreeLimits& limits, std::uint64_t key,
                           const std::function<void()>& progress, Team& team) {
  return state_->grow(slots, classes, criterion, r, limits, key, progress, team);
}
void TreeGrower::find_nodes(const Tree& tree, std::uint8_t* nodes, Team& team) const {
  state_->find_nodes(tree, nodes, team);
}
LeafLines TreeGrower::lines(const Tree& tree, const TreeLimits& limits,
                            RowSampleWeights sample_weight, double total, Team& team) {
  return state_->lines(tree, limits, sample_weight, total, team);
}
std::vector<Cell> TreeGrower::weigh(const Tree& tree, const Slots& slots,
                                    RowSampleWeights sample_weight, const float* shares,
                                    double total, Team& team) const {
  return state_->weigh(tree, slots, sample_weight, shares, total, team);
}

TreeGrowers::Loan TreeGrowers::borrow() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty()) {
    idle_.reserve(made_ + 1);  // so that taking it back cannot fail
    auto made = std::make_unique<TreeGrower>(codes_, packed_, bins_);
    ++made_;
    return Loan(made.release(), Return(this));
  }
  Loan loan(idle_.back().release(), Return(this));
  idle_.pop_back();
  return loan;
}

void TreeGrowers::take_back(TreeGrower* grower) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.emplace_back(grower);
}

}  // namespace properboost
