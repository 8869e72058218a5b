#include "properboost/core/gate.hpp"

#include <utility>

#include "properboost/core/watch.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace properboost::detail {
namespace {

void relax() noexcept {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Ready>
bool spin(const Ready& ready) noexcept {
  constexpr int kSpins = 1500;  // some tens of microseconds
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) return true;
    relax();
  }
  return false;
}

}  // namespace

// `after_each` is called after each task.
template <class AfterEach>
void Gate::drain(const AfterEach& after_each) noexcept {
  for (std::size_t i;
       !failed_.load(std::memory_order_relaxed) && (i = next_.fetch_add(1)) < size_;) {
    try {
      call_(task_, i);
      after_each();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_.store(true);
    }
  }
}

void Gate::serve() noexcept {
  std::uint64_t seen = 0;
  const auto called = [&] { return generation_.load() != seen || stop_.load(); };
  for (;;) {
    if (!spin(called)) {
      std::unique_lock<std::mutex> lock(mutex_);
      sleeping_.fetch_add(1);
      work_.wait(lock, called);
      sleeping_.fetch_sub(1);
    }
    if (stop_.load()) return;
    seen = generation_.load();
    std::uint32_t now = state_.load();
    while ((now & kOpen) != 0 && !state_.compare_exchange_weak(now, now + 1)) {
    }
    if ((now & kOpen) == 0) continue;
    drain([] {});
    if ((state_.fetch_sub(1) - 1) == 0 && owner_sleeping_.load()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_.notify_one();
    }
  }
}

// Calls the helpers that wait; those that sleep only if the loop is worth waking them.
void Gate::wake(bool worth_waking) {
  generation_.fetch_add(1);
  if (worth_waking && sleeping_.load() > 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.notify_all();
  }
}

void Gate::share(std::size_t n, bool worth_waking, Call call, const void* task, Watch* watch,
                 double nanoseconds) {
  size_ = n;
  call_ = call;
  task_ = task;
  next_.store(0);
  state_.store(kOpen);
  wake(worth_waking);
  drain([&] {
    if (watch != nullptr) watch->pass(nanoseconds);
  });
  state_.fetch_and(~kOpen);
  const auto empty = [&] { return state_.load() == 0; };
  if (!spin(empty)) {
    std::unique_lock<std::mutex> lock(mutex_);
    owner_sleeping_.store(true);
    done_.wait(lock, empty);
    owner_sleeping_.store(false);
  }
  if (failed_.load()) {
    failed_.store(false);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void Gate::dismiss() {
  stop_.store(true);
  wake(true);
}

}  // namespace properboost::detail
