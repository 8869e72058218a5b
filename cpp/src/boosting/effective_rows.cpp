#include "properboost/boosting/effective_rows.hpp"

#include <algorithm>
#include <array>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/row_sums.hpp"

namespace properboost {
namespace {

// In many lanes the mean and the mean square of the boosting weight need no more rows of a segment:
// they are off by some percent, in all features alike.
constexpr std::size_t kEnough = 1024;

using Sums = std::array<double, kMostLanes>;

// Adds up the weights of every so-manieth row, and their squares; returns the rows' sample weight.
template <std::size_t W>
double add_some_rows(std::size_t begin, std::size_t end, std::size_t stride, RowSampleWeights given,
                     const float* weight, Sums& sum, Sums& squares) {
  double seen = 0.0;
  vectorized([&] {
    for (std::size_t i = begin; i < end; i += stride) {
      const double s = given[i];  // which the kept weights contain
      seen += s;
      for (std::size_t k = 0; k < W; ++k) {
        const auto w = static_cast<double>(weight[i * W + k]);
        sum[k] += w;
        squares[k] += w * w / s;
      }
    }
  });
  return seen;
}

}  // namespace

EffectiveRowCount::EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                                     const ModelBatch& batch)
    : rows_(rows), weights_(weights), batch_(batch) {}

void EffectiveRowCount::set(Units& units, double most_weight) const {
  units.weights.set(0, most_weight, rows_.sample_weight, rows_.totals.all);
  units.squares.set(0, most_weight * most_weight, rows_.sample_weight, rows_.totals.all);
}

bool EffectiveRowCount::are_in_units_of(double most_weight) const {
  Units units;
  set(units, most_weight);
  const auto are_same = [](const TermUnits& a, const TermUnits& b) {
    return a.of(0).unit == b.of(0).unit;
  };
  return lost_[0] == 0.0 && lost_[1] == 0.0 && are_same(units.weights, units_.weights) &&
         are_same(units.squares, units_.squares);
}

void EffectiveRowCount::sum(const std::vector<AccumulationBlock>& blocks, double most_weight,
                            Share& share, Team& team) {
  const BatchMargins& margins = *batch_.margins;
  if (margins.lanes() > 1) return;
  units_ = Units();  // what once was lost may be found
  set(units_, most_weight);
  struct Part {
    WholeSums sum{}, squares{};
  };
  std::vector<Part> parts(blocks.size());
  const double nanoseconds = 0.5 * static_cast<double>(count_rows(blocks));
  team.for_each(blocks.size(), nanoseconds, [&](std::size_t c) {
    for (const auto& [begin, end] : blocks[c].ranges) {
      vectorized([&, n = end - begin, s = rows_.sample_weight.from(begin),
                  weight = margins.weight() + begin] {
        add_rows<1>(n, s, units_.weights, parts[c].sum,
                    [=](std::size_t i) { return wide(weight[i]); });
        add_rows<1>(n, s, units_.squares, parts[c].squares,
                    [=](std::size_t i) { return wide(weight[i]) * wide(weight[i]); });
      });
    }
  });
  weights_of_class_ = squares_of_class_ = {};
  for (std::size_t c = 0; c < blocks.size(); ++c) {
    const std::size_t own = blocks[c].roles->positive(0) ? 1 : 0;
    weights_of_class_[own] += parts[c].sum[0];
    squares_of_class_[own] += parts[c].squares[0];
  }
  share.sum(weights_of_class_.data(), weights_of_class_.size());
  share.sum(squares_of_class_.data(), squares_of_class_.size());
  units_.weights.share(share, lost_[0]);
  units_.squares.share(share, lost_[1]);
}

double EffectiveRowCount::rows_of(double sum, double squares) const {
  return squares > 0.0 ? weights_.unscaled(sum * (sum / squares)) : 0.0;
}

std::vector<EffectiveRows> EffectiveRowCount::count() const {
  const std::vector<std::size_t>& segments = rows_.codes.segments;
  const std::size_t lanes = batch_.margins->lanes();
  if (lanes == 1) {
    units_.weights.lose_if(lost_[0]);  // what any process has lost is lost to all
    units_.squares.lose_if(lost_[1]);
    const auto of = [&](std::size_t own) {
      return rows_of(units_.weights.value(0, weights_of_class_[own]),
                     units_.squares.value(0, squares_of_class_[own]));
    };
    return {{of(1), of(0)}};
  }
  Sums positive{}, negative{}, positive_squares{}, negative_squares{};
  for (std::size_t s = 0; s < batch_.roles.size(); ++s) {
    const SegmentRoles& roles = batch_.roles[s];
    const std::size_t n = segments[s + 1] - segments[s];
    if (!roles.trains || n == 0) continue;
    const std::size_t stride = (n + kEnough - 1) / kEnough;
    Sums sum{}, squares{};
    const double seen = visit_width(lanes, [&](auto width) {
      return add_some_rows<width>(segments[s], segments[s + 1], stride, rows_.sample_weight,
                                  batch_.margins->weight(), sum, squares);
    });
    const double scale = rows_.totals.of_segment[s] / seen;
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!roles.trained[k]) continue;
      (roles.positive(k) ? positive : negative)[k] += scale * sum[k];
      (roles.positive(k) ? positive_squares : negative_squares)[k] += scale * squares[k];
    }
  }
  std::vector<EffectiveRows> rows(lanes);
  for (std::size_t k = 0; k < lanes; ++k) {
    rows[k] = {rows_of(positive[k], positive_squares[k]),
               rows_of(negative[k], negative_squares[k])};
  }
  return rows;
}

}  // namespace properboost
