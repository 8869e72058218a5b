#include "properboost/core/startable.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

#include "properboost/core/stack.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace properboost {

#if defined(__unix__) || defined(__APPLE__)
namespace {

// Where threads wait for each other, so that all are there at once.
struct Hall {
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
};

struct Guest {
  Hall* hall = nullptr;
  pthread_t thread{};
  long id = 0;  // the system's
};

extern "C" void* wait_in_hall(void* argument) {
  auto* const guest = static_cast<Guest*>(argument);
#if defined(__linux__)
  guest->id = syscall(SYS_gettid);
#endif
  std::unique_lock<std::mutex> lock(guest->hall->mutex);
  guest->hall->opened.wait(lock, [&] { return guest->hall->open; });
  return nullptr;
}

// A thread that has been joined counts against the limit on processes until the system has removed
// it, some microseconds later.
void wait_until_gone([[maybe_unused]] const Guest& guest) {
#if defined(__linux__)
  constexpr int kTries = 10'000;
  for (int i = 0; i < kTries && syscall(SYS_tgkill, getpid(), guest.id, 0) == 0; ++i) sched_yield();
#endif
}

}  // namespace
#endif

int count_startable(int wanted) {
  // A runtime's records take some kilobytes, and so does a thread's.
  constexpr std::size_t kRecords = std::size_t{1} << 14;
  ::operator delete(::operator new(kRecords* static_cast<std::size_t>(wanted + 1)));
#if defined(__unix__) || defined(__APPLE__)
  Hall hall;
  std::vector<Guest> guests(static_cast<std::size_t>(wanted), Guest{&hall});
  std::size_t started = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const std::size_t stack_size = requested_stack_size();
  if (stack_size > 0) pthread_attr_setstacksize(&attributes, stack_size);
  for (Guest& guest : guests) {
    if (pthread_create(&guest.thread, &attributes, wait_in_hall, &guest) != 0) break;
    ++started;
  }
  pthread_attr_destroy(&attributes);
  {
    const std::lock_guard<std::mutex> lock(hall.mutex);
    hall.open = true;
  }
  hall.opened.notify_all();
  guests.resize(started);
  for (const Guest& guest : guests) pthread_join(guest.thread, nullptr);
  for (const Guest& guest : guests) wait_until_gone(guest);
  return static_cast<int>(started);
#else
  return wanted;
#endif
}

}  // namespace properboost
