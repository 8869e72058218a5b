// The state that the threads of a team share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

namespace properboost {

class Watch;

namespace detail {

// A loop is a "gate", which counts the helpers inside and is open while there is work to hand out.
// A helper that wakes too late finds it shut, and the loop does not wait for it.
class Gate {
 public:
  using Call = void (*)(const void*, std::size_t);

  // Has the helpers call call(task, i) for i < n, too, and returns when all have.  The watch, if
  // there is one, is notified of this thread's tasks, with their estimated time.
  void share(std::size_t n, bool worth_waking, Call call, const void* task, Watch* watch,
             double nanoseconds);
  int sleeping() const noexcept { return sleeping_.load(); }

  // A helper's part: returns once it is dismissed.
  void serve() noexcept;
  void dismiss();

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;

  template <class AfterEach>
  void drain(const AfterEach& after_each) noexcept;
  void wake(bool worth_waking);

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint64_t> generation_{0};  // loops handed out so far
  std::atomic<bool> stop_{false};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> owner_sleeping_{false};
  std::mutex mutex_;
  std::condition_variable work_, done_;

  std::size_t size_ = 0;
  Call call_ = nullptr;
  const void* task_ = nullptr;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace detail
}  // namespace properboost
