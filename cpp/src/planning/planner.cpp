#include "properboost/planning/planner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/learners/cell_order.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/margins/moving_margins.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/algorithm.hpp"

namespace properboost {

void require_finite(double x, const char* what, std::size_t round) {
  if (!std::isfinite(x)) {
    throw std::invalid_argument(
        "learning_rate (for pairs, that of interactions) must be smaller, the gain larger, or the "
        "ratio of the largest to the smallest weight (sample_weight, class_weight) smaller: the " +
        std::string(what) + " of round " + std::to_string(round) + " is not finite");
  }
}

void Planner::set_table(RoundUpdate& update, std::size_t lane, const Cell* by_code,
                        std::size_t width, double cost, Partition partition, const CellOrder& order,
                        Team& team) const {
  const Response& response = at_.algorithm.response();
  BatchMargins& margins = *at_.batch.margins;
  Regularizers r = at_.batch.regularizers[lane];
  update.largest = r.largest;
  update.table.assign(width, 0.0);
  update.width = width;
  double total_weight = 0.0;
  for (std::size_t b = 0; b < width; ++b) total_weight += by_code[b].weight();
  require_finite(total_weight, "total weight", at_.round(lane));
  if (total_weight <= 0.0) return;  // every row is beyond the loss's reach
  require_finite(cost, "cost", at_.round(lane));
  // The cost in the search's units: class weights normalised to sum 1, or a reduction of the risk.
  update.cost =
      response.reported(cost) / (response.is_cost_a_sum_of_weights() ? total_weight : 1.0);

  const double rows_weight = margins.training_weight(lane);
  const double prior =
      at_.model(lane).prior > 0.0
          ? at_.model(lane).prior
          : 1.0 / (at_.batch.row_counts[lane] * static_cast<double>(partition.occupied_cells()));
  constexpr double kMost = 0x1p1000;  // next to which no weight counts; sums of two are finite
  r.prior = std::clamp(prior * total_weight, std::numeric_limits<double>::min(), kMost);
  r.pseudo_rows = std::min(prior * rows_weight, kMost);
  for (std::size_t b = 0; b < width; ++b) {
    r.all_positive += by_code[b].positive;
    r.all_negative += by_code[b].negative;
  }
  std::vector<double> values;
  do {
    values.assign(partition.cells.size(), 0.0);
    const std::unique_ptr<RowsByCell> rows =
        margins.rows_by_cell(lane, update.codes, partition.shares, values.size(), team);
    response.values(partition.cells.data(), values.size(), r, *rows, values.data());
  } while (order.pool_by_value(partition, values));

  double slope = 0.0;
  for (std::size_t b = 0; b < width; ++b) {
    update.table[b] = values[partition.cell_of[b]];
    require_finite(update.table[b], "table", at_.round(lane));
    slope += update.table[b] * by_code[b].gradient();
  }
  update.slope = slope / rows_weight;
  // Otherwise even the best look-up table does not lower the risk, or by less than chance would.
  update.moves = slope > 0.0 && !partition.within_chance;
}

std::vector<Directions> Planner::find_directions(const WeakLearner& learner) const {
  const std::vector<std::int8_t>& entries = learner.directions;
  std::vector<Directions> directions;
  if (entries.empty()) return directions;
  if (at_.algorithm.step().solves() != Solved::kNone) {
    throw std::invalid_argument("directions must be none with steps that are solved for");
  }
  std::size_t next = 0;
  for (std::size_t f = 0; f < at_.rows.bins.size(); ++f) {
    const bool pair = at_.rows.bins[f].is_grid();
    if (next + (pair ? 2 : 1) > entries.size()) break;
    // Along its rows a grid has the levels of the second feature.
    directions.push_back(pair ? Directions{entries[next + 1], entries[next]}
                              : Directions{entries[next], 0});
    next += pair ? 2 : 1;
  }
  if (directions.size() != at_.rows.bins.size() || next != entries.size()) {
    throw std::invalid_argument("directions must have an entry per feature, and two per pair");
  }
  return directions;
}

}  // namespace properboost
