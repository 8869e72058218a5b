#include "properboost/core/parallel.hpp"

#include "properboost/core/gate.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/core/watch.hpp"

namespace properboost {

AllReduce Team::all_reduce() const { return AllReduce(peers_); }

bool Team::is_worth_sharing(std::size_t n, double nanoseconds) const noexcept {
  if (gate_ == nullptr || n < 2) return false;
  if (nanoseconds >= kWorthWaking) return true;
  return nanoseconds >= kWorthSharing && gate_->sleeping() < static_cast<int>(size_) - 1;
}

void Team::hand_out(std::size_t n, double nanoseconds, void (*call)(const void*, std::size_t),
                    const void* task) const {
  gate_->share(n, nanoseconds >= kWorthWaking, call, task, watch_,
               nanoseconds / static_cast<double>(n));
}

void Team::look(double nanoseconds) const { watch_->pass(nanoseconds); }

}  // namespace properboost
