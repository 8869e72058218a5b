// The decision stump: the best two cells of one feature.
#pragma once

#include <array>

#include "properboost/learners/learner.hpp"
#include "properboost/trees/class_cuts.hpp"

namespace properboost::learners {

class Stump final : public FeatureLearner {
 public:
  static constexpr const char* name = "stump";
  explicit Stump(const LearnerOptions& options) : FeatureLearner(options) {}
  bool cuts_in_two() const noexcept override { return true; }

  double cost(const FeatureCells& feature, const Criterion& criterion,
              const Regularizers& r) const override {
    return find_split(feature, criterion, r).cost;
  }

  Contrast contrast(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
                    const EffectiveRows& rows) const override {
    const CellOfCode branch = find_split(feature, criterion, r).branch;
    std::array<Cell, 3> cells{};
    for (std::size_t b = 0; b < feature.width(); ++b) cells[branch[b]] += feature.cells[b];
    return {chi_square(cells.data(), cells.size(), rows),
            freedom_of_best_cut(feature.occupied_codes(), feature.bins->ordered())};
  }

  Partition partition(const FeatureCells& feature, const Criterion& criterion,
                      const Regularizers& r) const override {
    Partition p;
    p.cells.resize(3);
    p.occupied.assign(3, 0);
    p.cell_of = find_split(feature, criterion, r).branch;
    for (std::size_t b = 0; b < feature.width(); ++b) {
      p.cells[p.cell_of[b]] += feature.cells[b];
      p.occupied[p.cell_of[b]] |= feature.occupied[b];
    }
    p.shares = {{1.0, p.cell_of}};
    return p;
  }

 private:
  static Split find_split(const FeatureCells& feature, const Criterion& criterion,
                          const Regularizers& r) {
    return properboost::find_split(*feature.bins, ClassCuts(feature, criterion, r));
  }
};

}  // namespace properboost::learners
