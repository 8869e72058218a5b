#include "properboost/histogram/row_sums.hpp"

#include "properboost/core/peers.hpp"

namespace properboost {

void TermUnits::add_to(AllReduce& all_reduce, Lost& lost) const {
  for (std::size_t lane = 0; lane < lost.size(); ++lane) lost[lane] = has_lost(lane) ? 1.0 : 0.0;
  for (double& flag : lost) all_reduce.most(flag);
}

}  // namespace properboost
