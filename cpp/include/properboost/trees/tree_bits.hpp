// Trees as bits: the nodes of many rows at once, without a branch.
//
// Every node's condition is evaluated for all rows of a tile, and each row has a byte of bits, of
// which the condition clears those that it rules out.  There are two kinds of bits:
//
// - *Answers*, where the tree has at most eight different questions, like one that splits whole
//   levels.  A bit is an answer, and the byte looks up the node.
// - *Ends*, elsewhere.  A bit is a place where a row may end: a leaf, or a split with codes on
//   neither side.  They are in such an order that the row ends at the first that is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/data/tiles.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class TreeBits {
 public:
  static constexpr std::size_t kRows = Tile::kRows;
  // A feature's codes: those from `below` on do not occur, and the codes are in that column of a
  // tile.
  struct Feature {
    std::size_t below, column;
  };
  using FeatureOf = std::function<Feature(std::size_t)>;

  TreeBits() = default;
  // The tree is that of the nodes from `root` to `end`.
  TreeBits(const Tree& nodes, std::size_t root, std::size_t end, const FeatureOf& feature_of);

  // Whether a row's place is a byte; not where there are more than 256, or nodes share a child.
  bool usable() const noexcept { return !node_.empty(); }
  // The places where a row may be, and the node of each, from 0 at the root.
  std::size_t size() const noexcept { return node_.size(); }
  std::size_t node(std::uint8_t place) const noexcept { return node_[place]; }

  // How many conditions are evaluated for all rows of a tile.
  std::size_t conditions() const noexcept { return conditions_.size(); }

  // Writes the places of kRows rows; codes[column * stride + i] is row i's.
  void find(const std::uint8_t* codes, std::size_t stride, std::uint8_t* places) const;

  // Whether a row can be walked down the tree: no split has codes on neither side, nor more than
  // one range of them.  A few rows are walked faster than a whole tile is evaluated.
  bool walkable() const noexcept { return !steps_.empty(); }
  // The node, from 0 at the root, of the row whose codes are codes[column * kRows].
  std::size_t walk(const std::uint8_t* codes) const noexcept {
    std::size_t node = 0;
    while (steps_[node].left != 0) {
      const Step& step = steps_[node];
      const auto place = static_cast<std::uint8_t>(codes[step.begin] - step.right.first);
      node = step.left + (place < step.right.size ? 1u : 0u);
    }
    return node;
  }

 private:
  static constexpr std::size_t kMostPlaces = 256, kBits = 8;

  struct Range {
    std::uint8_t first, size;

    bool operator==(const Range& other) const noexcept {
      return first == other.first && size == other.size;
    }
  };
  // The bits that are left to rows whose codes are in a range.
  struct Condition {
    std::uint32_t column;
    Range range;
    std::uint8_t left;
  };
  // A node's left child, 0 if it is a leaf, and the codes that go to the next one.
  struct Step {
    std::uint32_t begin;  // of the column
    Range right;
    std::uint8_t left;
  };
  struct Question {
    std::size_t feature;
    std::vector<Range> ranges;

    bool operator==(const Question& other) const {
      return feature == other.feature && ranges == other.ranges;
    }
  };
  struct Questions;

  bool set_answers(const Questions& tree_questions);
  void set_ends(const Questions& tree_questions);
  void set_steps(const Questions& tree_questions);
  void find_in_vectors(const std::uint8_t* codes, std::size_t stride, std::uint8_t* places) const;
  std::vector<Condition> conditions_;  // byte by byte
  std::vector<std::uint32_t> ends_;    // of each byte's conditions
  bool are_answers_ = false;
  std::vector<std::uint8_t> node_;  // by place
  std::vector<Step> steps_;         // by node
};

}  // namespace properboost
