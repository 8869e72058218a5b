#include "properboost/core/gauss_legendre.hpp"

namespace properboost {
namespace {

// A Legendre polynomial's value, and that of the one before it.
struct Legendre {
  double value, before;
};

Legendre legendre(std::size_t n, double x) {
  Legendre p{1.0, 0.0};
  for (std::size_t k = 1; k <= n; ++k) {
    const auto degree = static_cast<double>(k);
    p = {((2.0 * degree - 1.0) * x * p.value - (degree - 1.0) * p.before) / degree, p.value};
  }
  return p;
}

// The root between two points, at which the polynomial has different signs.
double find_root(std::size_t n, double low, double high) {
  const bool is_rising = legendre(n, high).value > 0.0;
  while (true) {
    const double middle = 0.5 * (low + high);
    if (!(low < middle && middle < high)) return middle;
    ((legendre(n, middle).value > 0.0) == is_rising ? high : low) = middle;
  }
}

}  // namespace

// The roots of a polynomial lie between those of the polynomial before it.
Quadrature gauss_legendre(std::size_t n) {
  std::vector<double> roots;
  for (std::size_t degree = 1; degree <= n; ++degree) {
    std::vector<double> bounds{-1.0};
    bounds.insert(bounds.end(), roots.begin(), roots.end());
    bounds.push_back(1.0);
    roots.clear();
    for (std::size_t k = 0; k < degree; ++k) {
      // The point in the middle is 0, which no halving of other bounds might reach.
      const bool is_middle = 2 * k + 1 == degree;
      roots.push_back(is_middle ? 0.0 : find_root(degree, bounds[k], bounds[k + 1]));
    }
  }
  Quadrature quadrature;
  for (const double x : roots) {
    const Legendre p = legendre(n, x);
    const double size = (1.0 - x) * (1.0 + x);
    const double slope = static_cast<double>(n) * (p.before - x * p.value) / size;
    quadrature.points.push_back(0.5 * (1.0 + x));
    quadrature.weights.push_back(1.0 / (size * slope * slope));
  }
  return quadrature;
}

}  // namespace properboost
