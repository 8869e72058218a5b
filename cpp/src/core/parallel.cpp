#include "properboost/core/parallel.hpp"

#include "properboost/core/peers.hpp"
#include "properboost/core/watch.hpp"

namespace properboost {

Share Team::share() const { return Share(peers_); }

void Team::look(double nanoseconds) const { watch_->pass(nanoseconds); }

}  // namespace properboost
