// Weak learners: what a round may add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/cells.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/tree.hpp"

namespace properboost {

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
};

// What weak learners are made of; each takes what it needs.
struct LearnerOptions {
  double smoothing = 0.0;
  TreeLimits limits = {};
  double subsample = 1.0;
  std::uint64_t seed = 0;
};

// A look-up table over one feature.
class FeatureLearner : public WeakLearner {
 public:
  // The least cost this learner reaches on a feature, and the cells that reach it.
  virtual double cost(const FeatureCells& feature, const Response& response,
                      const Regularizers& r) const = 0;
  virtual Partition partition(const FeatureCells& feature, const Response& response,
                              const Regularizers& r) const = 0;
};

}  // namespace properboost
