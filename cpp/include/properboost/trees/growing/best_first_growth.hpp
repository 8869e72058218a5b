// Growth best first: the leaf whose split saves most is split next.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "properboost/trees/growing/growth.hpp"
#include "properboost/trees/growing/leaf_splits.hpp"

namespace properboost {

template <class Cells>
class BestFirstGrowth {
 public:
  using Choice = typename Growth<Cells>::Choice;
  using Leaf = typename Growth<Cells>::Leaf;

  // Features are drawn by the key.
  BestFirstGrowth(Growth<Cells>& growth, std::uint64_t key)
      : growth_(growth), splits_(growth, key) {}

  // `progress` is called before each split, and may throw.
  void grow(Leaf root, const std::function<void()>& progress) {
    queue(&root, 1);
    while (growth_.leaves() < growth_.limits().leaves && !waiting_.empty()) {
      progress();
      std::pop_heap(waiting_.begin(), waiting_.end(), comes_later);
      Waiting next = std::move(waiting_.back());
      waiting_.pop_back();
      growth_.keep_no_more(next.leaf);
      std::array<Leaf, 2> children = growth_.divide_one(std::move(next.leaf), next.choice);
      queue(children.data(), children.size());
      for (Leaf& child : children) growth_.give_back(child);  // unless it waits
    }
    for (Waiting& left : waiting_) growth_.give_back(left.leaf);
  }

 private:
  // A leaf that is split when its turn comes.
  struct Waiting {
    Leaf leaf;
    Choice choice;
  };
  static bool comes_later(const Waiting& a, const Waiting& b) {
    if (a.choice.saving != b.choice.saving) return a.choice.saving < b.choice.saving;
    return a.leaf.node > b.leaf.node;
  }

  // Finds the best splits of some leaves, and queues those that lower the cost.
  void queue(Leaf* leaves, std::size_t n) {
    std::vector<typename LeafSplits<Cells>::SplitSearch> searched;
    for (std::size_t i = 0; i < n; ++i) searched.push_back({leaves[i]});
    std::vector<std::optional<Choice>> choices = splits_.find(searched);
    for (std::size_t i = 0; i < n; ++i) {
      std::optional<Choice>& choice = choices[i];
      if (!choice) continue;
      growth_.keep(leaves[i]);
      waiting_.push_back({std::move(leaves[i]), *std::move(choice)});
      std::push_heap(waiting_.begin(), waiting_.end(), comes_later);
    }
  }

  Growth<Cells>& growth_;
  const LeafSplits<Cells> splits_;
  std::vector<Waiting> waiting_;  // a heap
};

}  // namespace properboost
