// The units that the cells of a batch are summed in.
#pragma once

#include <array>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/fixed_point.hpp"

namespace properboost {

// Those of each lane.
using LaneUnits = std::array<CellUnits, kMostLanes>;

}  // namespace properboost
