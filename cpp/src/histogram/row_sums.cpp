#include "properboost/histogram/row_sums.hpp"

#include "properboost/core/peers.hpp"

namespace properboost {

void TermUnits::share(Share& share, Lost& lost) const {
  for (std::size_t lane = 0; lane < lost.size(); ++lane) lost[lane] = has_lost(lane) ? 1.0 : 0.0;
  for (double& flag : lost) share.most(flag);
}

}  // namespace properboost
