// Finds the screens of rounds: by them a feature is chosen, or a tree is grown, before its values
// are made of all rows.
//
// In each segment rows lie in the order of random bits of their numbers, so that those whose bits
// are in a window are neighbours, and a random sample.  The window of the next round lies behind
// it: all rows have their turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/screen.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

// Sorts the numbers of the rows of each segment into the order that screens are windows of.
void sort_for_screens(std::vector<std::int64_t>& numbers, const std::vector<std::size_t>& segments);

class RowScreen {
 public:
  // The classes are slots.  The rows must outlive it.
  RowScreen(const TrainingRows& rows, Slots slots);

  // The screen of a round: so many rows, of each class as many, or all of one that has fewer.  None
  // if it would not leave out most rows.
  std::optional<Screen> screen(std::size_t round, std::size_t size, Team& team);

 private:
  // The rows of each class, of all processes.
  std::vector<std::int64_t> count(Team& team) const;

  const TrainingRows& rows_;
  const Slots slots_;
  std::vector<std::int64_t> rows_of_class_;  // not counted at first
};

}  // namespace properboost
