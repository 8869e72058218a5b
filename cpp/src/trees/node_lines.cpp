#include "properboost/trees/node_lines.hpp"

#include <algorithm>

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
    const double* const z = bins[static_cast<std::size_t>(lines.feature[t])].positions();
    for (std::size_t b = 0; b < kMaxCodes; ++b) {
      const double added = z[b] == z[b] ? lines.slope[t] * (z[b] - lines.center[t]) : 0.0;
      tables[t][b] = static_cast<float>(added);
    }
  }
  return tables;
}

void evaluate(const NodeLines& lines, const PackedCodes& packed, const Bins& bins,
              const std::uint8_t* nodes, std::size_t rows, float* out, Team& team) {
  const std::vector<LineTable> tables = tabulate(lines, bins);
  constexpr std::size_t kRows = 1024;
  const double nanoseconds = 10.0 * static_cast<double>(rows);
  team.for_each((rows + kRows - 1) / kRows, nanoseconds, [&](std::size_t c) {
    for (std::size_t i = c * kRows; i < std::min((c + 1) * kRows, rows); ++i) {
      const std::uint8_t* const code = packed.row(i);
      float sum = 0.0F;
      for (std::size_t t = lines.begin(nodes[i]); t < lines.end(nodes[i]); ++t) {
        sum += tables[t][code[lines.feature[t]]];
      }
      out[i] = sum;
    }
  });
}

}  // namespace properboost
