// Gauss-Legendre quadrature.
#pragma once

#include <cstddef>
#include <vector>

namespace properboost {

// The integral from 0 to 1 of a polynomial is the sum of its values at these points times their
// weights, if its degree is less than twice the number of points.
struct Quadrature {
  std::vector<double> points, weights;
};

Quadrature gauss_legendre(std::size_t n);

}  // namespace properboost
