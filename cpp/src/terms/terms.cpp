#include "properboost/terms/terms.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "properboost/core/parallel.hpp"

namespace properboost {
namespace {

constexpr std::size_t kRows = 4096;  // that a task reads

std::size_t width_of(const Bins& bins, std::uint32_t feature) {
  return static_cast<std::size_t>(bins[feature].width());
}

// The separations of a numeric feature's codes: bit c is set if code c is not like code c - 1.
void separate_neighbours(const CodeSet& box, CodeSet& starts) {
  std::uint64_t before = 0;  // the last bit of the word before
  for (std::size_t w = 0; w < box.bits.size(); ++w) {
    starts.bits[w] |= box.bits[w] ^ (box.bits[w] << 1 | before);
    before = box.bits[w] >> 63;
  }
}

// Finds the cells of rows in a grid.  The cell is a sum over axes, of numbers that are looked up by
// code.
class CellFinder {
 public:
  CellFinder(const TermGrid& grid, const std::uint8_t* codes, std::size_t n)
      : axes_(grid.set.size) {
    std::int32_t stride = 1;
    for (std::size_t axis = axes_; axis-- > 0;) {
      const Levels& levels = grid.levels[axis];
      codes_[axis] = codes + grid.set.features[axis] * n;
      for (std::size_t c = 0; c < kMaxCodes; ++c) of_code_[axis][c] = stride * levels.of_code[c];
      stride *= static_cast<std::int32_t>(levels.count);
    }
  }

  // Calls visitor(row, cell) for the rows from `begin` to `end`.
  template <class Visitor>
  void visit(std::size_t begin, std::size_t end, const Visitor& visitor) const {
    if (axes_ == 1) visit<1>(begin, end, visitor);
    if (axes_ == 2) visit<2>(begin, end, visitor);
    if (axes_ == 3) visit<3>(begin, end, visitor);
  }

 private:
  template <std::size_t kAxes, class Visitor>
  void visit(std::size_t begin, std::size_t end, const Visitor& visitor) const {
    for (std::size_t i = begin; i < end; ++i) {
      std::int32_t cell = 0;
      for (std::size_t axis = 0; axis < kAxes; ++axis) cell += of_code_[axis][codes_[axis][i]];
      visitor(i, cell);
    }
  }

  const std::size_t axes_;
  std::array<const std::uint8_t*, kMostTermFeatures> codes_{};
  std::array<std::array<std::int32_t, kMaxCodes>, kMostTermFeatures> of_code_;
};

// The levels of one feature of one term, refined box by box.
class LevelFinder {
 public:
  void refine(const CodeSet& box, bool ordered, std::size_t width) {
    if (ordered) {
      separate_neighbours(box, starts_);
      return;
    }
    std::array<std::int16_t, 2 * kMaxCodes> number;
    number.fill(-1);
    std::int16_t count = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t old = 2u * of_code_[c] + (box.has(static_cast<std::uint8_t>(c)) ? 1 : 0);
      if (number[old] < 0) number[old] = count++;
      of_code_[c] = static_cast<std::uint8_t>(number[old]);
    }
  }

  void refine_wholly() { starts_.bits.fill(~std::uint64_t{0}); }

  Levels finish(const FeatureBins& bins) const {
    Levels levels;
    const auto n = static_cast<std::size_t>(bins.bins());
    const auto width = static_cast<std::size_t>(bins.width());
    std::size_t last = 0;
    if (bins.ordered()) {
      for (std::size_t c = 0; c < n; ++c) {
        last += c > 0 && starts_.has(static_cast<std::uint8_t>(c)) ? 1 : 0;
        levels.of_code[c] = static_cast<std::uint8_t>(last);
      }
    } else {
      std::array<std::int16_t, kMaxCodes> number;
      number.fill(-1);
      std::int16_t count = 0;
      for (std::size_t c = 0; c < n; ++c) {
        if (number[of_code_[c]] < 0) number[of_code_[c]] = count++;
        levels.of_code[c] = static_cast<std::uint8_t>(number[of_code_[c]]);
      }
      last = static_cast<std::size_t>(count) - 1;
    }
    for (std::size_t c = n; c < width; ++c) levels.of_code[c] = static_cast<std::uint8_t>(++last);
    levels.count = last + 1;
    return levels;
  }

 private:
  CodeSet starts_;
  std::array<std::uint8_t, kMaxCodes> of_code_{};
};

// The sums of the leaves of one term.
class CellSums {
 public:
  CellSums(const TermGrid& grid, const double* shares) : grid_(grid), sums_(grid.cells(), 0.0) {
    for (std::size_t axis = 0; axis < grid.set.size; ++axis) {
      set_shares(axis, shares + std::size_t{grid.set.features[axis]} * kMaxCodes);
    }
  }

  void add(const LeafBox& box, const Forest& forest, std::size_t node, const Bins& bins) {
    std::array<std::vector<double>, kMostTermFeatures> shares;
    for (std::size_t axis = 0; axis < grid_.set.size; ++axis) {
      shares[axis] = share(axis, box.codes[axis], nullptr, bins);
    }
    add_product(forest.values[node], shares);
    if (forest.lines.empty()) return;
    for (std::size_t t = forest.lines.begin(node); t < forest.lines.end(node); ++t) {
      const auto feature = static_cast<std::uint32_t>(forest.lines.feature[t]);
      const std::size_t axis = grid_.set.axis_of(feature);
      std::array<double, kMaxCodes> line{};
      const double* const positions = bins[feature].positions();
      for (std::size_t c = 0; c < line.size(); ++c) {
        const double z = positions[c];
        line[c] = z == z ? forest.lines.slope[t] * (z - forest.lines.center[t]) : 0.0;
      }
      auto factors = shares;
      factors[axis] = share(axis, box.codes[axis], line.data(), bins);
      add_product(1.0, factors);
    }
  }

  std::vector<double> finish() { return std::move(sums_); }

 private:
  void set_shares(std::size_t axis, const double* weight) {
    const Levels& levels = grid_.levels[axis];
    std::vector<double> total(levels.count, 0.0), codes(levels.count, 0.0);
    for (std::size_t c = 0; c < kMaxCodes; ++c) {
      // Codes beyond the feature's have no weight, and level 0.
      total[levels.of_code[c]] += weight[c];
    }
    for (std::size_t c = 0; c < kMaxCodes; ++c) {
      const double all = total[levels.of_code[c]];
      shares_[axis][c] = all > 0.0 ? weight[c] / all : 0.0;
      if (weight[c] >= 0.0) codes[levels.of_code[c]] += 1.0;
    }
    empty_[axis].assign(levels.count, 0);
    for (std::size_t k = 0; k < levels.count; ++k) empty_[axis][k] = total[k] > 0.0 ? 0 : 1;
  }

  // By level, the share that a box holds of it, or that share's sum of a line's values.
  std::vector<double> share(std::size_t axis, const CodeSet& box, const double* line,
                            const Bins& bins) const {
    const Levels& levels = grid_.levels[axis];
    const std::size_t width = width_of(bins, grid_.set.features[axis]);
    std::vector<double> sums(levels.count, 0.0);
    std::vector<std::uint32_t> inside(levels.count, 0), all(levels.count, 0);
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t level = levels.of_code[c];
      ++all[level];
      if (!box.has(static_cast<std::uint8_t>(c))) continue;
      ++inside[level];
      // A level without weight takes the mean of its codes.
      const double share = empty_[axis][level] != 0 ? 1.0 : shares_[axis][c];
      sums[level] += line == nullptr ? share : share * line[c];
    }
    for (std::size_t k = 0; k < levels.count; ++k) {
      if (line == nullptr && inside[k] == all[k]) {
        sums[k] = 1.0;  // and not nearly so
      } else if (empty_[axis][k] != 0 && all[k] > 0) {
        sums[k] /= all[k];
      }
    }
    return sums;
  }

  void add_product(double value,
                   const std::array<std::vector<double>, kMostTermFeatures>& factors) {
    const std::size_t size = grid_.set.size;
    const std::vector<double>& last = factors[size - 1];
    std::size_t begin = 0;
    const std::size_t rows = sums_.size() / last.size();
    const std::size_t second = size == 3 ? grid_.levels[1].count : 1;
    for (std::size_t r = 0; r < rows; ++r, begin += last.size()) {
      double factor = value;
      if (size == 2) factor *= factors[0][r];
      if (size == 3) factor *= factors[0][r / second] * factors[1][r % second];
      if (factor == 0.0) continue;
      for (std::size_t l = 0; l < last.size(); ++l) sums_[begin + l] += factor * last[l];
    }
  }

  const TermGrid& grid_;
  std::vector<double> sums_;
  std::array<std::array<double, kMaxCodes>, kMostTermFeatures> shares_{};
  std::array<std::vector<std::uint8_t>, kMostTermFeatures> empty_;
};

}  // namespace

std::optional<Terms> find_terms(const std::vector<const Forest*>& forests, const Bins& bins) {
  std::map<FeatureSet, std::vector<std::pair<std::size_t, std::size_t>>> nodes_of_set;
  for (std::size_t m = 0; m < forests.size(); ++m) {
    for (std::size_t t = 0; t + 1 < forests[m]->roots.size(); ++t) {
      const bool has_room =
          visit_boxes(*forests[m], t, bins, [&](std::size_t node, const LeafBox& box) {
            if (box.set.size > 0) nodes_of_set[box.set].emplace_back(m, node);
          });
      if (!has_room) return std::nullopt;
    }
  }
  Terms terms;
  for (const Forest* const forest : forests) {
    terms.term_of_node.emplace_back(forest->nodes.size(), Terms::kNone);
  }
  for (const auto& [set, nodes] : nodes_of_set) {
    for (const auto& [m, node] : nodes) {
      terms.term_of_node[m][node] = static_cast<std::int32_t>(terms.sets.size());
    }
    terms.sets.push_back(set);
  }
  return terms;
}

std::vector<TermLevels> find_levels(const std::vector<const Forest*>& forests, const Bins& bins,
                                    const Terms& terms) {
  std::vector<std::array<LevelFinder, kMostTermFeatures>> finders(terms.sets.size());
  for (std::size_t m = 0; m < forests.size(); ++m) {
    const Forest& forest = *forests[m];
    for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
      visit_boxes(forest, t, bins, [&](std::size_t node, const LeafBox& box) {
        if (box.set.size == 0) return;
        auto& finder = finders[static_cast<std::size_t>(terms.term_of_node[m][node])];
        for (std::size_t axis = 0; axis < box.set.size; ++axis) {
          const FeatureBins& feature = bins[box.set.features[axis]];
          finder[axis].refine(box.codes[axis], feature.ordered(),
                              static_cast<std::size_t>(feature.width()));
        }
        if (forest.lines.empty()) return;
        for (std::size_t k = forest.lines.begin(node); k < forest.lines.end(node); ++k) {
          finder[box.set.axis_of(static_cast<std::uint32_t>(forest.lines.feature[k]))]
              .refine_wholly();
        }
      });
    }
  }
  std::vector<TermLevels> levels(terms.sets.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    for (std::size_t axis = 0; axis < terms.sets[k].size; ++axis) {
      levels[k][axis] = finders[k][axis].finish(bins[terms.sets[k].features[axis]]);
    }
  }
  return levels;
}

void find_cells(const TermGrid& grid, const std::uint8_t* codes, std::size_t n, std::int32_t* cells,
                Team& team) {
  const CellFinder finder(grid, codes, n);
  const std::size_t tasks = (n + kRows - 1) / kRows;
  team.for_each(tasks, 2.0 * static_cast<double>(n), [&](std::size_t task) {
    const std::size_t begin = task * kRows, end = std::min(n, begin + kRows);
    finder.visit(begin, end, [&](std::size_t i, std::int32_t cell) { cells[i] = cell; });
  });
}

void count_cells(const std::vector<TermGrid>& grids, const std::uint8_t* codes, std::size_t n,
                 const std::vector<double*>& counts, Team& team) {
  const double nanoseconds = 2.0 * static_cast<double>(n) * static_cast<double>(grids.size());
  team.for_each(grids.size(), nanoseconds, [&](std::size_t k) {
    std::vector<std::int64_t> of_cell(grids[k].cells(), 0);
    CellFinder(grids[k], codes, n)
        .visit(0, n, [to = of_cell.data()](std::size_t, std::int32_t cell) { ++to[cell]; });
    std::copy(of_cell.begin(), of_cell.end(), counts[k]);
  });
}

std::vector<std::vector<double>> add_up_cells(const Forest& forest, const Bins& bins,
                                              const std::vector<std::int32_t>& term_of_node,
                                              const std::vector<TermGrid>& grids,
                                              const double* shares, const std::uint8_t* used,
                                              Team& team) {
  struct Leaf {
    std::size_t node;
    LeafBox box;
  };
  std::vector<std::vector<Leaf>> leaves(grids.size());
  for (std::size_t t = 0; t + 1 < forest.roots.size(); ++t) {
    if (used != nullptr && used[t] == 0) continue;
    visit_boxes(forest, t, bins, [&](std::size_t node, const LeafBox& box) {
      if (box.set.size == 0) return;
      leaves[static_cast<std::size_t>(term_of_node[node])].push_back({node, box});
    });
  }
  std::vector<std::vector<double>> sums(grids.size());
  double work = 0.0;
  for (std::size_t k = 0; k < grids.size(); ++k) {
    work += static_cast<double>(leaves[k].size() * grids[k].cells());
  }
  team.for_each(grids.size(), work, [&](std::size_t k) {
    CellSums cells(grids[k], shares);
    for (const Leaf& leaf : leaves[k]) cells.add(leaf.box, forest, leaf.node, bins);
    sums[k] = cells.finish();
  });
  return sums;
}

void add_up_rows(const Forest& forest, const Bins& bins,
                 const std::vector<std::int32_t>& term_of_node, std::size_t terms,
                 const std::uint8_t* codes, std::size_t n, const std::uint8_t* used, double* out,
                 Team& team) {
  std::fill(out, out + terms * n, 0.0);
  const std::size_t trees = forest.roots.size() - 1;
  const std::size_t tasks = (n + kRows - 1) / kRows;
  team.for_each(tasks, 20.0 * static_cast<double>(n * trees), [&](std::size_t task) {
    const std::size_t begin = task * kRows, end = std::min(n, begin + kRows);
    for (std::size_t t = 0; t < trees; ++t) {
      if (used != nullptr && used[t] == 0) continue;
      const std::size_t root = forest.roots[t];
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t node =
            forest.nodes.find_node([&](std::size_t f) { return codes[f * n + i]; }, root);
        const std::int32_t term = term_of_node[node];
        if (term < 0) continue;
        double value = forest.values[node];
        if (!forest.lines.empty()) {
          for (std::size_t k = forest.lines.begin(node); k < forest.lines.end(node); ++k) {
            const auto f = static_cast<std::size_t>(forest.lines.feature[k]);
            const double z = bins[f].positions()[codes[f * n + i]];
            if (z == z) value += forest.lines.slope[k] * (z - forest.lines.center[k]);
          }
        }
        out[static_cast<std::size_t>(term) * n + i] += value;
      }
    }
  });
}

}  // namespace properboost
