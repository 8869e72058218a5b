// The engine's work on fixed data, case by case: bins, every weak learner with every response and
// step, losses, lanes, votes, single trees, pairs, predictions, rados.
//
// A case gives a number that stands for all bits of its results, so that processors, compilers and
// numbers of threads can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace properboost::selftest {

// Runs on this many threads; `progress` is called on the calling thread, and may throw.
struct Run {
  int threads = 1;
  std::function<void()> progress = [] {};
};

struct Case {
  std::string name;
  std::function<std::uint64_t(const Run&)> run;
};

// The cases on a problem of `rows` rows.
std::vector<Case> make_cases(std::size_t rows);

}  // namespace properboost::selftest
