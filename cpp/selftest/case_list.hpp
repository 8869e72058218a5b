// The cases as they are put together, part by part.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "problem.hpp"

namespace properboost::selftest {

constexpr double kShared = 1e9;  // nanoseconds: a team always gets its threads

class CaseList {
 public:
  explicit CaseList(std::size_t rows) : problem_(std::make_shared<Problem>(rows)) {}

  // task(problem, run) returns the digest of its results.
  template <class Task>
  void add(std::string name, Task task) {
    cases_.push_back({std::move(name), [problem = problem_, task = std::move(task)](
                                           const Run& run) { return task(*problem, run); }});
  }

  const std::vector<Case>& cases() const noexcept { return cases_; }

 private:
  std::shared_ptr<const Problem> problem_;
  std::vector<Case> cases_;
};

// A case's name.
template <class... Parts>
std::string join(const std::string& first, const Parts&... parts) {
  std::string name = first;
  ((name += '-', name += parts), ...);
  return name;
}

void add_boosting(CaseList& list);
void add_stages(CaseList& list);

}  // namespace properboost::selftest
