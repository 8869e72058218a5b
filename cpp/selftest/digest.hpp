// A number that stands for all bits of some results.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "properboost/ensemble/ensemble.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/rounds/fit_state.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost::selftest {

// FNV-1a over the bits of numbers.  A NaN's bits depend on the processor, but not that it is one.
class Digest {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) {
      state_ = (state_ ^ (word >> shift & 0xff)) * 0x100000001b3u;
    }
  }
  void add(double x) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (!std::isnan(x)) std::memcpy(&bits, &x, sizeof bits);
    add(bits);
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(static_cast<std::uint64_t>(numbers.size()));
    for (const Number x : numbers) {
      if constexpr (std::is_floating_point_v<Number>) {
        add(static_cast<double>(x));
      } else {
        add(static_cast<std::uint64_t>(x));
      }
    }
  }
  void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }
  void add(const Cell& cell) {
    add(cell.positive);
    add(cell.negative);
  }
  void add(const Tree& tree) {
    add(tree.feature);
    add(tree.left);
    add(tree.saving);
    for (std::size_t node = 0; node < tree.size(); ++node) {
      for (const std::uint64_t word : tree.goes_left[node].bits) add(word);
      for (const std::uint64_t word : tree.goes_right[node].bits) add(word);
      add(tree.cell[node]);
    }
  }
  void add(const Rounds& rounds) {
    add(rounds.feature);
    add(rounds.cost);
    add(rounds.step);
    add(rounds.risk);
    add(rounds.offsets);
    add(rounds.values);
    add(rounds.trees);
    if (rounds.lines.empty()) return;
    add(rounds.lines.offsets);
    add(rounds.lines.feature);
    add(rounds.lines.slope);
    add(rounds.lines.center);
    add(rounds.lines.mean);
  }
  void add(const FitState& state) {
    for (const Rounds& rounds : state.rounds) add(rounds);
    add(state.log_loss);
    add(state.error);
    add(state.brier);
    add(std::uint64_t{state.n_estimators});
    add(std::uint64_t{state.finished});
    add(std::uint64_t{state.separated});
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace properboost::selftest
