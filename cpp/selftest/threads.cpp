// Work for a race detector: every case of the engine on several threads, for several callers at
// once; the results must be those of one thread.  The progress report of some of the calls throws.
//
//     properboost-threads [--rows N] [--race]
//
// With --race threads also write to one place, which the detector must report.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "cases.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"

namespace {

using namespace properboost;
using selftest::Case;

constexpr int kThreads = 4;
constexpr int kCallers = 3;

struct Stop : std::exception {
  const char* what() const noexcept override { return "stopped by the progress report"; }
};

// Whether the case ends with the exception of its second progress report, if it reports so often.
bool stops(const Case& one) {
  int reports = 0;
  const auto progress = [&reports] {
    if (++reports == 2) throw Stop();
  };
  try {
    one.run({kThreads, progress});
  } catch (const Stop&) {
    return true;
  }
  return reports < 2;
}

// Two tasks write to one place, each once the other has begun, which gives a detector no order;
// often enough for one that misses simultaneous writes.
int race() {
  int shared = 0;
  Team::run(kThreads, 1e9, [&](Team& team) {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> begun{0};
      team.for_each(2, 1e9, [&](std::size_t) {
        begun.fetch_add(1, std::memory_order_relaxed);
        while (begun.load(std::memory_order_relaxed) < 2) {
        }
        ++shared;
      });
    }
  });
  return shared;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t rows = 60'000;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rows" && i + 1 < argc) rows = std::strtoul(argv[++i], nullptr, 10);
    if (argument == "--race") {
      std::printf("%d additions without a lock\n", race());
      return 0;
    }
  }
  const std::vector<Case> cases = selftest::make_cases(rows);
  std::vector<std::uint64_t> expected;
  for (const Case& one : cases) expected.push_back(one.run({1}));
  // Callers begin at different cases, so that different ones meet.
  std::atomic<int> differ{0}, went_on{0};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (std::size_t k = 0; k < cases.size(); ++k) {
        const std::size_t i = (k + caller * cases.size() / kCallers) % cases.size();
        if (cases[i].run({kThreads}) != expected[i]) {
          ++differ;
          std::printf("FAILED: %s differs on %d threads\n", cases[i].name.c_str(), kThreads);
        }
        if (k % kCallers == caller && !stops(cases[i])) {
          ++went_on;
          std::printf("FAILED: %s goes on after its progress report threw\n",
                      cases[i].name.c_str());
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  std::printf("%zu cases of %zu rows, %d callers of %d threads each: %d differ, %d went on\n",
              cases.size(), rows, kCallers, kThreads, differ.load(), went_on.load());
  return differ == 0 && went_on == 0 ? 0 : 1;
}
