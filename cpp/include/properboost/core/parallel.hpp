// Threads: a team of them, and the loops that they share.
//
// A Team enters one parallel region for a whole call of the engine.  Inside it the calling thread
// runs the program; the others serve the loops it hands out with for_each.  Threads wait in our own
// code: a short spin, then sleep.  The runtime's own barriers would spin between any two loops, and
// two processes doing so on the same cores slow each other down severalfold.
#pragma once

#include <cstddef>

namespace properboost {

class Peers;
class AllReduce;
class Watch;

namespace detail {
class Gate;
}

class Team {
 public:
  // Runs program(team) on the calling thread, helped by n_threads - 1 others, and returns how many
  // of these could not be started.  Exceptions of the program and of tasks are rethrown here.
  // `nanoseconds` is an estimate of the time of its longest loop: if that is too short to share,
  // no thread is woken.  An exception of the watch between tasks ends the program.
  // Callers include core/region.hpp.
  template <class Program>
  static int run(int n_threads, double nanoseconds, Program&& program);
  template <class Program>
  static int run(int n_threads, double nanoseconds, Program&& program, Watch watch);

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
  AllReduce all_reduce() const;

  // Calls task(i) for every i in [0, n), in any order and on any thread; returns when all are done.
  // `nanoseconds` is an estimate of the whole loop's time: a loop that ends before another thread
  // could wake stays on this thread.  Tasks must write to separate places: then no result depends
  // on the thread that ran them.
  template <class Task>
  void for_each(std::size_t n, double nanoseconds, const Task& task) {
    if (!is_worth_sharing(n, nanoseconds)) {
      const double each = nanoseconds / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) {
        task(i);
        if (watch_ != nullptr) look(each);
      }
      return;
    }
    hand_out(
        n, nanoseconds, [](const void* t, std::size_t i) { (*static_cast<const Task*>(t))(i); },
        &task);
  }

 private:
  static constexpr double kWorthWaking = 50'000.0;  // threads that sleep
  static constexpr double kWorthSharing = 5'000.0;  // with threads that are awake

  Team(detail::Gate* gate, std::size_t size, Watch* watch) noexcept
      : gate_(gate), size_(size), watch_(watch) {}

  template <class Program>
  static void run_region(int n_threads, int n_granted, Watch& watch, Program& program);
  template <class Program>
  static int run_roomy(int n_threads, Watch& watch, Program& program);
  bool is_worth_sharing(std::size_t n, double nanoseconds) const noexcept;
  void hand_out(std::size_t n, double nanoseconds, void (*call)(const void*, std::size_t),
                const void* task) const;
  void look(double nanoseconds) const;

  detail::Gate* gate_;
  std::size_t size_;
  Watch* watch_;
  Peers* peers_ = nullptr;
};

}  // namespace properboost
