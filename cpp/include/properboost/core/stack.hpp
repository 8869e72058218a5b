// Stacks: whether the runtime's threads have enough for the engine's tasks, and threads that have.
//
// OMP_STACKSIZE may be as little as 16 KiB, and a C library may give threads 128 KiB.  Blocks of
// rows and sums lie on the stack, where compilers can prove that nothing else points to them; a
// custom loss calls code of unknown depth.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace properboost {

// Twice the stack of the engine's deepest calls.
constexpr std::size_t kStackOfTasks = std::size_t{1} << 18;

// The stack size, in bytes, that the environment sets for a runtime's threads; 0 if it sets none,
// or one that a runtime refuses in favour of the default.
std::size_t requested_stack_size() noexcept;

// Whether the runtime's threads lack stack: the environment sets less, or a thread had less.
bool is_stack_short() noexcept;

// Whether this thread, one of the runtime's, has enough; if not, it is remembered.
bool has_enough_stack() noexcept;

// Threads that call work(argument), as many of `wanted` as can be started.
class RoomyThreads {
 public:
  RoomyThreads(int wanted, void (*work)(void*), void* argument);
  RoomyThreads(const RoomyThreads&) = delete;
  RoomyThreads& operator=(const RoomyThreads&) = delete;
  ~RoomyThreads();  // waits for them

  std::size_t size() const noexcept;

  struct Work {
    void (*call)(void*);
    void* argument;
  };

 private:
#if defined(__unix__) || defined(__APPLE__)
  Work work_;
  std::vector<pthread_t> threads_;
#endif
};

}  // namespace properboost
