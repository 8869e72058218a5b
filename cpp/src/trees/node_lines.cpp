#include "properboost/trees/node_lines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/packed_codes.hpp"

namespace properboost {

void NodeLines::append(const NodeLines& other) {
  if (other.empty()) return;
  if (empty()) offsets.push_back(0);
  const std::int64_t before = offsets.back();
  for (std::size_t k = 1; k < other.offsets.size(); ++k) {
    offsets.push_back(before + other.offsets[k]);
  }
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(feature, other.feature);
  add(slope, other.slope);
  add(center, other.center);
  add(mean, other.mean);
}

NodeLines NodeLines::part(std::size_t first, std::size_t last) const {
  NodeLines lines;
  for (std::size_t k = first; k <= last; ++k) lines.offsets.push_back(offsets[k] - offsets[first]);
  const auto take = [&](const auto& from, auto& to) {
    to.assign(from.begin() + offsets[first], from.begin() + offsets[last]);
  };
  take(feature, lines.feature);
  take(slope, lines.slope);
  take(center, lines.center);
  take(mean, lines.mean);
  return lines;
}

void NodeLines::resize(std::size_t n) {
  if (empty()) return;
  offsets.resize(n + 1);
  const auto terms = static_cast<std::size_t>(offsets.back());
  feature.resize(terms);
  slope.resize(terms);
  center.resize(terms);
  mean.resize(terms);
}

std::vector<LineTable> tabulate(const NodeLines& lines, const Bins& bins) {
  std::vector<LineTable> tables(lines.feature.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const FeatureBins& feature = bins[static_cast<std::size_t>(lines.feature[t])];
    const auto width = static_cast<std::size_t>(feature.width());
    vectorized([=, z = feature.positions(), slope = lines.slope[t], center = lines.center[t],
                to = tables[t].data()] {
      float* const __restrict table = to;
      for (std::size_t b = 0; b < width; ++b) {
        const double added = slope * (z[b] - center);
        table[b] = static_cast<float>(z[b] == z[b] ? added : 0.0);
      }
    });
  }
  return tables;
}

namespace {

// Some terms of a node, and as many others that add 0 as make their number that of every node: then
// no branch of a loop over rows depends on it.
template <std::size_t kTerms>
struct PaddedTerms {
  std::array<std::uint32_t, kTerms> feature{}, table{};
};

// Adds terms of each node from the first-th on; the last table is of zeros.
template <std::size_t kTerms>
void add_terms(const NodeLines& lines, const std::vector<LineTable>& tables, std::size_t first,
               const PackedCodes& packed, const std::uint8_t* node_of_row, std::size_t rows,
               float* out, Team& team) {
  std::vector<PaddedTerms<kTerms>> nodes(lines.offsets.size() - 1);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    nodes[node].table.fill(static_cast<std::uint32_t>(tables.size() - 1));
    for (std::size_t k = 0; k < kTerms; ++k) {
      const std::size_t t = lines.begin(node) + first + k;
      if (t >= lines.end(node)) break;
      nodes[node].feature[k] = static_cast<std::uint32_t>(lines.feature[t]);
      nodes[node].table[k] = static_cast<std::uint32_t>(t);
    }
  }
  constexpr std::size_t kRows = 1024;
  const double nanoseconds = 4.0 * static_cast<double>(rows);
  team.for_each((rows + kRows - 1) / kRows, nanoseconds, [&](std::size_t c) {
    for (std::size_t i = c * kRows; i < std::min((c + 1) * kRows, rows); ++i) {
      const std::uint8_t* const code = packed.row(i);
      const PaddedTerms<kTerms>& terms = nodes[node_of_row[i]];
      float sum = out[i];
      for (std::size_t k = 0; k < kTerms; ++k)
        sum += tables[terms.table[k]][code[terms.feature[k]]];
      out[i] = sum;
    }
  });
}

}  // namespace

void evaluate(const NodeLines& lines, const PackedCodes& packed, const Bins& bins,
              const std::uint8_t* nodes, std::size_t rows, float* out, Team& team) {
  std::vector<LineTable> tables = tabulate(lines, bins);
  tables.emplace_back(LineTable{});
  std::size_t most = 0;  // terms of a node
  for (std::size_t node = 0; node + 1 < lines.offsets.size(); ++node) {
    most = std::max(most, lines.end(node) - lines.begin(node));
  }
  std::fill_n(out, rows, 0.0F);
  constexpr std::size_t kTogether = 4;
  for (std::size_t first = 0; first < most; first += kTogether) {
    const auto add = [&](auto terms) {
      add_terms<terms>(lines, tables, first, packed, nodes, rows, out, team);
    };
    switch (most - first) {
      case 1: add(std::integral_constant<std::size_t, 1>{}); break;
      case 2: add(std::integral_constant<std::size_t, 2>{}); break;
      case 3: add(std::integral_constant<std::size_t, 3>{}); break;
      default: add(std::integral_constant<std::size_t, kTogether>{}); break;
    }
  }
}

}  // namespace properboost
