// What the best cut of a feature that says nothing is worth by chance.
//
// In units of what any one cut is worth, whose statistic is a chi-square of one degree of freedom.
#pragma once

#include <cstddef>

namespace properboost {

// The mean, by chance, of the statistic of the best cut of so many cells.
double freedom_of_best_cut(std::size_t cells, bool ordered);

// The same of the best so many cells, each made by the best cut so far.
double freedom_of_best_cells(std::size_t cells, bool ordered, std::size_t most);

// The same of cells that must be in order and would have so many degrees of freedom in `all`.
double freedom_of_best_cells_in_order(std::size_t cells, double all, std::size_t most);

// The same where one cut's statistic has so many degrees of freedom, in units of them, and is the
// sum over so many nodes that are cut alike.
double freedom_of_best_cut(std::size_t cells, bool ordered, double of_one_cut, double nodes);

}  // namespace properboost
