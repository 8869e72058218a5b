// Threads: the only place with an OpenMP pragma.
//
// A Team enters one parallel region for a whole call of the engine.  Inside it the calling thread
// runs the program; the others serve the loops it hands out with for_each.  Threads wait in our own
// code: a short spin, then sleep.  The runtime's own barriers would spin between any two loops, and
// two processes doing so on the same cores slow each other down severalfold.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "properboost/core/peers.hpp"
#include "properboost/core/stack.hpp"
#include "properboost/core/startable.hpp"
#include "properboost/core/watch.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
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

inline void relax() noexcept {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The state that the threads of a team share.  A loop is a "gate", which counts the helpers inside
// and is open while there is work to hand out.  A helper that wakes too late finds it shut, and the
// loop does not wait for it.
struct Gate {
  using Call = void (*)(const void*, std::size_t);
  static constexpr std::uint32_t kOpen = 1u << 31;
  static constexpr int kSpins = 1500;  // some tens of microseconds

  std::atomic<std::uint32_t> state{0};
  std::atomic<std::uint64_t> generation{0};  // loops handed out so far
  std::atomic<bool> stop{false};
  std::atomic<int> sleeping{0};
  std::atomic<bool> owner_sleeping{false};
  std::mutex mutex;
  std::condition_variable work, done;

  std::size_t size = 0;
  Call call = nullptr;
  const void* task = nullptr;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  // `after_each` is called after each task.
  template <class AfterEach>
  void drain(const AfterEach& after_each) noexcept {
    for (std::size_t i;
         !failed.load(std::memory_order_relaxed) && (i = next.fetch_add(1)) < size;) {
      try {
        call(task, i);
        after_each();
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
        failed.store(true);
      }
    }
  }

  template <class Ready>
  bool spin(const Ready& ready) const noexcept {
    for (int i = 0; i < kSpins; ++i) {
      if (ready()) return true;
      relax();
    }
    return false;
  }

  void serve() noexcept {
    std::uint64_t seen = 0;
    const auto called = [&] { return generation.load() != seen || stop.load(); };
    for (;;) {
      if (!spin(called)) {
        std::unique_lock<std::mutex> lock(mutex);
        sleeping.fetch_add(1);
        work.wait(lock, called);
        sleeping.fetch_sub(1);
      }
      if (stop.load()) return;
      seen = generation.load();
      std::uint32_t now = state.load();
      while ((now & kOpen) != 0 && !state.compare_exchange_weak(now, now + 1)) {
      }
      if ((now & kOpen) == 0) continue;
      drain([] {});
      if ((state.fetch_sub(1) - 1) == 0 && owner_sleeping.load()) {
        const std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
    }
  }

  // Calls the helpers that wait; those that sleep only if the loop is worth waking them.
  void wake(bool worth_waking) {
    generation.fetch_add(1);
    if (worth_waking && sleeping.load() > 0) {
      const std::lock_guard<std::mutex> lock(mutex);
      work.notify_all();
    }
  }

  template <class AfterEach>
  void share(std::size_t n, bool worth_waking, Call function, const void* argument,
             const AfterEach& after_each) {
    size = n;
    call = function;
    task = argument;
    next.store(0);
    state.store(kOpen);
    wake(worth_waking);
    drain(after_each);
    state.fetch_and(~kOpen);
    const auto empty = [&] { return state.load() == 0; };
    if (!spin(empty)) {
      std::unique_lock<std::mutex> lock(mutex);
      owner_sleeping.store(true);
      done.wait(lock, empty);
      owner_sleeping.store(false);
    }
    if (failed.load()) {
      failed.store(false);
      std::rethrow_exception(std::exchange(error, nullptr));
    }
  }

  void dismiss() {
    stop.store(true);
    wake(true);
  }
};

#if defined(_OPENMP)
// How many of `asked` threads, this one among them, a region may have.  GNU's runtime keeps the
// threads of a region for the next one of the same thread and the same size, so only a change of
// size can be refused.  (Where another library shares the runtime this may be outdated.)
inline int grant(int asked) {
  thread_local int size = 1;  // of the last region
  if (asked != size) {
    size = std::min(asked, size + count_startable(std::max(asked - size, 0)));
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

class Team {
 public:
  // Runs program(team) on the calling thread, helped by n_threads - 1 others, and returns how many
  // of these could not be started.  Exceptions of the program and of tasks are rethrown here.
  // `nanoseconds` is an estimate of the time of its longest loop: if that is too short to share,
  // no thread is woken.  `check`, if there is one, is called on the calling thread between tasks,
  // ten times per second; what it throws ends the program.
  template <class Program>
  static int run([[maybe_unused]] int n_threads, [[maybe_unused]] double nanoseconds,
                 Program&& program, std::function<void()> check = {}) {
    Watch watch(std::move(check));
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
      const int n_asked = detail::grant(wanted);
      missing = std::max(n_threads - n_asked, 0);
      n_threads -= missing;
      if (n_threads > 1) {
        run_region(n_threads, n_asked, watch, program);
        return missing;
      }
    }
#endif
    Team team(nullptr, 1, &watch);
    program(team);
    return missing;
  }

  // A team of the calling thread only; one for a task of another team's loop has no peers.
  static Team alone(Peers* peers = nullptr) {
    Team team(nullptr, 1, nullptr);
    team.join(peers);
    return team;
  }

  std::size_t size() const noexcept { return size_; }

  // From now on sums over rows are those of these processes, too.  Tasks share nothing.
  void join(Peers* peers) noexcept { peers_ = peers; }
  bool has_peers() const noexcept { return peers_ != nullptr; }
  Share share() const { return Share(peers_); }

  // Calls task(i) for every i in [0, n), in any order and on any thread; returns when all are done.
  // `nanoseconds` is an estimate of the whole loop's time: a loop that ends before another thread
  // could wake stays on this thread.  Tasks must write to separate places: then no result depends
  // on the thread that ran them.
  template <class Task>
  void for_each(std::size_t n, double nanoseconds, const Task& task) {
    const auto look = [watch = watch_, each = nanoseconds / static_cast<double>(n)] {
      if (watch != nullptr) watch->pass(each);
    };
    if (gate_ == nullptr || n < 2 || !is_worth_sharing(nanoseconds)) {
      for (std::size_t i = 0; i < n; ++i) {
        task(i);
        look();
      }
      return;
    }
    gate_->share(
        n, nanoseconds >= kWorthWaking,
        [](const void* t, std::size_t i) { (*static_cast<const Task*>(t))(i); }, &task, look);
  }

 private:
  static constexpr double kWorthWaking = 50'000.0;  // threads that sleep
  static constexpr double kWorthSharing = 5'000.0;  // with threads that are awake

  bool is_worth_sharing(double nanoseconds) const noexcept {
    if (nanoseconds >= kWorthWaking) return true;
    const auto helpers = static_cast<int>(size_) - 1;
    return nanoseconds >= kWorthSharing && gate_->sleeping.load() < helpers;
  }

  Team(detail::Gate* gate, std::size_t size, Watch* watch) noexcept
      : gate_(gate), size_(size), watch_(watch) {}

#if defined(_OPENMP)
  template <class Program>
  static void run_region(int n_threads, int n_asked, Watch& watch, Program& program) {
    detail::Gate gate;
    Team team(&gate, static_cast<std::size_t>(n_threads), &watch);
    std::exception_ptr error;
#pragma omp parallel num_threads(n_asked)
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
  static int run_roomy(int n_threads, Watch& watch, Program& program) {
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

  detail::Gate* gate_;
  std::size_t size_;
  Watch* watch_;
  Peers* peers_ = nullptr;
};

}  // namespace properboost
