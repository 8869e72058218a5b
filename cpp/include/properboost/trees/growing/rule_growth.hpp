// Growth of a rule: only the left-most leaf is split, by the cost of two cells.
//
// The rows of the left-most leaf are those for which all conditions hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/trees/growing/growth.hpp"
#include "properboost/trees/growing/leaf_splits.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

template <class Cells>
class RuleGrowth {
 public:
  using Choice = typename Growth<Cells>::Choice;
  using Leaf = typename Growth<Cells>::Leaf;
  using Rule = typename LeafSplits<Cells>::Rule;

  // Features are drawn by the key.
  RuleGrowth(Growth<Cells>& growth, std::uint64_t key) : growth_(growth), splits_(growth, key) {}

  // A condition and its opposite make the same two cells of the root.  The second condition decides
  // which of them the rule begins with; without one, it is the condition that holds for less
  // weight. `progress` is called before each split, and may throw.
  void grow(Leaf root, const std::function<void()>& progress) {
    progress();
    const std::optional<Choice> first = std::move(splits_.find({{root}}).front());
    if (!first) return;
    std::array<Leaf, 2> children = growth_.divide_one(std::move(root), *first);
    std::array<End, 2> ends;
    for (std::size_t i = 0; i < 2; ++i) {
      ends[i].rule = {growth_.total(children[1 - i].node),
                      sign_of_condition(*first, i == 0 ? Split::kLeft : Split::kRight)};
      ends[i].leaf = std::move(children[i]);
    }
    progress();
    auto choices = splits_.find({{ends[0].leaf, &ends[0].rule}, {ends[1].leaf, &ends[1].rule}});
    for (std::size_t i = 0; i < 2; ++i) ends[i].choice = std::move(choices[i]);
    if (comes_first(ends[1], ends[0])) {
      std::swap(ends[0], ends[1]);
      growth_.exchange_children();
      std::swap(ends[0].leaf.node, ends[1].leaf.node);
    }
    End end = std::move(ends[0]);
    Total others = growth_.total(ends[1].leaf.node);
    while (end.choice) {
      progress();
      const Choice choice = *std::move(end.choice);
      const int rises =
          end.rule.rises != 0 ? end.rule.rises : sign_of_condition(choice, Split::kLeft);
      std::array<Leaf, 2> parts = growth_.divide_one(std::move(end.leaf), choice);
      Cells::add(others, growth_.total(parts[1].node));
      end.leaf = std::move(parts[0]);
      end.rule = {others, rises};
      end.choice = std::move(splits_.find({{end.leaf, &end.rule}}).front());
    }
  }

 private:
  using Total = typename Cells::Total;

  // A leaf where a rule holds.
  struct End {
    Leaf leaf{};
    Rule rule{};
    std::optional<Choice> choice{};
  };
  bool comes_first(const End& a, const End& b) const {
    const Cells& cells = growth_.cells();
    if (!a.choice && !b.choice) return cells.weight(a.rule.others) > cells.weight(b.rule.others);
    return a.choice && (!b.choice || a.choice->saving > b.choice->saving);
  }

  // Whether the value where a condition of this branch holds must not be less (1) or more (-1) than
  // elsewhere.  A condition that only separates missing values from others may be either.
  int sign_of_condition(const Choice& choice, std::uint8_t branch) const {
    const int direction = growth_.direction_of(choice.feature);
    if (direction == 0) return 0;
    const auto last = static_cast<std::size_t>(growth_.bins()[choice.feature].bins()) - 1;
    const int holds_above = choice.split.branch[last] == branch ? 1 : 0;
    const int holds_below = choice.split.branch[0] == branch ? 1 : 0;
    return direction * (holds_above - holds_below);
  }

  Growth<Cells>& growth_;
  const LeafSplits<Cells> splits_;
};

}  // namespace properboost
