// Screens: some rows of each class, by which a round's feature is chosen before its look-up table
// is made of all rows.
//
// In each segment rows lie in the order of random bits of their numbers, so that those whose bits
// are in a window are neighbours, and a random sample.  The window of the next round lies behind
// it: all rows have their turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "properboost/boosting/model_batch.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"

namespace properboost {

// Sorts the numbers of the rows of each segment into the order that screens are windows of.
void sort_for_screens(std::vector<std::int64_t>& numbers, const std::vector<std::size_t>& segments);

// The rows of one screen; one of a class stands for so many.
struct Screen {
  std::vector<AccumulationBlock> blocks;
  double positive = 1.0, negative = 1.0;
};

class RowScreen {
 public:
  // The batch has one lane; everything must outlive it.
  RowScreen(const TrainingRows& rows, const ModelBatch& batch);

  // The screen of a round: so many rows, half of either class, or all of a class that has fewer.
  // None if it would not leave out most rows.
  std::optional<Screen> screen(std::size_t round, std::size_t size, Team& team);

 private:
  // The rows of each class, of all processes.
  std::array<std::int64_t, 2> count(Team& team) const;

  const TrainingRows& rows_;
  const ModelBatch& batch_;
  // The negative ones, then the positive; not counted at first.
  std::optional<std::array<std::int64_t, 2>> rows_of_class_;
};

}  // namespace properboost
