// Selection: which features a round may use.
//
// `greedy` (the papers): all of them, and the one of least cost is taken.  `unbiased`: all of them,
// and the one whose contrast of the classes is least likely by chance is taken; where a response
// does not need that contrast, or no weight is left, it is as greedy.  `cyclic`: the features in
// turn; an estimator is one cycle, with one look-up table per feature (as in InterpretML).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace properboost {

struct Candidates {
  std::size_t first, last;  // features first to last - 1

  std::size_t size() const noexcept { return last - first; }
};

// By default an estimator has one table, and all features are up for it.
class Selection {
 public:
  virtual ~Selection() = default;
  virtual std::size_t tables_per_estimator(std::size_t /*features*/) const { return 1; }
  virtual Candidates candidates(std::size_t /*table*/, std::size_t features) const {
    return {0, features};
  }
  // Whether the feature is known before its cells are filled.
  virtual bool in_turn() const { return false; }
  // Whether features are compared by how unlikely their cells are, and not by their cost.
  virtual bool allows_for_chance() const { return false; }
};

std::unique_ptr<Selection> make_selection(const std::string& name);
std::vector<std::string> selection_names();

}  // namespace properboost
