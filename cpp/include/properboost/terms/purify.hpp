// Purification: taking out of a table what fewer features explain.
//
// The table of a term of d features is approximated by a sum of d parts, each over all features but
// one, by weighted least squares.  What is left has a mean of 0 in every slice: it is an
// interaction of all d features and nothing else (Lengerich, Tan, Chang, Hooker and Caruana 2020).
//
// Sweeps over the slices would take thousands of turns where features are correlated, so the normal
// equations are solved by conjugate gradients, whose residuals are the slices' sums.  They begin at
// 0 and are scaled by the slices' weights; so where parts are not unique, as with two equal
// columns, they have the least weighted sum of squares: either column gets an equal share.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace properboost {

// The shape of a table of two or three features.  With two the first extent is 1, and no axis.
struct TableShape {
  std::array<std::size_t, 3> extents{1, 1, 1};
  bool is_pair = false;
};

// Subtracts from `values` the parts, in place, and returns them: parts[k] is over all axes but k,
// in order.  A pair has no parts[0].  Slices without weight have parts of 0.  `exponent` is that of
// the largest value of all tables, compared with which the slices' means are 0 in the end.
std::array<std::vector<double>, 3> purify(const TableShape& shape, const double* weights,
                                          int exponent, double* values);

// The binary exponent of the largest size among values with weight; kNoExponent if all are 0.
constexpr int kNoExponent = -100000;
int find_exponent(const double* values, const double* weights, std::size_t cells);

}  // namespace properboost
