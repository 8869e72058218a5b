#include "properboost/margins/coupled_margins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/directional_slope.hpp"
#include "properboost/steps/line_search_oracle.hpp"

namespace properboost {
namespace {

// `guess` predicts the shifts of a strip's rows from the path's other steps; `keep` stores them.
void guess(const ShiftGuesses& path, const CoupledStrip& strip, float* shift) {
  for (const auto& [begin, n, place] : strip.pieces()) path.guess(begin, n, shift + place);
}
void keep(ShiftGuesses& path, const CoupledStrip& strip, const float* shift) {
  for (const auto& [begin, n, place] : strip.pieces()) path.keep(begin, n, shift + place);
}

}  // namespace

// The risk of a joint model along the look-up tables of its classes.
class CoupledMargins::Oracle final : public LineSearchOracle {
 public:
  Oracle(CoupledMargins& margins, ClassDirections directions, Team& team)
      : margins_(margins), directions_(std::move(directions)), team_(team) {}
  double slope_at(double t) override {
    for (ClassDirection& direction : directions_) direction.t = static_cast<float>(t - at_);
    return margins_.slope_ahead(directions_, t, team_);
  }
  void moved_to(double t) override { at_ = t; }

 private:
  CoupledMargins& margins_;
  ClassDirections directions_;
  Team& team_;
  double at_ = 0.0;
};

// One pass over the rows, which moves every class; sums are in units of these bounds.
class CoupledMargins::Pass {
 public:
  // No term of the slope exceeds `most_slope`.
  Pass(CoupledMargins& margins, const std::vector<Move>& moves, bool needs_risk,
       const TermBounds& bounds, double most_slope)
      : m_(margins),
        rows_(margins.rows_),
        needs_risk_(needs_risk),
        bounds_(bounds),
        units_(margins.units_of(bounds)),
        slope_units_(margins.units_of_slope(most_slope)),
        directions_(rows_.classes),
        parts_(rows_.parts.size() - 1, Part(rows_.classes)),
        all_(rows_.classes) {
    double way = 0.0;  // the same for all classes
    for (const Move& move : moves) {
      m_.direct(move, directions_);
      way = move.t;
    }
    moves_path_ = m_.path_ && way != 0.0;
    if (moves_path_) m_.path_->move_by(way);
  }

  // Returns where every class is then.
  Point run(Team& team) {
    for_strips(rows_, team, [&](std::size_t p, CoupledStrip& strip) { move(strip, parts_[p]); });
    for (const Part& part : parts_) all_ += part;
    all_reduce(team);
    for (const auto& batch : m_.batches_) set_units(*batch);
    Point point;
    point.slope = slope_units_.value(0, all_.slope) / rows_.training_weight;
    point.risk = units_.risk.value(0, all_.risk) / rows_.training_weight;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    point.held_out = {kNone, kNone, kNone};
    return point;
  }

  // Once it has run, the largest term of the slope.
  double largest_slope() const noexcept { return all_.largest_slope; }

 private:
  // The sums of rows, and the largest of their terms.
  struct Part {
    struct OfClass {
      std::int64_t weight = 0, curvature = 0;
    };
    std::int64_t slope = 0, risk = 0;
    std::vector<OfClass> classes;
    double largest_slope = 0.0;
    float largest_score = 0.0F;
    TermBounds largest{};

    explicit Part(std::size_t n_classes) : classes(n_classes) {}

    void operator+=(const Part& other) {
      slope += other.slope;
      risk += other.risk;
      for (std::size_t k = 0; k < classes.size(); ++k) {
        classes[k].weight += other.classes[k].weight;
        classes[k].curvature += other.classes[k].curvature;
      }
      largest_slope = std::max(largest_slope, other.largest_slope);
      largest_score = std::max(largest_score, other.largest_score);
      largest.weight = std::max(largest.weight, other.largest.weight);
      largest.curvature = std::max(largest.curvature, other.largest.curvature);
      largest.loss = std::max(largest.loss, other.largest.loss);
    }
  };

  void move(CoupledStrip& strip, Part& part) {
    strip.place(m_.moved_.u.data(), directions_);
    strip.store_margins(m_.moved_.u.data());
    part.largest_score = std::max(part.largest_score, strip.largest_score());
    if (!strip.trains()) return;
    weigh(strip);
    strip.note_largest(rows_.needs_curvature, needs_risk_, part.largest);
    add(strip, part);
    for (const auto& batch : m_.batches_) batch->store(strip);
  }

  // The joint loss gets a guess of each row's shift, and the shift is stored.
  void weigh(CoupledStrip& strip) {
    if (!m_.path_) return strip.weigh(rows_.needs_curvature, needs_risk_, nullptr);
    float* const shift = strip.shift();
    if (moves_path_) {
      guess(*m_.path_, strip, shift);
      strip.scatter(shift, m_.guess_.data());
    } else {
      strip.gather(m_.guess_.data(), shift);
    }
    strip.weigh(rows_.needs_curvature, needs_risk_, shift);
    strip.scatter(shift, m_.moved_.shift.data());
    if (moves_path_) keep(*m_.path_, strip, shift);
  }

  void add(const CoupledStrip& strip, Part& part) const {
    part.slope += strip.slope(directions_, slope_units_, part.largest_slope);
    if (needs_risk_) part.risk += strip.risk(units_.risk);
    for (std::size_t k = 0; k < rows_.classes; ++k) {
      part.classes[k].weight += strip.sum_of_weights(k, units_.weight);
      if (!rows_.needs_curvature) continue;
      part.classes[k].curvature += strip.sum_of(strip.curvatures(k), units_.curvature);
    }
  }

  // Adds the sums of other processes' rows, and notes the largest terms of all.
  void all_reduce(Team& team) {
    AllReduce all_reduce = team.all_reduce();
    all_reduce.sum(all_.slope).sum(all_.risk);
    for (Part::OfClass& of_class : all_.classes) {
      all_reduce.sum(of_class.weight).sum(of_class.curvature);
    }
    double largest_score = wide(all_.largest_score);
    all_reduce.most(largest_score).most(all_.largest_slope);
    const std::array<const TermUnits*, 4> units = {&units_.risk, &units_.weight, &units_.curvature,
                                                   &slope_units_};
    std::array<TermUnits::Lost, 4> lost;
    for (std::size_t j = 0; j < lost.size(); ++j) units[j]->add_to(all_reduce, lost[j]);
    m_.moved_.largest =
        reduce_largest({all_.largest}, bounds_, rows_.needs_curvature, needs_risk_, all_reduce);
    m_.moved_.largest_score = static_cast<float>(largest_score);
    for (std::size_t j = 0; j < lost.size(); ++j) units[j]->lose_if(lost[j]);
  }

  void set_units(CoupledBatch& batch) const {
    // Terms below one unit are rounded to 0, so each row is allowed one unit.
    const double scale = TermUnits::scale_of(rows_.sample_weight);
    const auto unseen = static_cast<std::int64_t>(rows_.total_weight * scale) + 1;
    const double s = std::max(1.0, rows_.most_sample_weight);
    const auto at_most = [&](const TermUnits& units, std::int64_t sum) {
      return units.value(0, sum + unseen);
    };
    for (std::size_t k = 0; k < batch.models(); ++k) {
      const Part::OfClass& total = all_.classes[batch.first() + k];
      batch.set_units(k, {at_most(units_.weight, total.weight),
                          rows_.needs_curvature ? at_most(units_.curvature, total.curvature) : 0.0,
                          s * m_.moved_.largest.weight, s * m_.moved_.largest.curvature});
    }
  }

  CoupledMargins& m_;
  const CoupledRows& rows_;
  const bool needs_risk_;
  const TermBounds bounds_;
  const Units units_;
  const TermUnits slope_units_;
  ClassDirections directions_;
  bool moves_path_ = false;
  std::vector<Part> parts_;  // of the rows' parts
  Part all_;
};

CoupledMargins::CoupledMargins(const TrainingRows& rows,
                               std::vector<const std::vector<Role>*> roles,
                               const std::vector<BatchLanes>& batches, const Loss& loss,
                               const Coupling& coupling, double share, bool needs_curvature)
    : rows_(rows, std::move(roles), loss, coupling, share, needs_curvature) {
  moved_.u.assign(rows.codes.rows * rows_.roles.size(), 0.0F);
  if (rows_.joint->remembers_shifts()) {
    moved_.shift.assign(rows.codes.rows, std::numeric_limits<float>::quiet_NaN());
    guess_ = moved_.shift;
    path_.emplace();
  }
  std::size_t first = 0;
  for (const BatchLanes& batch : batches) {
    batches_.push_back(std::make_unique<CoupledBatch>(rows_, moved_, first, batch.lanes,
                                                      batch.roles, batch.further));
    first += batch.lanes;
  }
}
CoupledMargins::~CoupledMargins() = default;

Memory CoupledMargins::needs(std::size_t rows, const std::vector<std::size_t>& widths,
                             const Loss& loss, const Coupling& coupling, bool needs_curvature) {
  std::size_t numbers = coupling.classes;
  if (make_joint_loss(coupling.joint_loss, loss)->remembers_shifts()) {
    numbers += 2 + ShiftGuesses::kMost;
  }
  const std::size_t width = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  return {rows * numbers * sizeof(float), rows * width * (needs_curvature ? 2 : 1) * sizeof(float)};
}

BatchMargins& CoupledMargins::batch(std::size_t b) noexcept { return *batches_[b]; }

void CoupledMargins::direct(const Move& move, ClassDirections& classes) const {
  ClassDirection& direction = classes[move.lane];
  direction.codes = move.codes;
  direction.table.assign(move.table.begin(), move.table.end());
  direction.t = static_cast<float>(move.t);
  direction.lines = move.lines;
}

double CoupledMargins::slope_ahead(const ClassDirections& directions, double step, Team& team) {
  if (path_) path_->add(step);
  double slope = 0.0;
  sum_tightly(farthest(directions, team), [&](double most) {
    const TermUnits units = units_of_slope(most);
    std::vector<std::int64_t> parts(rows_.parts.size() - 1, 0);
    std::vector<double> largest(parts.size(), 0.0);
    for_training_strips(rows_, team, [&](std::size_t p, CoupledStrip& strip) {
      strip.place(moved_.u.data(), directions);
      float* const shift = path_ ? strip.shift() : nullptr;
      if (path_) guess(*path_, strip, shift);
      strip.weigh(false, false, shift);
      if (path_) keep(*path_, strip, shift);
      parts[p] += strip.slope(directions, units, largest[p]);
    });
    std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    double there = largest_of(largest);
    TermUnits::Lost lost;
    AllReduce all_reduce = team.all_reduce();
    units.add_to(all_reduce.sum(sum).most(there), lost);
    all_reduce.run();
    units.lose_if(lost);
    slope = units.value(0, sum);
    return there;
  });
  return slope / rows_.training_weight;
}

// The farthest of all classes that move.  No weight is larger than 1, so that no term of a slope is
// larger than this.
double CoupledMargins::farthest(const ClassDirections& directions, Team& team) const {
  double most = 0.0;
  for (const ClassDirection& direction : directions) {
    if (direction.table.empty()) continue;
    most = std::max(most, farthest_along(direction.table, direction.lines, rows_.blocks, team));
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
  ClassDirections class_directions(rows_.classes);
  for (const Move& direction : directions) direct(direction, class_directions);
  if (path_) path_->begin(moved_.shift.data(), rows_.codes.rows);
  return std::make_unique<Oracle>(*this, std::move(class_directions), team);
}

std::vector<Point> CoupledMargins::move(const std::vector<Move>& moves,
                                        const std::vector<PassRequest>& requests, Team& team) {
  const bool needs_risk = requests.front().risk;
  if (moves.empty() && last_ && repeats(*last_, needs_risk)) {
    std::vector<Point> points = last_->points;
    fill(requests, team);
    return points;
  }
  last_.reset();
  std::vector<Move> here;
  double farthest_move = 0.0;
  double most = 0.0;  // of a slope's terms
  for (const Move& move : moves) {
    const std::vector<float> entries(move.table.begin(), move.table.end());
    const double far = farthest_along(entries, move.lines, rows_.blocks, team);
    most = std::max(most, far);
    farthest_move = std::max(farthest_move, std::abs(move.t) * far);
    here.push_back({move.lane, move.codes, move.table, 0.0, move.width, move.lines});
  }
  TermBounds bounds = rows_.bounds_ahead(moved_.largest_score, farthest_move);
  const double bound_of_slope = most;
  std::vector<Point> points = move_all(moves, needs_risk, bounds, most, team);
  const bool loose = is_loose(bounds, moved_.largest) || is_loose_in_all(bound_of_slope, most);
  if (loose) {
    bounds = moved_.largest;
    points = move_all(here, needs_risk, bounds, most, team);
  }
  fill(requests, team);
  last_ = {bounds, needs_risk, points};
  for (Point& point : last_->points) point.slope = 0.0;
  return points;
}

bool CoupledMargins::repeats(const LastPass& last, bool needs_risk) const {
  if (needs_risk && !last.risk) return false;
  TermBounds bounds = rows_.bounds_ahead(moved_.largest_score, 0.0);
  TermBounds largest = moved_.largest;
  if (!needs_risk) largest.loss = bounds.loss;  // it would not be looked for
  if (is_loose(bounds, largest)) bounds = largest;
  const Units here = units_of(bounds), there = units_of(last.bounds);
  return here.weight.same(0, there.weight) && here.curvature.same(0, there.curvature) &&
         (!needs_risk || here.risk.same(0, there.risk));
}

CoupledMargins::Units CoupledMargins::units_of(const TermBounds& bounds) const {
  Units units;
  units.risk.set(0, bounds.loss, rows_.sample_weight, rows_.total_weight);
  units.weight.set(0, bounds.weight, rows_.sample_weight, rows_.total_weight);
  units.curvature.set(0, bounds.curvature, rows_.sample_weight, rows_.total_weight);
  return units;
}

std::vector<Point> CoupledMargins::move_all(const std::vector<Move>& moves, bool needs_risk,
                                            const TermBounds& bounds, double& most_slope,
                                            Team& team) {
  for (const auto& batch : batches_) batch->begin();
  ++moved_.renewals;
  Pass pass(*this, moves, needs_risk, bounds, most_slope);
  const Point point = pass.run(team);
  most_slope = pass.largest_slope();
  return std::vector<Point>(rows_.classes, point);
}

void CoupledMargins::fill(const std::vector<PassRequest>& requests, Team& team) {
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    const std::optional<CellsOfFeature>& cells = requests[b].cells;
    if (cells) batches_[b]->fill(*cells, memory_, team);
  }
}

void CoupledMargins::forget_weights() {
  last_.reset();
  memory_ = {};
  for (const auto& batch : batches_) batch->forget();
}

}  // namespace properboost
