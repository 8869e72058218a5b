// The lines of trees' nodes, which add to the nodes' values.  See trees/growing/leaf_lines.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/data/binning.hpp"

namespace properboost {

class PackedCodes;
class Team;

// The lines of a tree's nodes, or of several trees', one after the other.
struct NodeLines {
  // Node k has the terms offsets[k] to offsets[k + 1]; empty without nodes.
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> feature;
  // By places between the outer means; `mean` is that of the node's training rows, of which those
  // without a value are at the center.
  std::vector<double> slope, center, mean;

  bool empty() const noexcept { return offsets.empty(); }
  std::size_t begin(std::size_t node) const noexcept {
    return static_cast<std::size_t>(offsets[node]);
  }
  std::size_t end(std::size_t node) const noexcept {
    return static_cast<std::size_t>(offsets[node + 1]);
  }
  void append(const NodeLines& other);
  // Returns those of the nodes from one to before another.
  NodeLines part(std::size_t first, std::size_t last) const;
  // Keeps those of the first n nodes.
  void resize(std::size_t n);
};

// The addition of a term, by code.
using LineTable = std::array<float, kMaxCodes>;
std::vector<LineTable> tabulate(const NodeLines& lines, const Bins& bins);

// Writes the sums of the lines of all rows' nodes.
void evaluate(const NodeLines& lines, const PackedCodes& packed, const Bins& bins,
              const std::uint8_t* nodes, std::size_t rows, float* out, Team& team);

}  // namespace properboost
