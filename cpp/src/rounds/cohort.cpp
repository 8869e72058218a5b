#include "properboost/rounds/cohort.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "properboost/core/peers.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/margins/coupled_margins.hpp"
#include "properboost/margins/margins.hpp"
#include "properboost/margins/sample_weights.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/rounds/lanes.hpp"
#include "properboost/steps/coefficient_solver.hpp"
#include "properboost/trees/growing/leaf_lines.hpp"
#include "properboost/trees/growing/tree_grower.hpp"

namespace properboost {
namespace {

// The cost of a round of a batch, relative to one of 16 lanes (benchmarks/engine/lanes.py).
double cost_of_width(std::size_t lanes) {
  switch (width_for(lanes)) {
    case 1: return 0.13;
    case 2: return 0.2;
    case 4: return 0.28;
    case 8: return 0.5;
    default: return 1.0;
  }
}

std::size_t count_training_rows(const Model& model, const std::vector<std::size_t>& segments) {
  std::size_t rows = 0;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    if (learns(model.roles[s])) rows += segments[s + 1] - segments[s];
  }
  return rows;
}

// No step or cell value exceeds the link of an error of half a row.
Regularizers find_regularizers(const Model& model, const FitContext& fit, double rows) {
  Regularizers r{};
  r.l2 = fit.weights.scaled(fit.algorithm.l2() * model.gain);
  r.gain = model.gain;
  r.largest = model.loss->link(1.0 - share_of_half_a_row(rows));
  return r;
}

bool learn_from_same_rows(const Model& a, const Model& b) {
  return std::equal(a.roles.begin(), a.roles.end(), b.roles.begin(),
                    [](auto one, auto other) { return learns(one) == learns(other); });
}

// The parts of a list, of at most so many models each.
std::vector<Lanes> cut(const Lanes& models, std::size_t most) {
  std::vector<Lanes> parts;
  for (std::size_t i = 0; i < models.size(); i += most) {
    const auto begin = models.begin() + static_cast<std::ptrdiff_t>(i);
    const std::size_t n = std::min(most, models.size() - i);
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
  }
  return parts;
}

// The models of each cohort, which share a loss and, by rows, the rows that they learn from.
std::vector<Lanes> deal(const std::vector<Model>& models, std::size_t coupled, std::size_t most,
                        bool by_rows) {
  std::vector<Lanes> alike;
  for (std::size_t m = 0; m < models.size(); m += coupled) {
    const auto fits = [&](const Lanes& those) {
      const Model& first = models[those.front()];
      return first.loss == models[m].loss && (!by_rows || learn_from_same_rows(first, models[m]));
    };
    auto group = std::find_if(alike.begin(), alike.end(), fits);
    if (group == alike.end()) group = alike.insert(alike.end(), Lanes{});
    for (std::size_t k = 0; k < coupled; ++k) group->push_back(m + k);
  }
  // A joint model has a cohort of its own: its classes share the bounds of their sums.
  std::vector<Lanes> cohorts;
  for (const Lanes& those : alike) {
    for (Lanes& cohort : cut(those, coupled > 1 ? coupled : most)) {
      cohorts.push_back(std::move(cohort));
    }
  }
  return cohorts;
}

// The cost of a round of all cohorts: a cohort goes through the rows that any of it learns from.
double cost_of(const std::vector<Lanes>& cohorts, const std::vector<Model>& models,
               const std::vector<std::size_t>& segments) {
  double total = 0.0;
  for (const Lanes& cohort : cohorts) {
    std::size_t rows = 0;
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      const bool used = std::any_of(cohort.begin(), cohort.end(),
                                    [&](std::size_t m) { return learns(models[m].roles[s]); });
      if (used) rows += segments[s + 1] - segments[s];
    }
    total += cost_of_width(cohort.size()) * static_cast<double>(rows);
  }
  return total;
}

// The most models that share a batch.
std::size_t count_most_lanes(const std::vector<Model>& models, const Algorithm& algorithm,
                             bool are_soft) {
  const FurtherLanes further =
      are_soft ? find_further_lanes(models.front(), algorithm, 1) : FurtherLanes();
  std::size_t most = kMostLanes / further.all(1);
  // Few models, of two lanes each, leave many of 16 lanes unused, which cost as much as twice 8.
  if (are_soft && algorithm.coupling().classes == 1) most /= 2;
  for (const Model& model : models) most = std::min(most, algorithm.most_lanes(model));
  return most;
}

}  // namespace

std::vector<std::vector<Lanes>> deal_into_cohorts(const std::vector<Model>& models,
                                                  const std::vector<std::size_t>& segments,
                                                  const Algorithm& algorithm, bool have_peers,
                                                  bool are_soft) {
  const std::size_t coupled = algorithm.coupling().classes;
  const std::size_t most = count_most_lanes(models, algorithm, are_soft);
  std::vector<Lanes> dealt = deal(models, coupled, most, true);
  if (!have_peers) {
    std::vector<Lanes> mixed = deal(models, coupled, most, false);
    if (cost_of(mixed, models, segments) < cost_of(dealt, models, segments)) {
      dealt = std::move(mixed);
    }
  }
  std::vector<std::vector<Lanes>> cohorts;
  cohorts.reserve(dealt.size());
  for (const Lanes& cohort : dealt) cohorts.push_back(cut(cohort, most));
  return cohorts;
}

Cohort::Cohort(const FitContext& fit, std::vector<Lanes> batches)
    : fit_(&fit), dealt_(std::move(batches)) {
  for (const Lanes& lanes : dealt_) models_.insert(models_.end(), lanes.begin(), lanes.end());
}

void Cohort::begin() {
  if (has_begun()) return;
  set_up();
  const RoundContext context{*fit_, *batches_.front(), nullptr, nullptr};
  std::unique_ptr<Stepper> stepper = make_stepper(context, models_, *margins_);
  if (fit_->base) set_to_base(*fit_->base, *stepper);
  stepper_ = std::move(stepper);
}

void Cohort::set_up() {
  batches_.clear();
  for (const Lanes& lanes : dealt_) {
    batches_.push_back(make_batch(lanes, fit_->models, fit_->rows, fit_->counts, fit_->algorithm));
  }
  if (fit_->algorithm.coupling().classes == 1) {
    make_margins();
  } else {
    make_coupled_margins();
  }
  for (const auto& batch : batches_) {
    for (std::size_t k = 0; k < batch->models.size(); ++k) {
      batch->row_counts.push_back(fit_->weights.unscaled(batch->margins->training_weight(k)));
      batch->regularizers.push_back(
          find_regularizers(fit_->models[batch->models[k]], *fit_, batch->row_counts.back()));
    }
  }
}

void Cohort::make_margins() {
  const Algorithm& algorithm = fit_->algorithm;
  ModelBatch& batch = *batches_.front();
  auto margins = std::make_unique<Margins>(
      fit_->rows, batch.roles, batch.models, batch.further,
      grows_trees(fit_->models[models_.front()]), *fit_->models[models_.front()].loss,
      algorithm.response().needs_curvature(), algorithm.targets(),
      algorithm.make_weighting(fit_->rows.codes.rows));
  batch.margins = margins.get();
  margins_ = std::move(margins);
}

void Cohort::make_coupled_margins() {
  const Algorithm& algorithm = fit_->algorithm;
  std::vector<const std::vector<Role>*> roles;
  for (const std::size_t m : models_) roles.push_back(&fit_->models[m].roles);
  std::vector<CoupledMargins::BatchLanes> lanes;
  for (const auto& batch : batches_)
    lanes.push_back({batch->models.size(), batch->roles, batch->further});
  const auto classes = static_cast<double>(algorithm.coupling().classes);
  const double share = algorithm.step().guards() ? (classes - 1.0) / classes : 0.5;
  auto margins = std::make_unique<CoupledMargins>(
      fit_->rows, std::move(roles), lanes, *fit_->models[models_.front()].loss,
      algorithm.coupling(), share, algorithm.response().needs_curvature());
  for (std::size_t b = 0; b < batches_.size(); ++b) batches_[b]->margins = &margins->batch(b);
  margins_ = std::move(margins);
}

void Cohort::set_to_base(const Base& base, Stepper& stepper) {
  const std::vector<std::size_t>& segments = fit_->rows.codes.segments;
  for (std::size_t k = 0; k < models_.size(); ++k) {
    const Model& model = fit_->models[models_[k]];
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      const double sign = sign_of(model.roles[s]);
      for (std::size_t i = segments[s]; i < segments[s + 1]; ++i) {
        stepper.set_u(*margins_, i, k, sign * base.of(models_[k], i) / model.gain);
      }
    }
  }
  margins_->reduce_bounds(AllReduce(fit_->peers));
}

Memory Cohort::memory() const {
  const Algorithm& algorithm = fit_->algorithm;
  const Codes& codes = fit_->rows.codes;
  const Bins& bins = fit_->rows.bins;
  const Model& first = fit_->models[models_.front()];
  const bool needs_curvature = algorithm.response().needs_curvature();
  std::vector<std::size_t> widths;
  Memory all;
  const bool is_soft = fit_->rows.labels.any();
  for (const Lanes& lanes : dealt_) {
    const FurtherLanes further =
        is_soft ? find_further_lanes(first, algorithm, lanes.size()) : FurtherLanes();
    widths.push_back(width_for(further.all(lanes.size())));
    all.permanent += lanes.size() * bins.total_width();  // which codes are occupied
    if (is_soft) all.permanent += codes.rows * widths.back() * sizeof(float);  // shares
    if (!grows_trees(first)) {
      all.working += Histogram::bytes(bins, widths.back(), needs_curvature);
    }
  }
  const std::size_t training = count_training_rows(first, codes.segments);
  if (std::any_of(models_.begin(), models_.end(),
                  [&](std::size_t m) { return has_lines(fit_->models[m]); })) {
    all.working += codes.rows * dealt_.size() * sizeof(float);  // the lines' values of rows
    all.working += LeafLines::bytes(training);
  }
  const LearnerKind kind = first.weak_learner->kind();
  if (const auto* const grown = std::get_if<const GrownLearner*>(&kind)) {
    const bool shares = algorithm.coupling().shares_trees();
    all.working += codes.rows * (shares ? 1 : dealt_.size());     // the rows' nodes
    if (algorithm.least_screen() > 0) all.working += codes.rows;  // and where a grower finds them
    all.working += shares ? TreeGrower::joint_bytes(bins, codes.rows, training, dealt_.size(),
                                                    (*grown)->limits.leaves)
                          : TreeGrower::bytes(codes.rows, training, needs_curvature || is_soft);
  }
  if (algorithm.coupling().classes > 1) {
    all += CoupledMargins::needs(codes.rows, widths, *first.loss, algorithm.coupling(),
                                 needs_curvature && (!is_soft || grows_trees(first)));
  } else {
    if (is_soft && grows_trees(first)) all.working += 2 * codes.rows * sizeof(float);  // squares
    const bool keeps_weights = grows_trees(first) || !algorithm.selection().in_turn();
    all += Margins::needs(codes.rows, widths.front(), *first.loss, keeps_weights, needs_curvature);
  }
  if (algorithm.step().solves() != Solved::kNone) {
    all.permanent += models_.size() * CoefficientSolver::bytes(codes.rows);
  }
  return all;
}

std::map<std::size_t, std::vector<double>> Cohort::keep_only(const std::vector<bool>& requested) {
  if (!has_begun() || margins_->lanes_a_step() > 1) return {};
  std::vector<std::size_t> lanes;  // lanes
  Lanes models;
  for (std::size_t k = 0; k < models_.size(); ++k) {
    if (!requested[models_[k]]) continue;
    lanes.push_back(k);
    models.push_back(models_[k]);
  }
  if (lanes.empty() || width_for(lanes.size()) == width_for(models_.size())) return {};
  std::map<std::size_t, std::vector<double>> left;
  for (std::size_t k = 0; k < models_.size(); ++k) {
    if (!requested[models_[k]]) left[models_[k]] = predict(k, is_held_out);
  }
  Cohort narrow(*fit_, {std::move(models)});
  narrow.set_up();
  narrow.stepper_ = std::move(stepper_);
  narrow.stepper_->keep(lanes);
  for (std::size_t i = 0; i < fit_->rows.codes.rows; ++i) {
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      narrow.margins_->set_u(i, k, margins_->u(i, lanes[k]));
    }
  }
  narrow.margins_->reduce_bounds(AllReduce(fit_->peers));
  std::swap(*this, narrow);
  return left;
}

std::vector<double> Cohort::predict(std::size_t lane, bool (*wanted)(Role)) const {
  const std::size_t m = models_[lane];
  const Model& model = fit_->models[m];
  const auto raw_of = [&](std::size_t i, Role role) {
    if (has_begun()) return sign_of(role) * model.gain * stepper_->u(*margins_, i, lane);
    return fit_->base ? fit_->base->of(m, i) : 0.0;
  };
  const Codes& codes = fit_->rows.codes;
  std::vector<double> raw;
  raw.reserve(codes.rows);
  for (std::size_t s = 0; s + 1 < codes.segments.size(); ++s) {
    const Role role = model.roles[s];
    if (!wanted(role)) continue;
    for (std::size_t i = codes.segments[s]; i < codes.segments[s + 1]; ++i) {
      raw.push_back(raw_of(i, role));
    }
  }
  return raw;
}

}  // namespace properboost
