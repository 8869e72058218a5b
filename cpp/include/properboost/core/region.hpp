// Regions: how a team gets its threads.  The only place with an OpenMP pragma.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include "properboost/core/gate.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/stack.hpp"
#include "properboost/core/startable.hpp"
#include "properboost/core/watch.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace properboost {

constexpr bool has_openmp() noexcept {
#if defined(_OPENMP)
  return true;
#else
  return false;
#endif
}

namespace detail {

// The OpenMP runtime's threads do not survive a fork, and entering a region in the child would wait
// for them for ever: a forked child runs on one thread.
inline std::atomic<bool>& forked() noexcept {
  static std::atomic<bool> flag{false};
  return flag;
}

#if defined(_OPENMP)
// How many of the `requested` threads, including this one, a region may have.  GNU's runtime keeps
// the threads of a region for the next one of the same thread and the same size, so only a change
// of size can be refused.  (Where another library shares the runtime this may be outdated.)
inline int grant(int requested) {
  thread_local int size = 1;  // of the last region
  if (requested != size) {
    size = std::min(requested, size + count_startable(std::max(requested - size, 0)));
  }
  return size;
}
#endif

}  // namespace detail

// Call once when the library is loaded.
inline void watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { detail::forked().store(true); });
  static_cast<void>(registered);
#endif
}

template <class Program>
int Team::run(int n_threads, double nanoseconds, Program&& program) {
  return run(n_threads, nanoseconds, program, Watch());
}

template <class Program>
int Team::run([[maybe_unused]] int n_threads, [[maybe_unused]] double nanoseconds,
              Program&& program, Watch watch) {
  int missing = 0;
#if defined(_OPENMP)
  // More than a few threads per processor do not help.
  n_threads = std::min(n_threads, 4 * omp_get_num_procs());
  if (n_threads > 1 && nanoseconds >= kWorthWaking && !detail::forked().load()) {
    if (is_stack_short()) return run_roomy(n_threads, watch, program);
    // At the end of a region and after it GNU's runtime spins for milliseconds before it sleeps,
    // which another process on the same processors pays for; it does not if it has more threads
    // than processors.  So if all processors are used, one more thread is requested, which does
    // nothing.
    const int wanted = n_threads + (n_threads == omp_get_num_procs() ? 1 : 0);
    const int n_granted = detail::grant(wanted);
    missing = std::max(n_threads - n_granted, 0);
    n_threads -= missing;
    if (n_threads > 1) {
      run_region(n_threads, n_granted, watch, program);
      return missing;
    }
  }
#endif
  Team team(nullptr, 1, &watch);
  program(team);
  return missing;
}

#if defined(_OPENMP)
template <class Program>
void Team::run_region(int n_threads, int n_granted, Watch& watch, Program& program) {
  detail::Gate gate;
  Team team(&gate, static_cast<std::size_t>(n_threads), &watch);
  std::exception_ptr error;
#pragma omp parallel num_threads(n_granted)
  {
    if (omp_get_thread_num() != 0) {
      // One that does not serve is not missed.
      if (omp_get_thread_num() < n_threads && has_enough_stack()) gate.serve();
    } else {
      try {
        program(team);
      } catch (...) {
        error = std::current_exception();
      }
      gate.dismiss();
    }
  }
  if (error) std::rethrow_exception(error);
}

// The same with threads of our own, which end with the call; returns how many are missing.
template <class Program>
int Team::run_roomy(int n_threads, Watch& watch, Program& program) {
  detail::Gate gate;
  std::exception_ptr error;
  std::size_t size = 1;
  {
    const auto serve = [](void* pointer) { static_cast<detail::Gate*>(pointer)->serve(); };
    const RoomyThreads threads(n_threads - 1, serve, &gate);
    size += threads.size();
    Team team(&gate, size, &watch);
    try {
      program(team);
    } catch (...) {
      error = std::current_exception();
    }
    gate.dismiss();
  }
  if (error) std::rethrow_exception(error);
  return n_threads - static_cast<int>(size);
}
#endif

}  // namespace properboost
