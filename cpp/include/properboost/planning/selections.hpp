// Adding a selection: its class, its place in the tuple.
#pragma once

#include <cstddef>
#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/planning/selection.hpp"

namespace properboost::selections {

class Greedy final : public Selection {
 public:
  static constexpr const char* name = "greedy";
};

class Unbiased final : public Selection {
 public:
  static constexpr const char* name = "unbiased";
  bool allows_for_chance() const override { return true; }
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

using Builtins = Registry<std::tuple<Greedy, Cyclic, Unbiased>>;

}  // namespace properboost::selections
