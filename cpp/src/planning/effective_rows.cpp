#include "properboost/planning/effective_rows.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {

EffectiveRowCount::EffectiveRowCount(const TrainingRows& rows, const SampleWeights& weights,
                                     const ModelBatch& batch)
    : rows_(rows), weights_(weights), batch_(batch) {}

void EffectiveRowCount::set(Units& units, const Most& most_weight) const {
  for (std::size_t k = 0; k < batch_.models.size(); ++k) {
    const double most = most_weight[k];
    units.weights.set(k, most, rows_.sample_weight, rows_.totals.all);
    // With one label, a row with soft labels may weigh more: up to 1.
    const double square = batch_.further.any() ? std::max(most, most * most) : most * most;
    units.squares.set(k, square, rows_.sample_weight, rows_.totals.all);
    if (!batch_.further.any()) continue;
    units.weights.set(k + batch_.further.against, most, rows_.sample_weight, rows_.totals.all);
    units.squares.set(k + batch_.further.against, square, rows_.sample_weight, rows_.totals.all);
  }
}

bool EffectiveRowCount::are_in_units_of(double most_weight) const {
  Units units;
  set(units, {most_weight});
  return lost_[0][0] == 0.0 && lost_[1][0] == 0.0 && units.weights.same(0, units_.weights) &&
         units.squares.same(0, units_.squares);
}

void EffectiveRowCount::sum(const std::vector<AccumulationBlock>& blocks, const Most& most_weight,
                            AllReduce& all_reduce, Team& team) {
  const BatchMargins& margins = *batch_.margins;
  summed_.reset();
  units_ = Units();  // a sum that was lost once may fit now
  set(units_, most_weight);
  struct Part {
    WholeSums sum{}, squares{};
  };
  std::vector<Part> parts(blocks.size());
  const float* const shares = margins.shares();
  // Few rows at a time, so that the second sum reads their numbers from the cache.
  const auto add_shared = [&](auto set, std::size_t first, std::size_t last, auto& weights,
                              auto& squares) {
    constexpr std::size_t kRows = 256;
    for (std::size_t begin = first; begin < last; begin += kRows) {
      const std::size_t n = std::min(kRows, last - begin);
      const RowSampleWeights s = rows_.sample_weight.from(begin);
      const float* const weight = margins.weight() + begin * margins.lanes();
      const float* const share = shares + begin * margins.lanes();
      weights.add(set, n, s, [=](std::size_t i) { return wide(weight[i]); });
      squares.add(set, n, s, [=](std::size_t i) {
        return square_by_share(wide(weight[i]), weight[i], share[i]);
      });
    }
  };
  const double nanoseconds =
      0.5 * static_cast<double>(count_rows(blocks)) * static_cast<double>(margins.lanes());
  visit_width(margins.lanes(), [&](auto width) {
    constexpr std::size_t W = decltype(width)::value;
    team.for_each(blocks.size(), nanoseconds, [&](std::size_t c) {
      vectorized([&](auto set) {
        RowAdder<W, Signs::kPositive> weights(units_.weights), squares(units_.squares);
        for (const auto& [begin, end] : blocks[c].ranges) {
          if (shares != nullptr) {
            add_shared(set, begin, end, weights, squares);
            continue;
          }
          const RowSampleWeights s = rows_.sample_weight.from(begin);
          const float* const weight = margins.weight() + begin * W;
          weights.add(set, end - begin, s, [=](std::size_t i) { return wide(weight[i]); });
          squares.add(set, end - begin, s,
                      [=](std::size_t i) { return wide(weight[i]) * wide(weight[i]); });
        }
        const std::array<bool, kMostLanes>& trained = blocks[c].roles->trained;
        weights.add_to(parts[c].sum, &trained);
        squares.add_to(parts[c].squares, &trained);
      });
    });
  });
  weights_of_class_ = squares_of_class_ = {};
  for (std::size_t c = 0; c < blocks.size(); ++c) {
    for (std::size_t k = 0; k < batch_.models.size(); ++k) {
      if (!blocks[c].roles->trained[k]) continue;
      const std::size_t label = blocks[c].roles->positive(k) ? 1 : 0;
      weights_of_class_[label][k] += parts[c].sum[k];
      squares_of_class_[label][k] += parts[c].squares[k];
      if (!batch_.further.any()) continue;
      const std::size_t against = k + batch_.further.against;
      weights_of_class_[0][k] += parts[c].sum[against];
      squares_of_class_[0][k] += parts[c].squares[against];
    }
  }
  for (auto* const sums : {&weights_of_class_, &squares_of_class_}) {
    for (WholeSums& class_sums : *sums) all_reduce.sum(class_sums.data(), batch_.models.size());
  }
  units_.weights.add_to(all_reduce, lost_[0]);
  units_.squares.add_to(all_reduce, lost_[1]);
}

double EffectiveRowCount::rows_of(double sum, double squares) const {
  return squares > 0.0 ? weights_.unscaled(sum * (sum / squares)) : 0.0;
}

std::vector<EffectiveRows> EffectiveRowCount::count() const {
  units_.weights.lose_if(lost_[0]);  // a sum that any process has lost is lost to all
  units_.squares.lose_if(lost_[1]);
  std::vector<EffectiveRows> rows(batch_.models.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto of = [&](std::size_t label) {
      return rows_of(units_.weights.value(k, weights_of_class_[label][k]),
                     units_.squares.value(k, squares_of_class_[label][k]));
    };
    rows[k] = {of(1), of(0)};
  }
  return rows;
}

}  // namespace properboost
