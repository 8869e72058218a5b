// Weak learners: which cells one feature may have.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/cells.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

// Costs this close, relatively, are equal: the earlier choice wins, so that the order of additions
// (threads, lanes, bundles) cannot decide a model.
constexpr double kTie = 1e-7;

// The first of the least costs.
inline std::size_t first_best(const double* costs, std::size_t n) {
  const double best = *std::min_element(costs, costs + n);
  return static_cast<std::size_t>(
      std::find_if(costs, costs + n, [&](double c) { return c <= best + kTie * std::abs(best); }) -
      costs);
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
