// Stacks: whether the runtime's threads have enough for the engine's tasks, and threads that have.
//
// OMP_STACKSIZE may be as little as 16 KiB, and a C library may give threads 128 KiB.  Blocks of
// rows and sums lie on the stack, where compilers know that nothing else points to them; a custom
// loss calls who knows what.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace properboost {

// Twice what the deepest calls of the engine take.
constexpr std::size_t kStackOfTasks = std::size_t{1} << 18;

// The stack that the environment asks a runtime to give its threads, in bytes; 0 if it does not, or
// asks for what a runtime refuses, which then takes the default.
std::size_t asked_stack_size() noexcept;

// Whether the runtime's threads lack stack: the environment asks for less, or one was seen so.
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
