// The saving by chance of the best cut of an uninformative feature.
//
// In units of any one cut's saving, whose statistic is a chi-square of one degree of freedom.
#pragma once

#include <cstddef>

namespace properboost {

// The mean, by chance, of the statistic of the best cut of `cells` cells.
double freedom_of_best_cut(std::size_t cells, bool ordered);

// The same of the best `most` cells, each made by the best cut so far.
double freedom_of_best_cells(std::size_t cells, bool ordered, std::size_t most);

// The same of cells that must be in order and would have `all` degrees of freedom without.
double freedom_of_best_cells_in_order(std::size_t cells, double all, std::size_t most);

// The same where one cut's statistic has `of_one_cut` degrees of freedom, in units of them, and is
// the sum over `nodes` nodes that are cut alike.
double freedom_of_best_cut(std::size_t cells, bool ordered, double of_one_cut, double nodes);

}  // namespace properboost
