// The terms of trees: one for each set of features that is asked on the way to a leaf.
//
// A leaf adds its value to the rows in a box of codes, a set of codes for each feature of its path.
// The boxes over the same features add up to a function of these features, a term.  So an ensemble
// whose paths have few features is a sum of functions of few features.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/ensemble/forest.hpp"
#include "properboost/terms/leaf_boxes.hpp"

namespace properboost {

class Team;

struct Terms {
  static constexpr std::int32_t kNone = -1;

  std::vector<FeatureSet> sets;  // in order, without the empty one
  // By forest and node: the term of the rows that end there; kNone if it has no features, or no
  // row ends there.
  std::vector<std::vector<std::int32_t>> term_of_node;
};

// Returns the terms, or nothing if a path has more than kMostTermFeatures features.
std::optional<Terms> find_terms(const std::vector<const Forest*>& forests, const Bins& bins);

// The levels of a feature's codes: codes share one if no leaf of a term separates them.
struct Levels {
  std::array<std::uint8_t, kMaxCodes> of_code{};
  std::size_t count = 0;
};

// The levels of each feature of a term, by axis.
using TermLevels = std::array<Levels, kMostTermFeatures>;

// Neighbouring bins of numbers share a level unless a box or a line separates them, and categories
// if they are in the same boxes.  Missing and unseen values have levels of their own.
std::vector<TermLevels> find_levels(const std::vector<const Forest*>& forests, const Bins& bins,
                                    const Terms& terms);

// A term's table: its cells, [level of the first feature][of the second][of the third].
struct TermGrid {
  FeatureSet set;
  TermLevels levels;

  std::size_t cells() const noexcept {
    std::size_t cells = 1;
    for (std::size_t axis = 0; axis < set.size; ++axis) cells *= levels[axis].count;
    return cells;
  }
};

// cells[i] = the cell of row i, from codes[f * n + i].
void find_cells(const TermGrid& grid, const std::uint8_t* codes, std::size_t n, std::int32_t* cells,
                Team& team);
// counts[k][c] = the rows in cell c of grid k.
void count_cells(const std::vector<TermGrid>& grids, const std::uint8_t* codes, std::size_t n,
                 const std::vector<double*>& counts, Team& team);

// The sums of a forest's leaves by term and cell.  `grids` has that of every term.  Where a level
// has codes of which a box has a part, the cell gets a mean: shares[f * kMaxCodes + c] is the
// weight of code c.  Trees for which `used` is 0 are left out; null takes all.
std::vector<std::vector<double>> add_up_cells(const Forest& forest, const Bins& bins,
                                              const std::vector<std::int32_t>& term_of_node,
                                              const std::vector<TermGrid>& grids,
                                              const double* shares, const std::uint8_t* used,
                                              Team& team);

// out[t * n + i] = the sum of the leaves of term t for row i, from codes[f * n + i].
void add_up_rows(const Forest& forest, const Bins& bins,
                 const std::vector<std::int32_t>& term_of_node, std::size_t terms,
                 const std::uint8_t* codes, std::size_t n, const std::uint8_t* used, double* out,
                 Team& team);

}  // namespace properboost
