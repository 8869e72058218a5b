#include "properboost/boosting/stepper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "properboost/boosting/planner.hpp"
#include "properboost/steps/coefficient_solver.hpp"

namespace properboost {
namespace {

template <class T>
std::vector<T> pick(std::vector<T>& from, const std::vector<std::size_t>& which) {
  std::vector<T> picked;
  for (const std::size_t k : which) picked.push_back(std::move(from[k]));
  return picked;
}

bool same_table(const RoundUpdate& a, const RoundUpdate& b) {
  constexpr double kTolerance = 1e-5;
  if (!a.moves || !b.moves || a.feature != b.feature) return false;
  for (std::size_t i = 0; i < a.table.size(); ++i) {
    if (std::abs(a.table[i] - b.table[i]) > kTolerance * std::abs(a.table[i])) return false;
  }
  return true;
}

// Steps that are proposed, and corrected once all lanes have moved.
//
// Lanes that differ only in their gain are one model as long as all their steps are shortened.  A
// lane's twin is the lane of least gain, whose steps stay shortened for longest.
class ProposedSteps final : public Stepper {
 public:
  explicit ProposedSteps(const RoundContext& context) {
    for (const std::size_t m : context.batch.models) models_.push_back(&context.models[m]);
    shortened_.assign(models_.size(), false);
    always_shortened_.assign(models_.size(), true);
    find_twins();
  }

  std::vector<Margins::Point> take(const RoundContext& context, std::vector<RoundUpdate>& updates,
                                   const PassRequest& request,
                                   const std::function<void()>& /*progress*/, Team& team) override {
    const std::size_t lanes = models_.size();
    const Step& rule = context.algorithm.step();
    Margins& margins = *context.batch.margins;
    std::vector<StepLimits> limits(lanes);
    std::vector<double> step(lanes, 0.0);
    std::vector<Margins::Oracle> oracles;
    for (std::size_t k = 0; k < lanes; ++k) {
      oracles.emplace_back(margins, k, updates[k].codes, updates[k].table, team);
    }
    const auto is_like_its_twin = [&](std::size_t k) {
      const std::size_t twin = twin_[k];
      return twin != k && always_shortened_[k] && always_shortened_[twin] &&
             same_table(updates[k], updates[twin]);
    };
    for (const std::size_t k : by_gain_) {
      if (!updates[k].moves) continue;
      limits[k] = find_limits(updates[k], k);
      if (!rule.accepts(limits[k])) {
        updates[k].moves = false;
        continue;
      }
      step[k] = is_like_its_twin(k) ? rule.follow(limits[k], step[twin_[k]])
                                    : rule.propose(oracles[k], limits[k]);
    }
    const auto moves_by = [&](const std::vector<double>& t) {
      std::vector<Move> moves;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (t[k] == 0.0) continue;
        moves.push_back({k, updates[k].codes, updates[k].table, t[k], updates[k].width});
      }
      return moves;
    };
    std::vector<Margins::Point> points = margins.move(moves_by(step), request, team);

    bool corrected = false;
    std::vector<double> correction(lanes, 0.0);
    for (const std::size_t k : by_gain_) {
      if (!updates[k].moves) continue;
      if (rule.overshoots(limits[k], step[k], points[k].slope)) {
        oracles[k].moved_to(step[k]);
        const double stays = is_like_its_twin(k) && shortened_[twin_[k]]
                                 ? step[twin_[k]]
                                 : rule.correct(oracles[k], limits[k], step[k], points[k].slope);
        correction[k] = stays - step[k];
        step[k] = stays;
        corrected = true;
      }
      shortened_[k] = step[k] < limits[k].rate;
    }
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!shortened_[k] || !updates[k].moves) always_shortened_[k] = false;
    }
    if (corrected) {
      points = margins.move(moves_by(correction), request, team);
    }

    for (std::size_t k = 0; k < lanes; ++k) {
      const bool whole = updates[k].moves && step[k] == limits[k].rate;
      updates[k].step = whole ? models_[k]->learning_rate : step[k] * models_[k]->gain;
    }
    return points;
  }

  void keep(const std::vector<std::size_t>& lanes) override {
    models_ = pick(models_, lanes);
    shortened_ = pick(shortened_, lanes);
    always_shortened_ = pick(always_shortened_, lanes);
    find_twins();
  }

 private:
  void find_twins() {
    const std::size_t lanes = models_.size();
    by_gain_.resize(lanes);
    std::iota(by_gain_.begin(), by_gain_.end(), std::size_t{0});
    std::stable_sort(by_gain_.begin(), by_gain_.end(), [&](std::size_t a, std::size_t b) {
      return models_[a]->gain < models_[b]->gain;
    });
    twin_.resize(lanes);
    for (std::size_t k = 0; k < lanes; ++k) {
      twin_[k] = *std::find_if(by_gain_.begin(), by_gain_.end(), [&](std::size_t j) {
        return same_but_for_gain(*models_[j], *models_[k]);
      });
    }
  }

  StepLimits find_limits(const RoundUpdate& update, std::size_t lane) const {
    const Model& model = *models_[lane];
    double largest_entry = 0.0;
    for (const double g : update.table) largest_entry = std::max(largest_entry, std::abs(g));
    return {model.learning_rate / model.gain,
            model.learning_rate,
            update.slope,
            update.largest / largest_entry,
            model.loss->convex(),
            shortened_[lane],
            update.agreement};
  }

  std::vector<const Model*> models_;  // of the lanes
  std::vector<bool> shortened_;       // whether a lane's last step was less than its rate
  std::vector<bool> always_shortened_;
  std::vector<std::size_t> by_gain_, twin_;
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

  std::vector<Margins::Point> take(const RoundContext& context, std::vector<RoundUpdate>& updates,
                                   const PassRequest& request,
                                   const std::function<void()>& progress, Team& team) override {
    const std::size_t lanes = solvers_.size();
    const Codes& codes = context.rows.codes;
    Margins& margins = *context.batch.margins;
    const std::vector<RowBlock> blocks = cut_into_row_blocks(codes.segments);
    for (std::size_t k = 0; k < lanes; ++k) {
      RoundUpdate& update = updates[k];
      if (!update.moves) continue;
      CoefficientSolver& solver = *solvers_[k];
      const CoefficientSolver::Found found =
          solver.add(context.states[context.batch.models[k]].rounds[0].feature.size(), update.codes,
                     update.feature != Rounds::kTree, update.table, progress, team);
      update.separated = found.separated;
      update.moves = found.moved;
      if (!found.moved) continue;
      team.for_each(blocks.size(), static_cast<double>(codes.rows), [&](std::size_t c) {
        for (std::size_t i = blocks[c].begin; i < blocks[c].end; ++i) {
          margins.u(i, k) = static_cast<float>(solver.u(i));
        }
      });
    }
    std::vector<Margins::Point> points = margins.move({}, request, team);
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

  double u(const Margins& /*margins*/, std::size_t row, std::size_t lane) const override {
    return solvers_[lane]->u(row);
  }
  void set_u(Margins& margins, std::size_t row, std::size_t lane, double u) override {
    Stepper::set_u(margins, row, lane, u);
    solvers_[lane]->u(row) = u;
  }
  void keep(const std::vector<std::size_t>& lanes) override { solvers_ = pick(solvers_, lanes); }

 private:
  std::vector<std::unique_ptr<CoefficientSolver>> solvers_;  // of the lanes
};

}  // namespace

std::unique_ptr<Stepper> make_stepper(const RoundContext& context) {
  if (context.algorithm.step().solves() == Solved::kNone) {
    return std::make_unique<ProposedSteps>(context);
  }
  return std::make_unique<SolvedSteps>(context);
}

}  // namespace properboost
