// The best few cells of one feature: its codes are cut in two, then the part whose cut saves most,
// and so on.
//
// Each cut is a split as a tree's is: ordered bins between neighbours, with missing values on the
// better side, and categories in the order of their share of a class.  It may have to save as much
// as the best cut would by chance, or a part of that: an uninformative feature is then not cut at
// all.  Where the classes' weights differ by much less than by chance, it does not get a constant
// either.
//
// A pair's grid has four cells at most, see crossed_cuts.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/learners/crossed_cuts.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/trees/best_cut.hpp"
#include "properboost/trees/cells/class_cuts.hpp"
#include "properboost/trees/split.hpp"

namespace properboost::learners {

// The mean, by chance, of the statistic of the best partition into `most` cells.
inline double freedom_of_few_cells(const FeatureCells& feature, std::size_t most) {
  if (!crosses(feature, most)) return freedom_of_best_cells(feature, most);
  const double all = freedom_of_crossed_cuts(feature.bins->grid(), feature.occupied_codes());
  return feature.are_in_order() ? std::min(all, freedom_in_order(feature)) : all;
}

struct FewCells {
  double cost;
  CellOfCode cell_of;  // `most` where a code is in none: where training had no rows to place it
  std::size_t most;
  bool within_chance = false;  // see Partition

  // How the classes differ in these cells.
  double statistic(const FeatureCells& feature, const EffectiveRows& rows) const {
    const std::vector<Cell> cells = gather(feature);
    return chi_square(cells.data(), cells.size(), rows);
  }

  // The cost of these cells, added up from the sums of a feature.
  double cost_of(const FeatureCells& feature, const Criterion& criterion,
                 const Regularizers& r) const {
    return criterion.cost(gather(feature).data(), most, r);
  }

  // The partition into these cells of the sums of a feature, smoothed or not.
  Partition partition(const FeatureCells& feature) const {
    Partition p;
    p.cells = gather(feature);
    p.occupied.assign(most + 1, 0);
    for (std::size_t b = 0; b < feature.width(); ++b) {
      p.occupied[cell_of[b]] |= feature.occupied[b];
    }
    p.cell_of = cell_of;
    p.shares = {{1.0, p.cell_of}};
    p.within_chance = within_chance;
    return p;
  }

 private:
  // The sums of the cells, and of the codes that are in none.  A cell that follows itself need not
  // wait for its sums to be stored.
  std::vector<Cell> gather(const FeatureCells& feature) const {
    std::vector<Cell> cells(most + 1);
    std::size_t cell = cell_of[0];
    Cell sum{};
    for (std::size_t b = 0; b < feature.width(); ++b) {
      if (cell_of[b] != cell) {
        cells[cell] = sum;
        cell = cell_of[b];
        sum = cells[cell];
      }
      sum += feature.cells[b];
    }
    cells[cell] = sum;
    return cells;
  }
};

// The least that a cut must save: a multiple of the mean saving, by chance, of the best cut of as
// many codes.  Nothing where the number of effective rows is unknown.
struct LeastSaving {
  double times = 0.0;
  EffectiveRows rows = {};

  bool applies() const noexcept { return times > 0.0 && rows.known(); }
};

// Cuts a feature's codes into at most `most` cells, two or more; fewer if no cut saves any more.
class CellCutter {
 public:
  CellCutter(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
             std::size_t most, const LeastSaving& least = {})
      : feature_(feature), criterion_(criterion), regularizers_(r), most_(most), least_(least) {
    if (!least_.applies()) return;
    for (std::size_t b = 0; b < feature.width(); ++b) total_ += feature.cells[b];
  }

  FewCells cut() const {
    if (crosses(feature_, most_)) return cut_crosswise();
    const std::optional<Split> first = find_first_cut();
    return first ? cut_on(*first) : leave_whole();
  }

  // The first cut, if it saves enough; for a grid only cut() determines it.
  std::optional<Split> find_first_cut() const {
    const Split first = best_cut(feature_);
    if (least_.applies() && !saves_enough(first.cost)) return std::nullopt;
    return first;
  }

  // The cells that begin with this cut, of a feature that is no grid.
  FewCells cut_on(const Split& first) const {
    FewCells cells{first.cost, first.branch, most_};
    if (most_ == 2) return cells;
    // Loops over codes have no branches and no memory that might overlap, so that they are vectors.
    const auto none = static_cast<std::uint8_t>(most_);
    for (std::uint8_t& cell : cells.cell_of) cell = cell == Split::kNeither ? none : cell;
    const std::size_t width = feature_.width();
    std::vector<Part> parts;
    parts.reserve(most_);
    parts.push_back(cut_part(cells.cell_of, 0));
    parts.push_back(cut_part(cells.cell_of, 1));
    std::vector<double> costs;
    costs.reserve(most_);
    while (true) {
      // The cost of no cut, and of each part's: of equal ones the first is taken.
      costs.assign(1, cells.cost);
      for (const Part& part : parts) costs.push_back(cells.cost - part.beyond);
      const std::size_t best = first_best(costs.data(), costs.size());
      if (best == 0) return cells;
      const auto divided = static_cast<std::uint8_t>(best - 1);
      const auto added = static_cast<std::uint8_t>(parts.size());
      const CellOfCode branch = parts[divided].branch;
      for (std::size_t b = 0; b < width; ++b) {
        const bool goes = (cells.cell_of[b] == divided) & (branch[b] == Split::kRight);
        cells.cell_of[b] = goes ? added : cells.cell_of[b];
      }
      cells.cost -= parts[divided].saving;
      if (rounding_decides(cells.cost, first.cost)) {
        cells.cost = cells.cost_of(feature_, criterion_, regularizers_);
      }
      if (parts.size() + 1 == most_) return cells;
      parts[divided] = cut_part(cells.cell_of, divided);
      parts.push_back(cut_part(cells.cell_of, added));
    }
  }

 private:
  struct Part {
    CellOfCode branch;
    double saving, beyond;
  };

  // Whether rounding may hide that a cost is a tie with another, if it is what savings leave of the
  // first cost.  Each cut rounds three differences of costs, none of them larger than the first.
  bool rounding_decides(double cost, double first) const {
    constexpr double kRoundings = 3.0 * std::numeric_limits<double>::epsilon();
    return static_cast<double>(most_) * kRoundings * std::abs(first) > kTie * std::abs(cost);
  }

  FewCells cut_crosswise() const {
    const CrossedCuts cuts(feature_, criterion_, regularizers_);
    CrossedCuts::Cells cells = cuts.find();
    if (least_.applies() && !saves_enough(cells.cost)) {
      cells = cuts.leave_whole(criterion_.cost(&total_, 1, regularizers_));
      return {cells.cost, cells.cell_of, kCrossedCells, is_within_chance()};
    }
    return {cells.cost, cells.cell_of, kCrossedCells};
  }

  FewCells leave_whole() const {
    FewCells whole{criterion_.cost(&total_, 1, regularizers_), {}, most_, is_within_chance()};
    whole.cell_of.fill(0);
    return whole;
  }

  // Whether the classes' weights differ by a hundredth of them at most, and the square of that is a
  // small part of its mean by chance: a model keeps the small evidence that a constant would
  // remove.
  bool is_within_chance() const {
    constexpr double kPart = 0.1, kShare = 0.01;
    const double by_chance = total_.positive * (total_.positive / least_.rows.positive) +
                             total_.negative * (total_.negative / least_.rows.negative);
    const double difference = total_.positive - total_.negative;
    return difference * difference < kPart * by_chance &&
           std::abs(difference) < kShare * total_.weight();
  }

  ClassCuts<FeatureCells> cuts_of(const FeatureCells& codes) const {
    const int direction = feature_.bins->ordered() ? feature_.directions[0] : 0;
    return {codes, criterion_, regularizers_, 0.0, direction};
  }
  Split best_cut(const FeatureCells& codes) const {
    return find_split(*feature_.bins, cuts_of(codes));
  }

  // The best cut of one cell's codes.
  Part cut_part(const CellOfCode& cell_of, std::uint8_t cell) const {
    if (feature_.bins->ordered()) return cut_range(cell_of, cell);
    std::array<Cell, kMaxCodes> cells{};
    std::array<std::uint8_t, kMaxCodes> occupied{};
    Cell whole{};
    std::size_t codes = 0;
    for (std::size_t b = 0; b < feature_.width(); ++b) {
      if (cell_of[b] != cell) continue;
      cells[b] = feature_.cells[b];
      occupied[b] = feature_.occupied[b];
      whole += cells[b];
      codes += occupied[b];
    }
    return make_part(best_cut({cells.data(), occupied.data(), feature_.bins}), whole, codes);
  }

  // The same where they are neighbours, perhaps with missing values: few of all, which take the
  // time of few.
  Part cut_range(const CellOfCode& cell_of, std::uint8_t cell) const {
    const FeatureBins& bins = *feature_.bins;
    const auto end_of_bins = cell_of.begin() + bins.bins();
    const auto first = std::find(cell_of.begin(), end_of_bins, cell);
    const auto end = std::find_if(first, end_of_bins, [&](std::uint8_t c) { return c != cell; });
    const auto missing = static_cast<std::size_t>(bins.missing());
    const bool has_missing = cell_of[missing] == cell;
    const CutOrder order(bins, static_cast<std::size_t>(first - cell_of.begin()),
                         static_cast<std::size_t>(end - cell_of.begin()), has_missing);
    Cell whole{};
    std::size_t codes = 0;
    const auto add = [&](std::size_t code) {
      whole += feature_.cells[code];
      codes += feature_.occupied[code];
    };
    for (std::size_t i = 0; i < order.size; ++i) add(order.codes[i]);
    if (has_missing) add(missing);
    return make_part(find_split(bins, order, cuts_of(feature_)), whole, codes);
  }

  Part make_part(const Split& split, const Cell& whole, std::size_t codes) const {
    const double saving = criterion_.cost(&whole, 1, regularizers_) - split.cost;
    // The saving beyond the least orders the parts.
    return {split.branch, saving, saving - least_saving(whole, codes)};
  }

  // Whether cells of this cost save enough, compared with no cut of the whole feature.
  bool saves_enough(double cost) const {
    const double saving = criterion_.cost(&total_, 1, regularizers_) - cost;
    if (!crosses(feature_, most_)) {
      return saving > least_saving(total_, feature_.occupied_codes());
    }
    return saving > least_saving(total_, freedom_of_few_cells(feature_, most_));
  }

  double least_saving(const Cell& cell, std::size_t codes) const {
    if (!least_.applies()) return 0.0;
    return least_saving(cell, freedom_of_best_cut(codes, feature_.bins->ordered()));
  }

  // The squares of the rows' weights add up in proportion to the weights.
  double least_saving(const Cell& cell, double freedom) const {
    const double of_one_cut = saving_by_chance(
        criterion_, cell, cell.positive * (total_.positive / least_.rows.positive),
        cell.negative * (total_.negative / least_.rows.negative), regularizers_, 0.0);
    return least_.times * std::max(0.0, of_one_cut) * freedom;
  }

  const FeatureCells& feature_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const std::size_t most_;
  const LeastSaving least_;
  Cell total_{};
};

}  // namespace properboost::learners
