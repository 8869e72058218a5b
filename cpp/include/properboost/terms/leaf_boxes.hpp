// The boxes of codes of which a tree's leaves are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"
#include "properboost/ensemble/forest.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

// The most features of a term.
constexpr std::size_t kMostTermFeatures = 3;

// Features in ascending order; those after `size` are 0.
struct FeatureSet {
  std::array<std::uint32_t, kMostTermFeatures> features{};
  std::size_t size = 0;

  // The position of a feature, or of the first larger one.
  std::size_t axis_of(std::uint32_t feature) const noexcept {
    std::size_t axis = 0;
    while (axis < size && features[axis] < feature) ++axis;
    return axis;
  }
  bool has(std::uint32_t feature) const noexcept {
    const std::size_t axis = axis_of(feature);
    return axis < size && features[axis] == feature;
  }
  bool operator==(const FeatureSet& other) const noexcept {
    return size == other.size && features == other.features;
  }
  // Smaller sets come first.
  bool operator<(const FeatureSet& other) const noexcept {
    return size != other.size ? size < other.size : features < other.features;
  }
};

// The rows whose codes of some features are in these sets.
struct LeafBox {
  FeatureSet set;
  std::array<CodeSet, kMostTermFeatures> codes;  // by axis of the set

  // Keeps the rows whose code of a feature is in `allowed`; returns whether there was room for it.
  bool restrict(std::uint32_t feature, const CodeSet& allowed) noexcept {
    const std::size_t axis = set.axis_of(feature);
    if (axis < set.size && set.features[axis] == feature) {
      for (std::size_t w = 0; w < allowed.bits.size(); ++w) codes[axis].bits[w] &= allowed.bits[w];
      return true;
    }
    if (set.size == kMostTermFeatures) return false;
    for (std::size_t a = set.size; a > axis; --a) {
      set.features[a] = set.features[a - 1];
      codes[a] = codes[a - 1];
    }
    set.features[axis] = feature;
    codes[axis] = allowed;
    ++set.size;
    return true;
  }
};

// The codes of a feature that take neither branch of a split.
inline CodeSet find_neither(const Tree& nodes, std::size_t node, const Bins& bins) noexcept {
  CodeSet neither;
  const auto width =
      static_cast<std::size_t>(bins[static_cast<std::size_t>(nodes.feature[node])].width());
  for (std::size_t c = 0; c < width; ++c) {
    const auto code = static_cast<std::uint8_t>(c);
    if (!nodes.goes_left[node].has(code) && !nodes.goes_right[node].has(code)) neither.insert(c);
  }
  return neither;
}

// Calls visit(node, box) for each node of a tree where rows end: its leaves, and splits that have
// codes on neither side.  Returns whether every path had room in a box.
template <class Visit>
bool visit_boxes(const Forest& forest, std::size_t tree, const Bins& bins, const Visit& visit) {
  const Tree& nodes = forest.nodes;
  const std::size_t root = forest.roots[tree], end = forest.roots[tree + 1];
  std::vector<LeafBox> boxes(end - root);
  for (std::size_t node = root; node < end; ++node) {  // parents come before their children
    const LeafBox& box = boxes[node - root];
    if (nodes.is_leaf(node)) {
      visit(node, box);
      continue;
    }
    const auto feature = static_cast<std::uint32_t>(nodes.feature[node]);
    const CodeSet neither = find_neither(nodes, node, bins);
    if (!(neither == CodeSet{})) {
      LeafBox stays = box;
      if (!stays.restrict(feature, neither)) return false;
      visit(node, stays);
    }
    const auto left = static_cast<std::size_t>(nodes.left[node]);
    for (const bool right : {false, true}) {
      LeafBox child = box;
      if (!child.restrict(feature, right ? nodes.goes_right[node] : nodes.goes_left[node])) {
        return false;
      }
      boxes[left + (right ? 1 : 0)] = child;
    }
  }
  return true;
}

}  // namespace properboost
