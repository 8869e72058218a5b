#include "properboost/trees/tree.hpp"

#include <algorithm>
#include <cstddef>

namespace properboost {

void Tree::add_leaf() {
  feature.push_back(kLeaf);
  left.push_back(0);
  goes_left.emplace_back();
  goes_right.emplace_back();
  cell.push_back(Cell{});
  saving.push_back(0.0);
}

void Tree::append(const Tree& other) {
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(feature, other.feature);
  add(left, other.left);
  add(goes_left, other.goes_left);
  add(goes_right, other.goes_right);
  add(cell, other.cell);
  add(saving, other.saving);
}

Tree Tree::part(std::size_t begin, std::size_t end) const {
  Tree found;
  const auto take = [&](const auto& from, auto& to) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  take(feature, found.feature);
  take(left, found.left);
  take(goes_left, found.goes_left);
  take(goes_right, found.goes_right);
  take(cell, found.cell);
  take(saving, found.saving);
  return found;
}

void Tree::resize(std::size_t n) {
  feature.resize(n);
  left.resize(n);
  goes_left.resize(n);
  goes_right.resize(n);
  cell.resize(n);
  saving.resize(n);
}

void find_nodes(const Tree& tree, const std::uint8_t* codes, std::size_t n, std::int64_t* nodes,
                Team& team) {
  constexpr std::size_t kRows = 1024;
  team.for_each((n + kRows - 1) / kRows, 20.0 * static_cast<double>(n), [&](std::size_t c) {
    for (std::size_t i = c * kRows; i < std::min((c + 1) * kRows, n); ++i) {
      nodes[i] = static_cast<std::int64_t>(
          tree.find_node([&](std::size_t f) { return codes[f * n + i]; }));
    }
  });
}

}  // namespace properboost
