#include "properboost/rounds/stepper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/rounds/algorithm.hpp"
#include "properboost/steps/coefficient_solver.hpp"
#include "properboost/steps/line_search_oracle.hpp"

namespace properboost {
namespace {

template <class T>
std::vector<T> pick(std::vector<T>& from, const std::vector<std::size_t>& which) {
  std::vector<T> picked;
  for (const std::size_t k : which) picked.push_back(std::move(from[k]));
  return picked;
}

// Steps that are proposed, and corrected once all lanes have moved.
//
// A unit moves by one step: a lane, or the classes of a joint model.
class ProposedSteps final : public Stepper {
 public:
  ProposedSteps(const RoundContext& context, const std::vector<std::size_t>& models,
                std::size_t lanes_a_step)
      : lanes_(lanes_a_step) {
    for (const std::size_t m : models) models_.push_back(&context.models[m]);
    shortened_.assign(units(), false);
  }

  std::vector<Point> take(const RoundContext& context, MovingMargins& margins,
                          std::vector<RoundUpdate>& updates,
                          const std::vector<PassRequest>& requests,
                          const std::function<void()>& /*progress*/, Team& team) override {
    const Step& rule = context.algorithm.step();
    std::vector<StepLimits> limits(units());
    std::vector<double> step(units(), 0.0);
    std::vector<bool> moves(units(), false);
    std::vector<std::unique_ptr<LineSearchOracle>> oracles(units());
    // The moves of a unit's lanes, or of every unit's by its own step.
    const auto moves_of = [&](std::size_t unit, double t, std::vector<Move>& to) {
      for (std::size_t k = unit * lanes_; k < (unit + 1) * lanes_; ++k) {
        if (!updates[k].moves) continue;
        to.push_back(
            {k, updates[k].codes, updates[k].table, t, updates[k].width, updates[k].line_of_row});
      }
    };
    const auto moves_by = [&](const std::vector<double>& t) {
      std::vector<Move> all;
      for (std::size_t unit = 0; unit < units(); ++unit) {
        if (t[unit] != 0.0) moves_of(unit, t[unit], all);
      }
      return all;
    };
    for (std::size_t unit = 0; unit < units(); ++unit) {
      std::vector<Move> directions;
      moves_of(unit, 0.0, directions);
      if (directions.empty()) continue;
      limits[unit] = find_limits(updates, unit);
      if (!rule.accepts(limits[unit])) {
        for (std::size_t k = 0; k < lanes_; ++k) updates[unit * lanes_ + k].moves = false;
        continue;
      }
      moves[unit] = true;
      oracles[unit] = margins.look_along(directions, team);
      step[unit] = rule.propose(*oracles[unit], limits[unit]);
    }
    std::vector<Point> points = margins.move(moves_by(step), requests, team);
    const std::vector<double> proposed = step;

    bool corrected = false;
    std::vector<double> correction(units(), 0.0);
    for (std::size_t unit = 0; unit < units(); ++unit) {
      if (!moves[unit]) continue;
      const double slope = points[unit * lanes_].slope;
      if (rule.overshoots(limits[unit], step[unit], slope)) {
        oracles[unit]->moved_to(step[unit]);
        const double stays = rule.correct(*oracles[unit], limits[unit], step[unit], slope);
        correction[unit] = stays - step[unit];
        step[unit] = stays;
        corrected = true;
      }
      shortened_[unit] = step[unit] < limits[unit].rate;
    }
    if (corrected) {
      points = margins.move(moves_by(correction), requests, team);
    }

    for (std::size_t k = 0; k < updates.size(); ++k) {
      const std::size_t unit = k / lanes_;
      if (!updates[k].moves) continue;
      const bool whole = step[unit] == limits[unit].rate;
      updates[k].step = whole ? models_[k]->learning_rate : step[unit] * models_[k]->gain;
      updates[k].proposed = proposed[unit];
      updates[k].taken = step[unit];
    }
    return points;
  }

  void repeat(std::size_t lane, double taken) override {
    const Model& lane_model = *models_[lane];
    shortened_[lane / lanes_] = taken < lane_model.learning_rate / lane_model.gain;
  }

  void keep(const std::vector<std::size_t>& lanes) override {
    std::vector<std::size_t> units;  // units
    for (const std::size_t k : lanes) {
      if (k % lanes_ == 0) units.push_back(k / lanes_);
    }
    models_ = pick(models_, lanes);
    shortened_ = pick(shortened_, units);
  }

 private:
  std::size_t units() const noexcept { return models_.size() / lanes_; }
  const Model& model(std::size_t unit) const { return *models_[unit * lanes_]; }

  // The slope along all tables of a unit is the sum of theirs.
  StepLimits find_limits(const std::vector<RoundUpdate>& updates, std::size_t unit) const {
    const Model& unit_model = model(unit);
    double slope = 0.0;
    double farthest = 0.0;
    double largest = std::numeric_limits<double>::infinity();
    for (std::size_t k = unit * lanes_; k < (unit + 1) * lanes_; ++k) {
      if (!updates[k].moves) continue;
      double largest_entry = updates[k].largest_line;
      for (const double g : updates[k].table) largest_entry = std::max(largest_entry, std::abs(g));
      slope += updates[k].slope;
      farthest = std::max(farthest, largest_entry);
      largest = std::min(largest, updates[k].largest / largest_entry);
    }
    return {unit_model.learning_rate / unit_model.gain,
            unit_model.learning_rate,
            slope,
            largest,
            farthest,
            unit_model.loss->convex(),
            shortened_[unit],
            updates[unit * lanes_].agreement};
  }

  const std::size_t lanes_;           // of a unit
  std::vector<const Model*> models_;  // of the lanes
  std::vector<bool> shortened_;       // whether a unit's last step was less than its rate
};

// Steps that are solved for, alone or together with those of earlier rounds.  Margins are stored in
// double, too.
class SolvedSteps final : public Stepper {
 public:
  explicit SolvedSteps(const RoundContext& context) {
    const ModelBatch& batch = context.batch;
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      const Model& model = context.model(k);
      solvers_.push_back(std::make_unique<CoefficientSolver>(
          context.rows, model.roles, *model.loss, context.algorithm.step().solves(),
          share_of_half_a_row(batch.row_counts[k])));
    }
  }

  std::vector<Point> take(const RoundContext& context, MovingMargins& margins,
                          std::vector<RoundUpdate>& updates,
                          const std::vector<PassRequest>& requests,
                          const std::function<void()>& progress, Team& team) override {
    const std::size_t lanes = solvers_.size();
    const Codes& codes = context.rows.codes;
    const std::vector<RowBlock> blocks = cut_into_row_blocks(codes.segments);
    for (std::size_t k = 0; k < lanes; ++k) {
      RoundUpdate& update = updates[k];
      if (!update.moves) continue;
      CoefficientSolver& solver = *solvers_[k];
      // Nodes of trees, and codes that a planner has laid out, are gone after the round.
      const bool codes_last = update.feature != Rounds::kTree &&
                              !codes.is_sparse(static_cast<std::size_t>(update.feature));
      const CoefficientSolver::Outcome outcome =
          solver.add(context.states[context.batch.models[k]].rounds[0].feature.size(), update.codes,
                     codes_last, update.table, progress, team);
      update.separated = outcome.separated;
      update.moves = outcome.moved;
      if (!outcome.moved) continue;
      team.for_each(blocks.size(), static_cast<double>(codes.rows), [&](std::size_t c) {
        for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) {
          margins.set_u(i, k, static_cast<float>(solver.u(i)));
        }
      });
    }
    std::vector<Point> points = margins.move({}, requests, team);
    for (std::size_t k = 0; k < lanes; ++k) {
      const double risk = solvers_[k]->risk();
      if (!std::isnan(risk)) points[k].risk = risk;
    }
    return points;
  }

  void revise(std::size_t lane, double gain, Rounds& rounds) const override {
    for (const CoefficientSolver::Feature& feature : solvers_[lane]->features()) {
      rounds.step[feature.round] = feature.coefficient * gain;
      // The risk holds until the next feature, because the rounds between added none.
      std::fill(rounds.risk.begin() + static_cast<std::ptrdiff_t>(feature.round), rounds.risk.end(),
                feature.risk * gain);
    }
  }

  double u(const MovingMargins& /*margins*/, std::size_t row, std::size_t lane) const override {
    return solvers_[lane]->u(row);
  }
  void set_u(MovingMargins& margins, std::size_t row, std::size_t lane, double u) override {
    Stepper::set_u(margins, row, lane, u);
    solvers_[lane]->u(row) = u;
  }
  void keep(const std::vector<std::size_t>& lanes) override { solvers_ = pick(solvers_, lanes); }

 private:
  std::vector<std::unique_ptr<CoefficientSolver>> solvers_;  // of the lanes
};

}  // namespace

std::unique_ptr<Stepper> make_stepper(const RoundContext& context,
                                      const std::vector<std::size_t>& models,
                                      const MovingMargins& margins) {
  if (context.algorithm.step().solves() == Solved::kNone) {
    return std::make_unique<ProposedSteps>(context, models, margins.lanes_a_step());
  }
  return std::make_unique<SolvedSteps>(context);
}

}  // namespace properboost
