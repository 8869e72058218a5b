#include "properboost/trees/tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "properboost/trees/tree_bits.hpp"

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

template <class Number>
void find_nodes(const Tree& tree, const Codes& codes, Number* nodes, Team& team) {
  const std::size_t n = codes.rows;
  std::vector<std::size_t> used;  // features
  for (const std::int32_t f : tree.feature) {
    if (f != Tree::kLeaf) used.push_back(static_cast<std::size_t>(f));
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  constexpr std::size_t kRows = TreeBits::kRows;
  TreeBits bits;
  if (n >= kRows) {  // which repay making them
    bits = TreeBits(tree, 0, tree.size(), [&](std::size_t f) {
      const auto column = std::lower_bound(used.begin(), used.end(), f) - used.begin();
      return TreeBits::Feature{kMaxCodes, static_cast<std::size_t>(column)};
    });
  }
  team.for_each((n + kRows - 1) / kRows, 5.0 * static_cast<double>(n), [&](std::size_t c) {
    const std::size_t begin = c * kRows, rows = std::min(kRows, n - begin);
    if (!bits.usable()) {
      for (std::size_t i = begin; i < begin + rows; ++i) {
        nodes[i] =
            static_cast<Number>(tree.find_node([&](std::size_t f) { return codes.feature(f)[i]; }));
      }
      return;
    }
    std::vector<std::uint8_t> tile(std::max<std::size_t>(used.size(), 1) * kRows);
    for (std::size_t k = 0; k < used.size(); ++k) {
      std::copy_n(codes.feature(used[k]) + begin, rows, tile.data() + k * kRows);
    }
    std::array<std::uint8_t, kRows> places;
    bits.find(tile.data(), places.data());
    for (std::size_t i = 0; i < rows; ++i) {
      nodes[begin + i] = static_cast<Number>(bits.node(places[i]));
    }
  });
}

template void find_nodes(const Tree&, const Codes&, std::uint8_t*, Team&);
template void find_nodes(const Tree&, const Codes&, std::int64_t*, Team&);

}  // namespace properboost
