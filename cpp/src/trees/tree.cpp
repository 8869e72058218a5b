#include "properboost/trees/tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "properboost/core/parallel.hpp"
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
  Tree tree;
  const auto take = [&](const auto& from, auto& to) {
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  take(feature, tree.feature);
  take(left, tree.left);
  take(goes_left, tree.goes_left);
  take(goes_right, tree.goes_right);
  take(cell, tree.cell);
  take(saving, tree.saving);
  return tree;
}

void Tree::resize(std::size_t n) {
  feature.resize(n);
  left.resize(n);
  goes_left.resize(n);
  goes_right.resize(n);
  cell.resize(n);
  saving.resize(n);
}

namespace {

// Where a tree sends the codes of a tile's columns, node by node.
class Steps {
 public:
  template <class ColumnOf>
  Steps(const Tree& tree, const ColumnOf& column_of)
      : column_(tree.size(), 0), next_(tree.size() * kMaxCodes) {
    for (std::size_t node = 0; node < tree.size(); ++node) {
      std::uint32_t* const next = next_.data() + node * kMaxCodes;
      std::fill_n(next, kMaxCodes, static_cast<std::uint32_t>(node));
      if (tree.is_leaf(node)) continue;
      const std::size_t column = column_of(static_cast<std::size_t>(tree.feature[node]));
      column_[node] = static_cast<std::uint32_t>(column * TreeBits::kRows);
      const auto left = static_cast<std::uint32_t>(tree.left[node]);
      for (std::size_t b = 0; b < kMaxCodes; ++b) {
        const auto code = static_cast<std::uint8_t>(b);
        if (tree.goes_left[node].has(code)) next[b] = left;
        if (tree.goes_right[node].has(code)) next[b] = left + 1;
      }
    }
  }

  // Takes all rows of a tile from the root to where they stay, a step each at a time, so that none
  // waits for another.
  void walk(const std::uint8_t* tile, std::uint32_t* nodes) const {
    std::fill_n(nodes, TreeBits::kRows, std::uint32_t{0});
    for (bool any = true; any;) {
      any = false;
      for (std::size_t i = 0; i < TreeBits::kRows; ++i) {
        const std::size_t node = nodes[i];
        nodes[i] = next_[node * kMaxCodes + tile[column_[node] + i]];
        any |= nodes[i] != node;
      }
    }
  }

 private:
  std::vector<std::uint32_t> column_, next_;
};

}  // namespace

template <class Number>
void find_nodes(const Tree& tree, const Codes& codes, const Bins* bins, Number* nodes, Team& team) {
  const std::size_t n = codes.rows;
  std::vector<std::size_t> used;  // features
  for (const std::int32_t f : tree.feature) {
    if (f != Tree::kLeaf) used.push_back(static_cast<std::size_t>(f));
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto column_of = [&used](std::size_t f) {
    return static_cast<std::size_t>(std::lower_bound(used.begin(), used.end(), f) - used.begin());
  };
  constexpr std::size_t kRows = TreeBits::kRows;
  // Columns are read where they lie, but for those of sparse features.
  const bool in_place =
      std::none_of(used.begin(), used.end(), [&](std::size_t f) { return codes.is_sparse(f); });
  const auto place_of = [&codes](std::size_t f) {
    return codes.sparse.any() ? static_cast<std::size_t>(codes.sparse.place[f]) : f;
  };
  TreeBits bits;
  std::optional<Steps> steps;
  if (n >= kRows) {  // which repay making them
    bits = TreeBits(tree, 0, tree.size(), [&](std::size_t f) {
      const std::size_t width =
          bins == nullptr ? kMaxCodes : static_cast<std::size_t>((*bins)[f].width());
      return TreeBits::Feature{width, in_place ? place_of(f) : column_of(f)};
    });
    // Sets of categories are many ranges: their rows walk faster than a tile evaluates each range.
    constexpr std::size_t kMany = 256;
    if (!bits.usable() || bits.conditions() > kMany) steps.emplace(tree, column_of);
  }
  const double nanoseconds = 5.0 * static_cast<double>(n);
  team.for_each((n + kRows - 1) / kRows, nanoseconds, [&](std::size_t c) {
    const std::size_t begin = c * kRows, rows = std::min(kRows, n - begin);
    if (n < kRows) {
      for (std::size_t i = 0; i < rows; ++i) {
        nodes[i] = static_cast<Number>(tree.find_node([&](std::size_t f) {
          std::uint8_t code = 0;
          lay_out(codes, f, i, i + 1, &code);
          return code;
        }));
      }
      return;
    }
    std::array<std::uint8_t, kRows> places;
    if (in_place && !steps) {
      const std::size_t first = std::min(begin, n - kRows);  // of kRows rows, whatever is left
      bits.find(codes.data + first, n, places.data());
      for (std::size_t i = 0; i < rows; ++i) {
        nodes[begin + i] = static_cast<Number>(bits.node(places[begin - first + i]));
      }
      return;
    }
    std::vector<std::uint8_t> tile(std::max<std::size_t>(used.size(), 1) * kRows);
    for (std::size_t k = 0; k < used.size(); ++k) {
      lay_out(codes, used[k], begin, begin + rows, tile.data() + k * kRows);
    }
    if (steps) {
      std::array<std::uint32_t, kRows> reached;
      steps->walk(tile.data(), reached.data());
      for (std::size_t i = 0; i < rows; ++i) nodes[begin + i] = static_cast<Number>(reached[i]);
      return;
    }
    bits.find(tile.data(), kRows, places.data());
    for (std::size_t i = 0; i < rows; ++i) {
      nodes[begin + i] = static_cast<Number>(bits.node(places[i]));
    }
  });
}

template void find_nodes(const Tree&, const Codes&, const Bins*, std::uint8_t*, Team&);
template void find_nodes(const Tree&, const Codes&, const Bins*, std::int64_t*, Team&);

}  // namespace properboost
