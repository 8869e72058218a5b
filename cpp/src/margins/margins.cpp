#include "properboost/margins/margins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "properboost/core/math.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {
namespace {

// The moves of lanes, and of those against them, so many lanes after, by the same tables.
std::vector<Move> with_lanes_against(const std::vector<Move>& moves, std::size_t against) {
  std::vector<Move> all = moves;
  if (against == 0) return all;
  for (const Move& move : moves) {
    all.push_back({move.lane + against, move.codes, move.table, move.t, move.width, move.lines});
  }
  return all;
}

}  // namespace

bool Margins::are_bounded(const Loss& loss) {
  constexpr double kFar = -1e6;
  return loss.most_weight(kFar) <= 4.0 * loss.weight(0.0);
}

Margins::Bounds Margins::bounds_at(double least) const {
  const double x = weighting_->least_argument(least);
  const double factor = weighting_->most_amplified(least);
  return {factor * loss_.most_weight(x), loss_.most_curvature(x), loss_.most_loss(x)};
}

Memory Margins::needs(std::size_t rows, std::size_t lanes, const Loss& loss, bool keeps_weights,
                      bool needs_curvature) noexcept {
  keeps_weights = keeps_weights || !are_bounded(loss);
  const std::size_t margins = rows * lanes * sizeof(float);
  return {margins, keeps_weights ? margins * (needs_curvature ? 2 : 1) : 0};
}

Margins::Margins(const TrainingRows& rows, const std::vector<SegmentRoles>& roles,
                 const std::vector<std::size_t>& models, FurtherLanes further, bool feeds_trees,
                 const Loss& loss, bool needs_curvature, const VoteTargets& targets,
                 std::unique_ptr<RowWeighting> weighting)
    : rows_(rows),
      codes_(rows.codes),
      roles_(roles),
      further_(further),
      keeps_apart_(further.any() && feeds_trees),
      lanes_(width_for(further.all(models.size()))),
      sample_weight_(rows.sample_weight),
      loss_(loss),
      needs_curvature_(needs_curvature),
      targets_(targets),
      u_(rows.codes.rows * lanes_, 0.0f),
      total_weight_(rows.totals.all),
      most_sample_weight_(rows.totals.most),
      weighting_(std::move(weighting)) {
  if (further_.any()) {
    for (const std::size_t m : models) {
      share_of_lane_.push_back(rows.labels.of(m, codes_.rows));
    }
    shares_ = spread_shares(share_of_lane_, codes_.rows, lanes_, further_.against);
  }
  for (std::size_t i = 0; i + 1 < codes_.segments.size(); ++i) {
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (roles[i].trained[k]) training_weight_[k] += rows.totals.of_segment[i];
    }
  }
  weigh_held_out(rows.totals);
  // The rows of bags and folds lie in many small segments.
  const auto alike = [&](std::size_t a, std::size_t b) {
    return roles[a].same(roles[b]) && targets_.of(a) == targets_.of(b);
  };
  for (const RowBlock& block : cut_into_row_blocks(codes_.segments, alike)) {
    const SegmentRoles& r = roles[block.segment];
    if (r.trains || r.holds_out) blocks_.push_back(block);
  }
  together_ = put_together(blocks_, roles);
}

void Margins::weigh_held_out(const WeightTotals& totals) {
  for (std::size_t i = 0; i + 1 < codes_.segments.size(); ++i) {
    const SegmentRoles& r = roles_[i];
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (!r.held_out[k]) continue;
      held_out_weight_[k] += totals.of_segment[i];
      double& of_class = held_out_of_class_[r.sign[k] > 0.0F ? 1 : 0][k];
      if (shares_.empty()) {
        of_class += totals.of_segment[i];
        continue;
      }
      for (std::size_t row = codes_.segments[i]; row < codes_.segments[i + 1]; ++row) {
        of_class += sample_weight_[row] * wide(shares_[row * lanes_ + k]);
      }
    }
  }
  for (Sums& of_class : held_out_of_class_) {  // of either label
    for (std::size_t k = 0; k < further_.against; ++k) {
      double& other = of_class[k + further_.against];
      of_class[k] = other = of_class[k] + other;
    }
  }
}

std::vector<Point> Margins::move(const std::vector<Move>& moves,
                                 const std::vector<PassRequest>& requests, Team& team) {
  const PassRequest& request = requests.front();
  const bool sums_as_rows_move = request.cells && are_bounded(loss_);
  if ((!sums_as_rows_move || request.keeps_weights) && !keeps_weights_) {
    weight_.resize(keeps_apart_ ? codes_.rows : u_.size());
    if (keeps_apart_) against_.resize(codes_.rows);
    if (needs_curvature_) curvature_.resize(u_.size());
    keeps_weights_ = true;
  }
  weighting_->settle(moves.empty() ? 0.0 : moves[0].t);
  std::vector<Point> points = move_all(with_lanes_against(moves, further_.against), request, team);
  if (weighting_->follow(least_)) points = move_all({}, request, team);
  LanesThat loose{};
  for (std::size_t k = 0; k < lanes_; ++k) loose[k] = has_loose_sums(points[k], k);
  if (std::none_of(loose.begin(), loose.end(), [](bool lane_is_loose) { return lane_is_loose; }))
    return points;
  Sums slopes{};
  for (std::size_t k = 0; k < lanes_; ++k) slopes[k] = points[k].slope;
  for (const Move& move : moves) {
    if (move.t != 0.0 && loose[move.lane]) slopes[move.lane] = directional_slope(move, team);
  }
  points = move_all({}, request, team, loose);
  for (std::size_t k = 0; k < lanes_; ++k) points[k].slope = slopes[k];
  return points;
}

void Margins::reduce_bounds(AllReduce all_reduce) {
  std::vector<double> lowest;  // with the other sign
  for (std::size_t k = 0; k < lanes_; ++k) lowest.push_back(-static_cast<double>(least_u_[k]));
  for (double& bound : lowest) all_reduce.most(bound);
  all_reduce.run();
  for (std::size_t k = 0; k < lanes_; ++k) least_u_[k] = static_cast<float>(-lowest[k]);
}

// Whether the bounds of the last pass still bound a lane, and tightly; it has not moved since.
bool Margins::bounds_hold(std::size_t lane) const {
  const Bounds here = bounds_ahead(lane, 0.0), there = bounds_[lane];
  const auto holds = [](double bound, double least) {
    return bound >= least && !is_loose(bound, least);
  };
  return holds(there.weight, here.weight) && holds(there.loss, here.loss) &&
         there.curvature >= here.curvature;
}

// Rows might have moved anywhere, or so far that little is left of their weights.
bool Margins::has_loose_sums(const Point& point, std::size_t lane) const {
  if (training_weight_[lane] == 0.0) return false;
  const Bounds here = bounds_ahead(lane, 0.0), there = bounds_[lane];
  return std::isnan(point.risk) || is_loose(there.weight, here.weight) ||
         is_loose(there.loss, here.loss);
}

void Margins::note_weights(double mean, Team& team) {
  for_training_blocks(0, 1.0, team, [&](std::size_t, const RowBlock& block, double) {
    weighting_->note_weights(block.begin, block.end, weight_.data(), mean);
  });
}

void Margins::forget_weights() {
  weight_ = {};
  curvature_ = {};
  against_ = {};
  keeps_weights_ = false;
  scratch_ = {};
  memory_ = {};
}

}  // namespace properboost
