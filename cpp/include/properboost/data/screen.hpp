// Screens: some rows of each class, by which choices are made.
#pragma once

#include <cstddef>
#include <vector>

namespace properboost {

// Neighbouring rows of a segment.
struct SegmentRange {
  std::size_t segment, begin, end;
};

// The rows of one screen, in their order.
struct Screen {
  std::vector<SegmentRange> ranges;
  std::vector<double> stands_for;  // by slot: how many of all rows one of its rows stands for
};

}  // namespace properboost
