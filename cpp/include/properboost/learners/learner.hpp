// Weak learners: which cells one feature may have.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "properboost/cells.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

// Costs this close, relatively, are equal: the earlier choice wins, so that the order of additions
// (threads, lanes, bundles) cannot decide a model.
constexpr double kTie = 1e-7;

// The first of the least costs; 0 if none is a number, for the caller to find out.
inline std::size_t first_best(const double* costs, std::size_t n) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) best = costs[i] < best ? costs[i] : best;
  for (std::size_t i = 0; i < n; ++i) {
    if (costs[i] <= best + kTie * std::abs(best)) return i;
  }
  return 0;
}

// A feature's codes dealt into cells: the table has cell cell_of[code]'s value at each code.
struct Partition {
  std::vector<Cell> cells;
  std::vector<std::uint8_t> occupied;  // whether a cell has training rows
  CellOfCode cell_of{};
  std::vector<RowShare> shares;  // where a row of each code counts

  std::size_t occupied_cells() const {
    std::size_t n = 0;
    for (const std::uint8_t o : occupied) n += o;
    return n;
  }
};

class WeakLearner {
 public:
  virtual ~WeakLearner() = default;
  // The least cost this learner reaches on a feature, and the cells that reach it.
  virtual double cost(const FeatureCells& feature, const Response& response,
                      const Regularizers& r) const = 0;
  virtual Partition partition(const FeatureCells& feature, const Response& response,
                              const Regularizers& r) const = 0;
};

}  // namespace properboost
