#include "properboost/trees/best_cut.hpp"

#include <array>

#include "properboost/core/math_double.hpp"
#include "properboost/data/binning.hpp"

namespace properboost {
namespace {

double compute_freedom_of_best_cut(std::size_t cells, bool ordered) {
  if (cells < 2) return 0.0;
  const auto cuts = static_cast<double>(cells - 1);
  // The largest of the squared, standardised values of a Brownian bridge at its cuts, by simulation
  // of cells of equal size; of sets, which are cut in the order of their shares, half-normal theory
  // has 2 / pi a cell.
  if (!ordered) return 1.0 + 0.6366 * (cuts - 1.0);
  const double log_cuts = math::log(cuts);
  return 1.0 + log_cuts * (0.9 - 0.027 * log_cuts);
}

// The same for every number of a feature's codes.
class FreedomsOfBestCut {
 public:
  FreedomsOfBestCut() {
    for (std::size_t cells = 0; cells <= kMaxCodes; ++cells) {
      ordered_[cells] = compute_freedom_of_best_cut(cells, true);
      unordered_[cells] = compute_freedom_of_best_cut(cells, false);
    }
  }
  double find(std::size_t cells, bool ordered) const {
    if (cells > kMaxCodes) return compute_freedom_of_best_cut(cells, ordered);
    return ordered ? ordered_[cells] : unordered_[cells];
  }

 private:
  std::array<double, kMaxCodes + 1> ordered_, unordered_;
};

}  // namespace

// The mean, by chance, of the statistic of the best cut of `cells` cells.  Each of a round's cuts
// needs it, so logarithms are taken once.
double freedom_of_best_cut(std::size_t cells, bool ordered) {
  static const FreedomsOfBestCut freedoms;
  return freedoms.find(cells, ordered);
}

// The same of the best `most` cells, each made by the best cut so far, by simulation: each further
// cut of ordered cells saves the same share of the rest.
double freedom_of_best_cells(std::size_t cells, bool ordered, std::size_t most) {
  const double one = freedom_of_best_cut(cells, ordered);
  if (most == 2 || cells < 3) return one;
  const auto all = static_cast<double>(cells - 1);
  const auto cuts = static_cast<double>(most - 1);
  const double times = ordered ? cuts : math::exp(0.6 * math::log(cuts));
  return all * (1.0 - math::exp(times * math::log(1.0 - one / all)));
}

// The same of cells that must be in order and would have `all` degrees of freedom without; by
// simulation, too.  Half the cuts of two cells are in the wrong order.
double freedom_of_best_cells_in_order(std::size_t cells, double all, std::size_t most) {
  if (cells < 2) return 0.0;
  const double one = 0.5 + 0.54 * math::log(static_cast<double>(cells - 1));
  if (one >= all) return all;
  const auto cuts = static_cast<double>(most - 1);
  return all * (1.0 - math::exp(cuts * math::log(1.0 - one / all)));
}

// The same where one cut's statistic has `of_one_cut` degrees of freedom, in units of them, and is
// the sum over `nodes` nodes that are cut alike.
double freedom_of_best_cut(std::size_t cells, bool ordered, double of_one_cut, double nodes) {
  if (cells < 2) return 0.0;
  const double beyond_one = freedom_of_best_cut(cells, ordered) - 1.0;
  if (of_one_cut == 1.0 && nodes == 1.0) return 1.0 + beyond_one;
  // By simulation: the excess over one shrinks by powers from -1/2 (few cells) to -.66 (many
  // ordered ones) and -.9 (many categories).
  const double shrunk = math::exp(math::log(of_one_cut) * (-2.0 / 3.0));
  // Categories have one order for all nodes: there powers are from -.75 (few) to -1 (many), and of
  // ordered cells from -.45 to -.57.
  const double by_nodes = math::exp(math::log(nodes) * (ordered ? -0.55 : -0.9));
  return 1.0 + beyond_one * shrunk * by_nodes;
}

}  // namespace properboost
