#include "properboost/booster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "properboost/cells.hpp"
#include "properboost/histogram.hpp"
#include "properboost/margins.hpp"
#include "properboost/selection.hpp"

namespace properboost {
namespace {

// Sample weights as the engine sums them: divided by a power of two near their mean, which changes
// no digit and keeps every product of sums far from overflow and underflow.
struct SampleWeights {
  std::vector<double> scaled;  // empty for ones
  double scale = 1.0;          // weight = scale x scaled
  double total;

  SampleWeights(const double* weight, std::size_t n) : total(static_cast<double>(n)) {
    if (weight == nullptr) return;
    total = std::accumulate(weight, weight + n, 0.0);
    scale = std::exp2(std::round(std::log2(total / static_cast<double>(n))));
    scaled.resize(n);
    for (std::size_t i = 0; i < n; ++i) scaled[i] = weight[i] / scale;
  }

  const double* data() const noexcept { return scaled.empty() ? nullptr : scaled.data(); }
};

void require_finite(double x, const char* what, std::size_t round) {
  if (!std::isfinite(x)) {
    throw std::runtime_error(std::string("boosting stopped: the ") + what + " of round " +
                             std::to_string(round) +
                             " is not finite; a larger gain or a smaller "
                             "learning_rate makes smaller steps");
  }
}

}  // namespace

Rounds boost(const Codes& codes, const Bins& bins, const Model& model, const Progress& progress,
             Team& team) {
  const SampleWeights weights(model.sample_weight, codes.rows);
  const double rows_weight = weights.total / weights.scale;
  Margins margins(codes, model.positive, weights.data(), rows_weight, model.loss,
                  model.response.needs_curvature(), team);
  CellTable cells(bins, weigh_codes(codes.data, codes.rows, bins, nullptr, team));

  // What a row on its own is worth: no step or cell value goes beyond the link of an error of half
  // a row.  Fewer than two rows' weight would leave no room at all, and of more than 2^52 half a
  // row is not to be told from none.
  const double largest = model.loss.link(1.0 - 0.5 / std::clamp(weights.total, 2.0, 0x1p52));
  Regularizers r{};
  r.l2 = model.l2 * model.gain / weights.scale;
  r.gain = model.gain;
  r.largest = largest;
  const double search_nanoseconds = 2.0 * static_cast<double>(bins.total_width());

  Rounds rounds;
  std::vector<double> cell_values;
  for (std::size_t round = 0; round < model.n_estimators; ++round) {
    fill_cells(codes, bins, model.positive, margins.weight(), margins.curvature(), weights.data(),
               cells, team);
    double total_weight = 0.0;
    for (std::size_t b = 0; b < cells.feature(0).width(); ++b) {
      total_weight += cells.feature(0).cells[b].weight();
    }
    require_finite(total_weight, "total weight", round + 1);
    if (total_weight <= 0.0) break;  // every row is beyond the loss's reach

    const Choice choice = select_greedy(cells, bins.size(), model.weak_learner, model.response, r,
                                        search_nanoseconds, team);
    require_finite(choice.cost, "score", round + 1);
    const std::size_t f = choice.feature;
    const FeatureCells feature = cells.feature(f);
    const Partition partition = model.weak_learner.partition(feature, model.response, r);

    const double prior =
        model.prior > 0.0 ? model.prior
                          : 1.0 / (weights.total * static_cast<double>(partition.occupied_cells()));
    r.prior = std::max(prior * total_weight, std::numeric_limits<double>::min());
    r.pseudo_rows = prior * rows_weight;
    cell_values.assign(partition.cells.size(), 0.0);
    Margins::ByCell rows(margins, codes.feature(f), partition.shares, partition.cells.size());
    model.response.values(partition.cells.data(), partition.cells.size(), r, rows,
                          cell_values.data());

    std::vector<double> table(feature.width());
    double slope = 0.0;
    for (std::size_t b = 0; b < table.size(); ++b) {
      table[b] = cell_values[partition.cell_of[b]];
      require_finite(table[b], "table", round + 1);
      slope += table[b] * feature.cells[b].gradient();
    }
    if (!(slope > 0.0)) break;  // the best table does not lower the risk any further

    Direction direction(margins, codes.feature(f), table);
    const StepLimits limits{model.learning_rate / model.gain, model.learning_rate,
                            slope / rows_weight, largest / direction.largest_entry(),
                            model.loss.convex()};
    const double t = model.step.take(direction, limits);
    const double risk = model.gain * direction.point().risk;
    require_finite(risk, "training risk", round + 1);

    // What the search saw: class weights normalised to sum 1, or a reduction of the risk.
    const double unit =
        model.response.is_score_a_sum_of_weights() ? total_weight : 1.0 / weights.scale;
    rounds.feature.push_back(static_cast<std::int32_t>(f));
    rounds.score.push_back(model.response.score(choice.cost) / unit);
    rounds.step.push_back(t == limits.rate ? model.learning_rate : t * model.gain);
    rounds.risk.push_back(risk);
    rounds.values.insert(rounds.values.end(), table.begin(), table.end());
    rounds.offsets.push_back(static_cast<std::int64_t>(rounds.values.size()));
    if (progress) progress(round + 1, risk);
  }
  return rounds;
}

}  // namespace properboost
