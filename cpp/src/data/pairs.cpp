#include "properboost/data/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "properboost/core/aligned.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/histogram/sums.hpp"

namespace properboost {
namespace {

// Features whose joint cells, 16 levels each, are summed with one addition per row and give three
// pairs.
struct Triple {
  std::array<std::size_t, 3> features;
};

std::size_t position(std::size_t a, std::size_t b, std::size_t features) {
  if (a > b) std::swap(a, b);
  return a * features - a * (a + 1) / 2 + (b - a - 1);
}

// Triples that together contain every pair: each takes the next pair that is still missing, and the
// third feature that adds most missing pairs.
std::vector<Triple> cover_pairs(std::size_t features) {
  std::vector<std::uint8_t> covered(features * (features - 1) / 2, 0);
  std::vector<Triple> triples;
  for (std::size_t a = 0; a < features; ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      if (covered[position(a, b, features)] != 0) continue;
      std::size_t third = a;  // with two features there is none
      int most = -1;
      for (std::size_t step = 1; step < features && most < 2; ++step) {
        const std::size_t c = (b + step) % features;  // pairs of later features are still missing
        if (c == a) continue;
        const int missing =
            2 - covered[position(a, c, features)] - covered[position(b, c, features)];
        if (missing > most) {
          most = missing;
          third = c;
        }
      }
      triples.push_back({{a, b, third}});
      covered[position(a, b, features)] = 1;
      if (third == a) continue;
      covered[position(a, third, features)] = 1;
      covered[position(b, third, features)] = 1;
    }
  }
  return triples;
}

// The sums over a cell's rows: the gradient, and its variance.
struct Sums {
  double gradient;
  double variance;
};

constexpr double kBetweenReports = 1e8;  // nanoseconds
constexpr std::size_t kCells = kLevels * kLevels * kLevels;

double find_largest(const float* x, std::size_t n) {
  float largest = 0.0F;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return static_cast<double>(largest);
}

// A joint cell of three features that has rows.
struct JointCell {
  std::array<std::size_t, 3> levels;
  Sums sums;
};

// Adds up the joint cells of three features.
//
// Few of the cells have rows where rows are few.  So the cells with rows are marked, and only these
// are read and set back to 0 for the next three features.
class JointCellAdder {
 public:
  // The cells that have rows; the n rows' numbers are in whole units.
  std::vector<JointCell> add_up(const Triple& triple, const std::uint8_t* levels,
                                const RowSums<true>* rows, std::size_t n, const CellUnits& units) {
    std::vector<JointCell> cells;
    cells.reserve(std::min(n, kCells));
    const std::uint8_t* const a = levels + triple.features[0] * n;
    const std::uint8_t* const b = levels + triple.features[1] * n;
    const std::uint8_t* const c = levels + triple.features[2] * n;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cell = a[i] + kLevels * (b[i] + kLevels * c[i]);
      has_rows_[cell] = 1;
      whole_[cell] += rows[i];
    }
    const auto find_next = [&](std::size_t k) {
      const void* const next = std::memchr(has_rows_.data() + k, 1, kCells - k);
      if (next == nullptr) return kCells;
      return static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - has_rows_.data());
    };
    for (std::size_t k = find_next(0); k < kCells; k = find_next(k + 1)) {
      const RowSums<true> sums = std::exchange(whole_[k], {});
      has_rows_[k] = 0;
      const std::int64_t of_gradient = sums.weight(0), of_variance = sums.curvature(0);
      if (of_gradient == 0 && of_variance == 0) continue;
      cells.push_back({{k % kLevels, k / kLevels % kLevels, k / (kLevels * kLevels)},
                       {units.weight.value(of_gradient), units.curvature.value(of_variance)}});
    }
    return cells;
  }

 private:
  Aligned<RowSums<true>> whole_ = Aligned<RowSums<true>>(kCells);
  std::array<std::uint8_t, kCells> has_rows_{};
};

// Adds or subtracts the distance of n cells from the model's expectation.
void count(const Sums* cells, std::size_t n, double scale, double sign, Interaction& in) {
  for (std::size_t i = 0; i < n; ++i) {
    const Sums& cell = cells[i];
    if (!(cell.variance > 0.0)) continue;
    in.chi_square += sign * (scale * cell.gradient * cell.gradient / cell.variance);
    in.freedom += sign;
  }
}

// The interaction of the x-th and the y-th feature of a triple, whose levels are below `levels`.
Interaction find_interaction(const std::vector<JointCell>& joint, std::size_t x, std::size_t y,
                             std::size_t levels, double scale) {
  std::array<Sums, kLevels * kLevels> cells;
  std::array<Sums, kLevels> rows, columns;
  std::fill_n(cells.begin(), levels * levels, Sums{});
  std::fill_n(rows.begin(), levels, Sums{});
  std::fill_n(columns.begin(), levels, Sums{});
  for (const JointCell& cell : joint) {
    const std::size_t row = cell.levels[x], column = cell.levels[y];
    for (Sums* sum : {&cells[row * levels + column], &rows[row], &columns[column]}) {
      sum->gradient += cell.sums.gradient;
      sum->variance += cell.sums.variance;
    }
  }
  Interaction interaction{0.0, 1.0};
  count(cells.data(), levels * levels, scale, 1.0, interaction);
  count(rows.data(), levels, scale, -1.0, interaction);
  count(columns.data(), levels, scale, -1.0, interaction);
  return interaction;
}

}  // namespace

void encode_pairs(const std::vector<FeaturePair>& pairs, const std::uint8_t* codes, std::size_t n,
                  std::uint8_t* out, Team& team) {
  constexpr std::size_t kRows = RowBlock::kRows;
  const std::size_t blocks = (n + kRows - 1) / kRows;
  team.for_each(pairs.size() * blocks, 1.0 * static_cast<double>(pairs.size() * n),
                [&](std::size_t task) {
                  const std::size_t p = task / blocks;
                  const std::size_t begin = task % blocks * kRows;
                  const std::size_t end = std::min(begin + kRows, n);
                  const FeaturePair& pair = pairs[p];
                  const std::uint8_t* const a = codes + pair.first * n;
                  const std::uint8_t* const b = codes + pair.second * n;
                  for (std::size_t i = begin; i < end; ++i) out[p * n + i] = pair.code(a[i], b[i]);
                });
}

std::vector<Interaction> find_interactions(const std::uint8_t* levels, std::size_t features,
                                           std::size_t n, const float* gradient,
                                           const float* variance, double scale,
                                           const std::function<void()>& progress, Team& team) {
  std::vector<Interaction> interactions(features * (features - 1) / 2);
  const std::vector<Triple> triples = cover_pairs(features);
  // Several triples may hold a pair, and the first one counts.
  std::vector<std::size_t> owner(interactions.size(), triples.size());
  const auto pair_of = [&](const Triple& t, std::size_t x, std::size_t y) {
    return position(t.features[x], t.features[y], features);
  };
  constexpr std::array<std::array<std::size_t, 2>, 3> kPairs = {{{0, 1}, {0, 2}, {1, 2}}};
  for (std::size_t k = 0; k < triples.size(); ++k) {
    for (const auto& [x, y] : kPairs) {
      if (triples[k].features[x] == triples[k].features[y]) continue;
      std::size_t& first = owner[pair_of(triples[k], x, y)];
      first = std::min(first, k);
    }
  }
  const double most = find_largest(gradient, n), most_variance = find_largest(variance, n);
  const auto rows = static_cast<double>(n);
  const CellUnits units{rows * most, rows * most_variance, most, most_variance};
  std::uint8_t last_level = 0;
  for (std::size_t i = 0; i < features * n; ++i) last_level = std::max(last_level, levels[i]);
  const std::size_t most_levels = last_level + std::size_t{1};
  Aligned<RowSums<true>> whole(n);
  for (std::size_t i = 0; i < n; ++i) {
    whole[i] = RowSums<true>(units.weight.round_signed(static_cast<double>(gradient[i])),
                             units.curvature.round(static_cast<double>(variance[i])));
  }
  const double a_triple = static_cast<double>(n) + 2e4;  // nanoseconds
  const std::size_t batch =
      std::max(2 * team.size(), static_cast<std::size_t>(kBetweenReports / a_triple));
  for (std::size_t begin = 0; begin < triples.size(); begin += batch) {
    const std::size_t count = std::min(batch, triples.size() - begin);
    team.for_each(count, a_triple * static_cast<double>(count), [&](std::size_t task) {
      const std::size_t k = begin + task;
      const Triple& triple = triples[k];
      static thread_local JointCellAdder adder;
      const std::vector<JointCell> joint = adder.add_up(triple, levels, whole.data(), n, units);
      for (const auto& [x, y] : kPairs) {
        if (triple.features[x] == triple.features[y]) continue;
        const std::size_t pair = pair_of(triple, x, y);
        if (owner[pair] == k)
          interactions[pair] = find_interaction(joint, x, y, most_levels, scale);
      }
    });
    progress();
  }
  return interactions;
}

}  // namespace properboost
