#include "properboost/core/stack.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace properboost {
namespace {

std::atomic<bool> lack_seen{false};

#if defined(__linux__) || defined(__APPLE__)
// How much of its stack this thread has left, about; all there is where that is not known.
std::size_t measure_stack() noexcept {
  const auto top = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return SIZE_MAX;
  void* lowest = nullptr;
  std::size_t size = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return failed != 0 ? SIZE_MAX : top - reinterpret_cast<std::uintptr_t>(lowest);
#else
  const auto highest = reinterpret_cast<std::uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
  return pthread_get_stacksize_np(pthread_self()) - (highest - top);
#endif
}
#else
std::size_t measure_stack() noexcept { return SIZE_MAX; }
#endif

#if defined(__unix__) || defined(__APPLE__)
bool is_allowed(std::size_t size) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const bool allowed = pthread_attr_setstacksize(&attributes, size) == 0;
  pthread_attr_destroy(&attributes);
  return allowed;
}
#else
bool is_allowed(std::size_t /*size*/) noexcept { return true; }
#endif

std::size_t read_stack_size() noexcept {
  std::size_t largest = 0;
  for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    const auto skip_blanks = [](const char* at) {
      while (std::isspace(static_cast<unsigned char>(*at))) ++at;
      return at;
    };
    char* end = nullptr;
    errno = 0;
    const unsigned long long number = std::strtoull(text, &end, 10);
    if (end == text || errno != 0) continue;  // a runtime minds no nonsense
    const char* at = skip_blanks(end);
    const char* const units = "bkmg";  // each 1024 times the one before
    const char* const unit = std::strchr(units, *at == '\0' ? 'k' : std::tolower(*at));
    if (unit == nullptr) continue;
    if (*at != '\0' && *skip_blanks(at + 1) != '\0') continue;
    const auto shift = 10 * (unit - units);
    if (number > SIZE_MAX >> shift) continue;
    const std::size_t size = static_cast<std::size_t>(number) << shift;
    if (is_allowed(size)) largest = std::max(largest, size);
  }
  return largest;
}
// Read when the library is loaded, as runtimes do.
const std::size_t requested_size = read_stack_size();

}  // namespace

std::size_t requested_stack_size() noexcept { return requested_size; }

bool is_stack_short() noexcept {
  const bool is_less = requested_size != 0 && requested_size < kStackOfTasks;
  return is_less || lack_seen.load(std::memory_order_relaxed);
}

bool has_enough_stack() noexcept {
  thread_local const bool enough = measure_stack() >= kStackOfTasks;
  if (!enough) lack_seen.store(true, std::memory_order_relaxed);
  return enough;
}

#if defined(__unix__) || defined(__APPLE__)

extern "C" void* work_for_all(void* pointer) {
  const auto* const work = static_cast<RoomyThreads::Work*>(pointer);
  work->call(work->argument);
  return nullptr;
}

RoomyThreads::RoomyThreads(int wanted, void (*work)(void*), void* argument)
    : work_{work, argument} {
  threads_.reserve(static_cast<std::size_t>(wanted));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  std::size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  // A function in Python that a loss calls needs more than the engine.
  pthread_attr_setstacksize(&attributes, std::max(size, 8 * kStackOfTasks));
  for (int i = 0; i < wanted; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, work_for_all, &work_) != 0) break;
    threads_.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
}

RoomyThreads::~RoomyThreads() {
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

std::size_t RoomyThreads::size() const noexcept { return threads_.size(); }

#else

RoomyThreads::RoomyThreads(int /*wanted*/, void (* /*work*/)(void*), void* /*argument*/) {}
RoomyThreads::~RoomyThreads() = default;
std::size_t RoomyThreads::size() const noexcept { return 0; }

#endif

}  // namespace properboost
