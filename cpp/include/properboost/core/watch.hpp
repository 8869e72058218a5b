// The calling thread's check between tasks: whether to go on.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace properboost {

// Calls a check ten times per second.  An exception of the check ends the work.
class Watch {
 public:
  Watch() = default;
  explicit Watch(std::function<void()> check) : check_(std::move(check)), last_(Clock::now()) {}

  // To be called after each task, with its estimated time: the clock is read after a millisecond by
  // estimate, or after some tasks, for an estimate may be far off.
  void pass(double nanoseconds) {
    if (!check_) return;
    estimate_ += nanoseconds;
    if (++tasks_ < kTasks && estimate_ < kMillisecond) return;
    tasks_ = 0;
    estimate_ = 0.0;
    if (Clock::now() - last_ < std::chrono::milliseconds(100)) return;
    check_();
    last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kTasks = 64;
  static constexpr double kMillisecond = 1e6;

  std::function<void()> check_;
  Clock::time_point last_;
  double estimate_ = 0.0;
  int tasks_ = 0;
};

}  // namespace properboost
