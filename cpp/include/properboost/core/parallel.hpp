// Threads: a team of them, and the loops that they share.
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

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace properboost {

class Peers;
class Share;
class Watch;

namespace detail {

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

}  // namespace detail

class Team {
 public:
  // Runs program(team) on the calling thread, helped by n_threads - 1 others, and returns how many
  // of these could not be started.  Exceptions of the program and of tasks are rethrown here.
  // `nanoseconds` is an estimate of the time of its longest loop: if that is too short to share,
  // no thread is woken.  `check`, if there is one, is called on the calling thread between tasks,
  // ten times per second; what it throws ends the program.
  // Those who call it include core/region.hpp.
  template <class Program>
  static int run(int n_threads, double nanoseconds, Program&& program,
                 std::function<void()> check = {});

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
  Share share() const;

  // Calls task(i) for every i in [0, n), in any order and on any thread; returns when all are done.
  // `nanoseconds` is an estimate of the whole loop's time: a loop that ends before another thread
  // could wake stays on this thread.  Tasks must write to separate places: then no result depends
  // on the thread that ran them.
  template <class Task>
  void for_each(std::size_t n, double nanoseconds, const Task& task) {
    const auto look = [this, each = nanoseconds / static_cast<double>(n)] {
      if (watch_ != nullptr) this->look(each);
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

  template <class Program>
  static void run_region(int n_threads, int n_asked, Watch& watch, Program& program);
  template <class Program>
  static int run_roomy(int n_threads, Watch& watch, Program& program);
  void look(double nanoseconds) const;

  detail::Gate* gate_;
  std::size_t size_;
  Watch* watch_;
  Peers* peers_ = nullptr;
};

}  // namespace properboost
