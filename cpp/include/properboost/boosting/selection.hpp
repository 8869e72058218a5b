// Selection: which features a round may use.
//
// `greedy` (the papers): all of them, and the best is taken.  `cyclic`: the features in turn; an
// estimator is one cycle, with one look-up table per feature (as in InterpretML).
#pragma once

#include <cstddef>
#include <tuple>

#include "properboost/core/registry.hpp"

namespace properboost {

struct Candidates {
  std::size_t first, last;  // features first to last - 1

  std::size_t size() const noexcept { return last - first; }
};

class Selection {
 public:
  virtual ~Selection() = default;
  virtual std::size_t tables_per_estimator(std::size_t features) const = 0;
  virtual Candidates candidates(std::size_t table, std::size_t features) const = 0;
  // Whether the feature is known before its cells are filled.
  virtual bool in_turn() const = 0;
};

namespace selections {

class Greedy final : public Selection {
 public:
  static constexpr const char* name = "greedy";
  std::size_t tables_per_estimator(std::size_t) const override { return 1; }
  Candidates candidates(std::size_t, std::size_t features) const override { return {0, features}; }
  bool in_turn() const override { return false; }
};

class Cyclic final : public Selection {
 public:
  static constexpr const char* name = "cyclic";
  std::size_t tables_per_estimator(std::size_t features) const override { return features; }
  Candidates candidates(std::size_t table, std::size_t) const override {
    return {table, table + 1};
  }
  bool in_turn() const override { return true; }
};

using Builtins = Registry<std::tuple<Greedy, Cyclic>>;

}  // namespace selections

}  // namespace properboost
