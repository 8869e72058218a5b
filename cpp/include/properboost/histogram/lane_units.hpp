// The units that the cells of a batch are summed in.
#pragma once

#include <array>

#include "properboost/core/fixed_point.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

// Those of each lane.
using LaneUnits = std::array<CellUnits, kMostLanes>;

}  // namespace properboost
