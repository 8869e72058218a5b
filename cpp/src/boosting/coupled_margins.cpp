#include "properboost/boosting/coupled_margins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "properboost/boosting/slope_along.hpp"
#include "properboost/histogram/row_sums.hpp"

namespace properboost {

// The risk of a joint model along the look-up tables of its classes.
class CoupledMargins::Oracle final : public LineSearchOracle {
 public:
  Oracle(CoupledMargins& margins, std::size_t model, ClassDirections directions, Team& team)
      : margins_(margins), model_(model), directions_(std::move(directions)), team_(team) {}
  double slope_at(double t) override {
    for (ClassDirection& direction : directions_) direction.t = static_cast<float>(t - at_);
    return margins_.slope_ahead(model_, directions_, t, team_);
  }
  void moved_to(double t) override { at_ = t; }

 private:
  CoupledMargins& margins_;
  const std::size_t model_;
  ClassDirections directions_;
  Team& team_;
  double at_ = 0.0;
};

CoupledMargins::CoupledMargins(const TrainingRows& rows,
                               std::vector<const std::vector<Role>*> roles,
                               const std::vector<BatchLanes>& batches, const Loss& loss,
                               const Coupling& coupling, double share, bool needs_curvature)
    : rows_(rows, std::move(roles), loss, coupling, share, needs_curvature) {
  moved_.u.assign(rows.codes.rows * rows_.roles.size(), 0.0F);
  if (rows_.joint->remembers_shifts()) {
    moved_.shift.assign(rows.codes.rows * rows_.joint_models(),
                        std::numeric_limits<float>::quiet_NaN());
    guess_ = moved_.shift;
    paths_.resize(rows_.joint_models());
  }
  std::size_t first = 0;
  for (const BatchLanes& batch : batches) {
    batches_.push_back(
        std::make_unique<CoupledBatch>(rows_, moved_, first, batch.lanes, batch.roles));
    first += batch.lanes;
  }
}
CoupledMargins::~CoupledMargins() = default;

Memory CoupledMargins::needs(std::size_t rows, std::size_t lanes,
                             const std::vector<std::size_t>& widths, const Loss& loss,
                             const Coupling& coupling, bool needs_curvature) {
  std::size_t numbers = lanes;
  if (make_joint_loss(coupling.joint_loss, loss)->remembers_shifts()) {
    numbers += (2 + ShiftPath::kMost) * (lanes / coupling.classes);
  }
  const std::size_t width = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  return {rows * numbers * sizeof(float), rows * width * (needs_curvature ? 2 : 1) * sizeof(float)};
}

BatchMargins& CoupledMargins::batch(std::size_t b) noexcept { return *batches_[b]; }

void CoupledMargins::direct(const Move& move, ClassDirections& classes) const {
  ClassDirection& own = classes[move.lane % rows_.classes];
  own.codes = move.codes;
  own.table.assign(move.table.begin(), move.table.end());
  own.t = static_cast<float>(move.t);
  own.lines = move.lines;
}

double CoupledMargins::slope_ahead(std::size_t model, const ClassDirections& directions,
                                   double step, Team& team) {
  ShiftPath* const path = paths_.empty() ? nullptr : &paths_[model];
  if (path != nullptr) path->add(step);
  double slope = 0.0;
  sum_tightly(farthest(model, directions, team), [&](double most) {
    const TermUnits units = units_of_slope(most);
    std::vector<std::int64_t> parts(rows_.blocks[model].size(), 0);
    std::vector<double> largest(parts.size(), 0.0);
    for_training_strips(rows_, model, team, [&](std::size_t c, CoupledStrip& strip) {
      strip.place(moved_.u.data(), directions);
      float* const shift = path == nullptr ? nullptr : strip.shift();
      if (path != nullptr) path->guess(strip.begin(), strip.size(), shift);
      strip.weigh(false, false, shift);
      if (path != nullptr) path->keep(strip.begin(), strip.size(), shift);
      parts[c] += strip.slope(directions, units, largest[c]);
    });
    std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    double there = 0.0;
    for (const double own : largest) there = std::max(there, own);
    TermUnits::Lost lost;
    Share share = team.share();
    units.share(share.sum(sum).most(there), lost);
    share.go();
    units.lose_if(lost);
    slope = units.value(0, sum);
    return there;
  });
  return slope / rows_.training_weight[model];
}

// The farthest of all classes that move.  No weight is larger than 1, so that no term of a slope is
// larger than this.
double CoupledMargins::farthest(std::size_t model, const ClassDirections& directions,
                                Team& team) const {
  double most = 0.0;
  for (const ClassDirection& own : directions) {
    if (own.table.empty()) continue;
    most = std::max(most, farthest_along(own.table, own.lines, rows_.blocks[model], team));
  }
  return most;
}

TermUnits CoupledMargins::units_of_slope(double most) const {
  TermUnits units;
  units.set(0, most, rows_.sample_weight, rows_.total_weight * static_cast<double>(rows_.classes));
  return units;
}

std::unique_ptr<LineSearchOracle> CoupledMargins::look_along(const std::vector<Move>& directions,
                                                             Team& team) {
  const std::size_t model = directions.front().lane / rows_.classes;
  ClassDirections own(rows_.classes);
  for (const Move& direction : directions) direct(direction, own);
  const std::size_t n = rows_.codes.rows;
  if (!paths_.empty()) paths_[model].begin(moved_.shift.data() + model * n, n);
  return std::make_unique<Oracle>(*this, model, std::move(own), team);
}

std::vector<Point> CoupledMargins::move(const std::vector<Move>& moves,
                                        const std::vector<PassRequest>& requests, Team& team) {
  std::vector<Move> here;
  double farthest_move = 0.0;
  std::vector<double> most(rows_.joint_models(), 0.0);  // of a slope's terms
  for (const Move& move : moves) {
    const std::vector<float> entries(move.table.begin(), move.table.end());
    const std::size_t model = move.lane / rows_.classes;
    const double far = farthest_along(entries, move.lines, rows_.blocks[model], team);
    most[model] = std::max(most[model], far);
    farthest_move = std::max(farthest_move, std::abs(move.t) * far);
    here.push_back({move.lane, move.codes, move.table, 0.0, move.width, move.lines});
  }
  const TermBounds bounds = rows_.bounds_ahead(moved_.largest_score, farthest_move);
  const std::vector<double> bounds_of_slopes = most;
  std::vector<Point> points = move_all(moves, requests, bounds, most, team);
  bool loose = is_loose(bounds, moved_.largest);
  for (std::size_t model = 0; model < most.size(); ++model) {
    loose = loose || is_loose(bounds_of_slopes[model], most[model]);
  }
  if (loose) points = move_all(here, requests, TermBounds(moved_.largest), most, team);
  return points;
}

std::vector<Point> CoupledMargins::move_all(const std::vector<Move>& moves,
                                            const std::vector<PassRequest>& requests,
                                            const TermBounds& bounds,
                                            std::vector<double>& most_slopes, Team& team) {
  for (const auto& batch : batches_) batch->begin();
  const bool needs_risk = requests.front().risk;
  std::vector<ClassDirections> directions(rows_.joint_models(), ClassDirections(rows_.classes));
  std::vector<double> moved(rows_.joint_models(), 0.0);  // how far
  for (const Move& move : moves) {
    direct(move, directions[move.lane / rows_.classes]);
    moved[move.lane / rows_.classes] = move.t;
  }
  for (std::size_t model = 0; model < paths_.size(); ++model) {
    if (moved[model] != 0.0) paths_[model].move_by(moved[model]);
  }
  std::vector<TermUnits> slope_units;
  TermUnits risk_units, weight_units, curvature_units;
  slope_units.reserve(rows_.joint_models());
  for (const double most : most_slopes) slope_units.push_back(units_of_slope(most));
  risk_units.set(0, bounds.loss, rows_.sample_weight, rows_.total_weight);
  weight_units.set(0, bounds.weight, rows_.sample_weight, rows_.total_weight);
  curvature_units.set(0, bounds.curvature, rows_.sample_weight, rows_.total_weight);
  struct Sums {
    std::int64_t slope = 0, risk = 0;
  };
  struct Totals {
    std::int64_t weight = 0, curvature = 0;
  };
  struct Part {  // what one model's pass over a block finds
    std::size_t model;
    const RowBlock* block;
    Sums sums = {};
    TermBounds largest = {};
    double largest_slope = 0.0;
    float largest_score = 0.0F;
  };
  std::vector<Part> parts;
  for (std::size_t model = 0; model < rows_.joint_models(); ++model) {
    for (const RowBlock& block : rows_.blocks[model]) parts.push_back({model, &block});
  }
  std::vector<Totals> totals(parts.size() * rows_.classes);
  const double nanoseconds = 4.0 * static_cast<double>(rows_.codes.rows * rows_.roles.size());
  team.for_each(parts.size(), nanoseconds, [&](std::size_t p) {
    Part& own = parts[p];
    const std::size_t model = own.model;
    const RowBlock& block = *own.block;
    const bool trains = learns(rows_.role(model * rows_.classes, block.segment));
    for (std::size_t begin = block.begin; begin < block.end; begin += rows_.strip) {
      const std::size_t n = std::min(rows_.strip, block.end - begin);
      CoupledStrip strip(rows_, model, block, begin, n);
      strip.place(moved_.u.data(), directions[model]);
      strip.store_margins(moved_.u.data());
      own.largest_score = std::max(own.largest_score, strip.largest_score());
      if (!trains) continue;
      float* shift = nullptr;
      if (!paths_.empty()) {
        const std::size_t place = model * rows_.codes.rows + begin;
        shift = moved_.shift.data() + place;
        float* const guess = guess_.data() + place;
        if (moved[model] != 0.0) paths_[model].guess(begin, n, guess);
        std::copy_n(guess, n, shift);
      }
      strip.weigh(rows_.needs_curvature, needs_risk, shift);
      if (shift != nullptr && moved[model] != 0.0) paths_[model].keep(begin, n, shift);
      strip.note_largest(rows_.needs_curvature, needs_risk, own.largest);
      own.sums.slope += strip.slope(directions[model], slope_units[model], own.largest_slope);
      if (needs_risk) own.sums.risk += strip.risk(risk_units);
      for (std::size_t k = 0; k < rows_.classes; ++k) {
        Totals& total = totals[p * rows_.classes + k];
        total.weight += strip.sum_of(strip.weights(k), weight_units);
        if (!rows_.needs_curvature) continue;
        total.curvature += strip.sum_of(strip.curvatures(k), curvature_units);
      }
      for (const auto& batch : batches_) batch->store(model, strip);
    }
  });
  std::vector<Sums> all(rows_.joint_models());
  std::vector<Totals> in_all(rows_.roles.size());
  std::vector<TermBounds> largest;
  most_slopes.assign(rows_.joint_models(), 0.0);
  double farthest_score = 0.0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Part& own = parts[p];
    all[own.model].slope += own.sums.slope;
    all[own.model].risk += own.sums.risk;
    for (std::size_t k = 0; k < rows_.classes; ++k) {
      Totals& of_lane = in_all[own.model * rows_.classes + k];
      of_lane.weight += totals[p * rows_.classes + k].weight;
      of_lane.curvature += totals[p * rows_.classes + k].curvature;
    }
    largest.push_back(own.largest);
    most_slopes[own.model] = std::max(most_slopes[own.model], own.largest_slope);
    farthest_score = std::max(farthest_score, wide(own.largest_score));
  }
  Share share = team.share();
  for (Sums& own : all) share.sum(own.slope).sum(own.risk);
  for (Totals& own : in_all) share.sum(own.weight).sum(own.curvature);
  share.most(farthest_score);
  for (double& most : most_slopes) share.most(most);
  std::vector<const TermUnits*> units = {&risk_units, &weight_units, &curvature_units};
  for (const TermUnits& own : slope_units) units.push_back(&own);
  std::vector<TermUnits::Lost> lost(units.size());
  for (std::size_t j = 0; j < units.size(); ++j) units[j]->share(share, lost[j]);
  moved_.largest = share_largest(largest, bounds, rows_.needs_curvature, needs_risk, share);
  moved_.largest_score = static_cast<float>(farthest_score);
  for (std::size_t j = 0; j < units.size(); ++j) units[j]->lose_if(lost[j]);
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    // What is so small that none was seen may still be some.
    const double scale = TermUnits::scale_of(rows_.sample_weight);
    const auto unseen = static_cast<std::int64_t>(rows_.total_weight * scale) + 1;
    const double s = std::max(1.0, rows_.most_sample_weight);
    for (std::size_t k = 0; k < batches_[b]->models(); ++k) {
      const Totals& total = in_all[batches_[b]->first() + k];
      batches_[b]->set_units(
          k, {weight_units.value(0, total.weight + unseen),
              rows_.needs_curvature ? curvature_units.value(0, total.curvature + unseen) : 0.0,
              s * moved_.largest.weight, s * moved_.largest.curvature});
    }
    const std::optional<CellsOfFeature>& cells = requests[b].cells;
    if (cells) batches_[b]->fill(*cells, team);
  }
  std::vector<Point> points(rows_.roles.size());
  for (std::size_t model = 0; model < rows_.joint_models(); ++model) {
    Point point;
    point.slope = slope_units[model].value(0, all[model].slope) / rows_.training_weight[model];
    point.risk = risk_units.value(0, all[model].risk) / rows_.training_weight[model];
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    point.held_out = {kNone, kNone, kNone};
    std::fill_n(points.begin() + static_cast<std::ptrdiff_t>(model * rows_.classes), rows_.classes,
                point);
  }
  return points;
}

void CoupledMargins::forget_weights() {
  for (const auto& batch : batches_) batch->forget();
}

}  // namespace properboost
