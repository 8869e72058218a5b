#include "properboost/boosting/effective_rows.hpp"

#include <algorithm>
#include <array>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/instruction_set.hpp"

namespace properboost {
namespace {

// The mean and the mean square of the boosting weight need no more rows of a segment: they are off
// by some percent, in all features alike.
constexpr std::size_t kEnough = 1024;

using Sums = std::array<double, kMostLanes>;

// Adds up the weights of every so-manieth row, and their squares; returns the rows' sample weight.
template <std::size_t W>
double add_rows(std::size_t begin, std::size_t end, std::size_t stride, RowSampleWeights given,
                const float* weight, Sums& sum, Sums& squares) {
  double seen = 0.0;
  vectorized([&] {
    for (std::size_t i = begin; i < end; i += stride) {
      const double s = given[i];
      // In more than one lane the kept weights contain the sample weight.
      const double once = W > 1 ? 1.0 : s, twice = W > 1 ? 1.0 / s : s;
      seen += s;
      for (std::size_t k = 0; k < W; ++k) {
        const auto w = static_cast<double>(weight[i * W + k]);
        sum[k] += once * w;
        squares[k] += twice * (w * w);
      }
    }
  });
  return seen;
}

}  // namespace

EffectiveRowCount::EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                                     const ModelBatch& batch)
    : rows_(rows), weights_(weights), batch_(batch) {
  const std::vector<std::size_t>& segments = rows.codes.segments;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    segment_weight_.push_back(rows.sample_weight.sum(segments[s], segments[s + 1]));
  }
}

std::vector<EffectiveRows> EffectiveRowCount::count() const {
  const std::vector<std::size_t>& segments = rows_.codes.segments;
  const std::size_t lanes = batch_.margins->lanes();
  Sums positive{}, negative{}, positive_squares{}, negative_squares{};
  for (std::size_t s = 0; s < batch_.roles.size(); ++s) {
    const SegmentRoles& roles = batch_.roles[s];
    const std::size_t n = segments[s + 1] - segments[s];
    if (!roles.trains || n == 0) continue;
    const std::size_t stride = (n + kEnough - 1) / kEnough;
    Sums sum{}, squares{};
    const double seen = visit_width(lanes, [&](auto width) {
      return add_rows<width>(segments[s], segments[s + 1], stride, rows_.sample_weight,
                             batch_.margins->weight(), sum, squares);
    });
    const double scale = segment_weight_[s] / seen;
    for (std::size_t k = 0; k < lanes; ++k) {
      positive[k] += roles.positive[k] * scale * sum[k];
      negative[k] += roles.negative[k] * scale * sum[k];
      positive_squares[k] += roles.positive[k] * scale * squares[k];
      negative_squares[k] += roles.negative[k] * scale * squares[k];
    }
  }
  std::vector<EffectiveRows> rows(lanes);
  const auto of = [&](double sum, double squares) {
    return squares > 0.0 ? weights_.unscaled(sum * (sum / squares)) : 0.0;
  };
  for (std::size_t k = 0; k < lanes; ++k) {
    rows[k] = {of(positive[k], positive_squares[k]), of(negative[k], negative_squares[k])};
  }
  return rows;
}

}  // namespace properboost
