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

#include "properboost/data/screen.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

class Team;

// Sorts the numbers of the rows of each segment into the order that screens are windows of.
void sort_for_screens(std::vector<std::int64_t>& numbers, const std::vector<std::size_t>& segments);

class RowScreen {
 public:
  // The classes are slots, and a screen has `least` rows or more.  The rows must outlive it.
  RowScreen(const TrainingRows& rows, Slots slots, std::size_t least);

  // The screen of a round, `times` times as large as the least: of each class as many rows, or all
  // of one that has fewer.  None if it would not leave out most rows, nor where there are at most
  // twice the least: these need not lie in the order of random bits.
  std::optional<Screen> screen(std::size_t round, std::size_t times, Team& team);

 private:
  // The rows of each class, of all processes.
  std::vector<std::int64_t> count(Team& team) const;

  const TrainingRows& rows_;
  const Slots slots_;
  const std::size_t least_;
  std::vector<std::int64_t> rows_of_class_;  // not counted at first
};

}  // namespace properboost
