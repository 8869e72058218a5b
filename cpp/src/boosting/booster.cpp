#include "properboost/boosting/booster.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "properboost/boosting/margins.hpp"
#include "properboost/boosting/model_batch.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/boosting/sample_weights.hpp"
#include "properboost/boosting/stepper.hpp"
#include "properboost/histogram/code_weights.hpp"

namespace properboost {

class Boosting::State {
 public:
  State(Rows rows, std::vector<Model> models, const Algorithm& algorithm, bool keep_rounds)
      : codes_(std::move(rows.codes)),
        base_(rows.base),
        models_(std::move(models)),
        algorithm_(algorithm),
        keep_rounds_(keep_rounds),
        weights_(rows.sample_weight, codes_.rows),
        rows_{codes_, rows.bins, weights_.rows()},
        states_(models_.size()) {
    std::size_t most_lanes = kMostLanes;
    for (std::size_t m = 0; m < models_.size(); ++m) {
      check(models_[m]);
      states_[m].rounds.resize(algorithm_.targets().count);
      most_lanes = std::min(most_lanes, algorithm_.most_lanes(models_[m]));
    }
    for (const Lanes& lanes : deal_into_batches(models_, codes_.segments, most_lanes)) {
      batches_.emplace_back(lanes);
    }
  }

  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team) {
    if (counts_.empty()) counts_ = count_codes(codes_, rows_.bins, team);
    if (any_grows_trees() && packed_.empty()) {
      packed_ = PackedCodes(codes_, rows_.bins.size(), team);
    }
    std::vector<bool> asked(models_.size(), false);
    for (const std::size_t m : models) asked[m] = !states_[m].finished;
    Tally tally{progress, std::this_thread::get_id(), {0}, {false}};
    std::vector<Batch*> batches;
    for (Batch& batch : batches_) {
      if (auto* const begun = std::get_if<BegunBatch>(&batch)) keep_only(*begun, asked);
      const Lanes& lanes = models_of(batch);
      if (std::any_of(lanes.begin(), lanes.end(), [&](std::size_t m) { return asked[m]; })) {
        batches.push_back(&batch);
      }
    }
    // If the loops of batches are too short to share among threads, whole batches are shared among
    // them, as many as divide evenly.
    std::size_t whole = 0;
    if (longest_loop() < kShortLoop) whole = batches.size() / team.size() * team.size();
    if (longest_loop() < kShortestLoop) whole = batches.size();
    team.for_each(whole, longest_loop() * static_cast<double>(n * whole), [&](std::size_t p) {
      Team alone = Team::alone();
      run(*batches[p], n, asked, tally, alone);
    });
    for (std::size_t p = whole; p < batches.size(); ++p) run(*batches[p], n, asked, tally, team);
  }

  double longest_loop() const {
    const auto rows = static_cast<double>(codes_.rows);
    const auto features = static_cast<double>(rows_.bins.size());
    if (any_grows_trees()) return rows * (5.0 + features);  // for the sums of all leaves
    std::size_t width = 1;
    for (const Batch& batch : batches_) width = std::max(width, width_for(models_of(batch).size()));
    const auto lanes = static_cast<double>(width);
    return rows *
           (lanes + (algorithm_.selection().in_turn() ? 1.0 : features) * (0.3 + 0.06 * lanes));
  }

  // An estimate for n rounds of all batches: one pass over the rows, or the batches if there are
  // several.
  double longest_loop(std::size_t n) const {
    return longest_loop() * static_cast<double>(batches_.size() > 1 ? n * batches_.size() : 1);
  }

  std::vector<std::size_t> code_counts() const {
    std::vector<std::size_t> counts(rows_.bins.total_width(), 0);
    for (std::size_t k = 0; k < counts_.size(); ++k) counts[k % counts.size()] += counts_[k];
    return counts;
  }

  std::vector<double> held_out(std::size_t model) const {
    const auto found = dropped_.find(model);
    return found != dropped_.end() ? found->second : predict(model, is_held_out);
  }

  std::vector<double> raw(std::size_t model) const {
    return predict(model, [](Role) { return true; });
  }

  const std::vector<FitState>& states() const noexcept { return states_; }

 private:
  // Batches begin when they are first advanced: until then there are only their models.
  using BegunBatch = std::unique_ptr<ModelBatch>;
  using Batch = std::variant<Lanes, BegunBatch>;

  static const Lanes& models_of(const Batch& batch) {
    if (const auto* const begun = std::get_if<BegunBatch>(&batch)) return (*begun)->models;
    return std::get<Lanes>(batch);
  }

  static constexpr double kShortLoop = 5e6;  // nanoseconds
  static constexpr double kShortestLoop = 1e5;

  // Counts the estimators of all batches, and reports them from the calling thread alone.
  struct Tally {
    const Progress& progress;
    std::thread::id caller;
    std::atomic<std::size_t> done;
    std::atomic<bool> stopped;

    void add(std::size_t estimators, double risk) {
      done.fetch_add(estimators);
      if (!progress || std::this_thread::get_id() != caller) return;
      try {
        progress(done.load(), risk);
      } catch (...) {
        stopped.store(true);
        throw;
      }
    }
  };

  // The largest share of a batch's training rows that one code of each feature holds.
  std::vector<double> find_crowding(const ModelBatch& batch) const {
    std::vector<std::size_t> counts(rows_.bins.total_width(), 0);
    std::size_t rows = 0;
    for (std::size_t s = 0; s < batch.roles.size(); ++s) {
      if (!batch.roles[s].trains) continue;
      rows += codes_.segments[s + 1] - codes_.segments[s];
      const std::size_t* const own = counts_.data() + s * rows_.bins.total_width();
      for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += own[b];
    }
    std::vector<double> crowding;
    for (std::size_t f = 0; f < rows_.bins.size(); ++f) {
      const auto first = counts.begin() + static_cast<std::ptrdiff_t>(rows_.bins.offset(f));
      const std::size_t most = *std::max_element(first, first + rows_.bins[f].width());
      crowding.push_back(static_cast<double>(most) / static_cast<double>(rows));
    }
    return crowding;
  }

  void check(const Model& model) const {
    if (model.weak_learner->has_criterion() && algorithm_.response().needs_curvature()) {
      throw std::invalid_argument("criterion must be None with a response that needs curvatures");
    }
    if (algorithm_.step().solves() == Solved::kNone) return;
    if (model.learning_rate != 1.0) {
      throw std::invalid_argument("learning_rate must be 1 with a step that is solved for");
    }
    if (!model.loss->convex()) {
      throw std::invalid_argument("loss must be convex with a step that is solved for");
    }
  }

  bool any_grows_trees() const { return std::any_of(models_.begin(), models_.end(), grows_trees); }

  RoundContext context_of(ModelBatch& batch) const {
    return {rows_, packed_, models_, algorithm_, weights_, states_, keep_rounds_, batch};
  }

  // A batch that has no stepper yet.
  BegunBatch set_up(Lanes models) const {
    auto made = std::make_unique<ModelBatch>();
    ModelBatch& batch = *made;
    batch.models = std::move(models);
    const std::size_t segments = codes_.segments.size() - 1;
    const std::size_t codes = rows_.bins.total_width();
    batch.roles.assign(segments, SegmentRoles{});
    batch.occupied.assign(batch.models.size() * codes, 0);
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      const std::vector<Role>& roles = models_[batch.models[k]].roles;
      std::uint8_t* occupied = batch.occupied.data() + k * codes;
      for (std::size_t s = 0; s < segments; ++s) {
        batch.roles[s].set(k, roles[s]);
        if (!learns(roles[s])) continue;
        const std::size_t* const counts = counts_.data() + s * codes;
        for (std::size_t b = 0; b < codes; ++b) occupied[b] |= counts[b] > 0 ? 1 : 0;
      }
    }
    batch.blocks = cut_into_accumulation_blocks(codes_.segments, batch.roles);
    batch.crowding = find_crowding(batch);
    batch.margins = std::make_unique<Margins>(
        rows_, batch.roles, width_for(batch.models.size()), *models_[batch.models.front()].loss,
        algorithm_.response().needs_curvature(), algorithm_.targets(),
        algorithm_.make_weighting(codes_.rows));
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      batch.row_counts.push_back(weights_.unscaled(batch.margins->training_weight(k)));
      batch.regularizers.push_back(
          find_regularizers(models_[batch.models[k]], batch.row_counts.back()));
    }
    return made;
  }

  // A batch whose models start from the base.
  BegunBatch begin(Lanes models) const {
    BegunBatch made = set_up(std::move(models));
    ModelBatch& batch = *made;
    batch.stepper = make_stepper(context_of(batch));
    if (!base_) return made;
    const Base& base = *base_;
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      const Model& model = models_[batch.models[k]];
      for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
        const double sign = sign_of(model.roles[s]);
        for (std::size_t i = codes_.segments[s]; i < codes_.segments[s + 1]; ++i) {
          batch.stepper->set_u(*batch.margins, i, k,
                               sign * base.of(batch.models[k], i) / model.gain);
        }
      }
    }
    return made;
  }

  // No step or cell value exceeds the link of an error of half a row.
  Regularizers find_regularizers(const Model& model, double rows) const {
    Regularizers r{};
    r.l2 = weights_.scaled(algorithm_.l2() * model.gain);
    r.gain = model.gain;
    r.largest = model.loss->link(1.0 - share_of_half_a_row(rows));
    return r;
  }

  // raw_of(row, role) for the rows whose role in a model is wanted.
  template <class Wanted, class RawOf>
  std::vector<double> collect(std::size_t model, const Wanted& wanted, const RawOf& raw_of) const {
    std::vector<double> raw;
    raw.reserve(codes_.rows);
    for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
      const Role role = models_[model].roles[s];
      if (!wanted(role)) continue;
      for (std::size_t i = codes_.segments[s]; i < codes_.segments[s + 1]; ++i) {
        raw.push_back(raw_of(i, role));
      }
    }
    return raw;
  }

  // Raw predictions of the rows whose role is wanted.
  template <class Wanted>
  std::vector<double> predict(const ModelBatch& batch, std::size_t lane,
                              const Wanted& wanted) const {
    const std::size_t m = batch.models[lane];
    return collect(m, wanted, [&](std::size_t i, Role role) {
      return sign_of(role) * models_[m].gain * batch.stepper->u(*batch.margins, i, lane);
    });
  }

  template <class Wanted>
  std::vector<double> predict(std::size_t model, const Wanted& wanted) const {
    for (const Batch& batch : batches_) {
      const Lanes& lanes = models_of(batch);
      const auto found = std::find(lanes.begin(), lanes.end(), model);
      if (found == lanes.end()) continue;
      if (const auto* const begun = std::get_if<BegunBatch>(&batch)) {
        return predict(**begun, static_cast<std::size_t>(found - lanes.begin()), wanted);
      }
      return collect(model, wanted,
                     [&](std::size_t i, Role) { return base_ ? base_->of(model, i) : 0.0; });
    }
    return {};
  }

  // Makes a batch narrower once enough of its lanes are no longer advanced.
  void keep_only(BegunBatch& batch, const std::vector<bool>& asked) {
    Lanes kept;
    for (std::size_t k = 0; k < batch->models.size(); ++k) {
      if (asked[batch->models[k]]) kept.push_back(k);
    }
    if (kept.empty() || width_for(kept.size()) == width_for(batch->models.size())) {
      return;
    }
    for (std::size_t k = 0; k < batch->models.size(); ++k) {
      if (!asked[batch->models[k]]) dropped_[batch->models[k]] = predict(*batch, k, is_held_out);
    }
    Lanes models;
    for (const std::size_t k : kept) models.push_back(batch->models[k]);
    BegunBatch narrow = set_up(std::move(models));
    narrow->stepper = std::move(batch->stepper);
    narrow->stepper->keep(kept);
    for (std::size_t i = 0; i < codes_.rows; ++i) {
      for (std::size_t k = 0; k < kept.size(); ++k) {
        narrow->margins->u(i, k) = batch->margins->u(i, kept[k]);
      }
    }
    batch = std::move(narrow);
  }

  void run(Batch& to_run, std::size_t n, const std::vector<bool>& asked, Tally& tally, Team& team) {
    if (auto* const lanes = std::get_if<Lanes>(&to_run)) to_run = begin(*lanes);
    ModelBatch& batch = *std::get<BegunBatch>(to_run);
    const std::size_t lanes = batch.models.size();
    Margins& margins = *batch.margins;
    const RoundContext context = context_of(batch);
    const std::unique_ptr<Planner> planner = algorithm_.make_planner(context);
    const std::size_t tables = planner->tables_per_estimator();

    std::vector<bool> active(lanes);
    for (std::size_t k = 0; k < lanes; ++k) active[k] = asked[batch.models[k]];
    std::vector<Margins::Point> points = margins.move({}, planner->request(0), team);

    double risk = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t e = 0; e < n; ++e) {
      std::vector<bool> learns(lanes, false), ends(lanes, false);
      for (std::size_t t = 0; t < tables; ++t) {
        const auto report = [&] { tally.add(0, risk); };
        std::vector<RoundUpdate> updates = planner->plan(t, active, report, team);
        PassRequest request = planner->request(t + 1);
        request.held_out = t + 1 == tables;
        points = batch.stepper->take(context, updates, request, report, team);
        record(batch, updates, active, points);
        for (std::size_t k = 0; k < lanes; ++k) {
          learns[k] = learns[k] || updates[k].moves || updates[k].may_move_later;
          ends[k] = updates[k].ends;
        }
        if (!request.held_out) tally.add(0, risk);  // a cycle may take long
      }
      std::size_t done = 0;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        FitState& state = states_[batch.models[k]];
        if (!learns[k]) {
          if (keep_rounds_) {
            for (Rounds& rounds : state.rounds) rounds.resize(state.n_estimators * tables);
          }
          state.finished = true;
          active[k] = false;
          done += n - e;
          continue;
        }
        ++done;
        ++state.n_estimators;
        if (ends[k]) {
          state.finished = true;
          active[k] = false;
          done += n - e - 1;
        }
        risk = keep_rounds_ ? models_[batch.models[k]].gain * points[k].risk : points[k].log_loss;
        if (std::isnan(points[k].log_loss)) continue;  // nothing was held out
        state.log_loss.push_back(points[k].log_loss);
        state.error.push_back(points[k].error);
        state.brier.push_back(points[k].brier);
      }
      tally.add(done, risk);
      if (tally.stopped.load() ||
          std::none_of(active.begin(), active.end(), [](bool a) { return a; }))
        break;
    }
    margins.forget_weights();
  }

  // Records what each active lane added, as a round.
  void record(const ModelBatch& batch, std::vector<RoundUpdate>& updates,
              const std::vector<bool>& active, const std::vector<Margins::Point>& points) {
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      if (!active[k]) continue;
      const double gain = models_[batch.models[k]].gain;
      FitState& state = states_[batch.models[k]];
      RoundUpdate& update = updates[k];
      state.separated = state.separated || update.separated;
      if (!keep_rounds_) {
        require_finite(points[k].slope, "slope", state.n_estimators + 1);
        continue;
      }
      const double risk = gain * points[k].risk;
      require_finite(risk, "training risk", state.n_estimators + 1);
      unscale(update);
      if (!update.moves) {
        std::fill(update.table.begin(), update.table.end(), 0.0);
        std::fill(update.tree.saving.begin(), update.tree.saving.end(), 0.0);
      }
      for (std::size_t target = 0; target < state.rounds.size(); ++target) {
        const std::size_t first = target * update.width;
        if (!update.cells.empty()) {
          std::copy_n(update.cells.begin() + static_cast<std::ptrdiff_t>(first), update.width,
                      update.tree.cell.begin());
        }
        state.rounds[target].push_back(update.feature, update.cost, update.step, risk,
                                       update.table.data() + first, update.width, update.tree);
        if (update.moves) batch.stepper->revise(k, gain, state.rounds[target]);
      }
    }
  }

  // Converts costs and weights of nodes to the unit of the caller's sample weights.
  void unscale(RoundUpdate& update) const {
    if (!algorithm_.response().is_cost_a_sum_of_weights()) {
      update.cost = weights_.unscaled(update.cost);
    }
    for (std::vector<Cell>* cells : {&update.tree.cell, &update.cells}) {
      for (Cell& cell : *cells) {
        cell.positive = weights_.unscaled(cell.positive);
        cell.negative = weights_.unscaled(cell.negative);
      }
    }
    for (double& saving : update.tree.saving) saving = weights_.unscaled(saving);
  }

  const Codes codes_;
  const std::optional<Base> base_;
  const std::vector<Model> models_;
  const Algorithm& algorithm_;
  const bool keep_rounds_;
  const SampleWeights weights_;
  const TrainingRows rows_;
  std::vector<FitState> states_;
  std::vector<Batch> batches_;
  std::vector<std::size_t> counts_;                     // [segment][code]: rows
  PackedCodes packed_;                                  // for trees
  std::map<std::size_t, std::vector<double>> dropped_;  // raw predictions after a batch
};

Boosting::Boosting(Rows rows, std::vector<Model> models, const Algorithm& algorithm,
                   bool keep_rounds)
    : state_(std::make_unique<State>(std::move(rows), std::move(models), algorithm, keep_rounds)) {}
Boosting::~Boosting() = default;

void Boosting::advance(std::size_t n, const std::vector<std::size_t>& models,
                       const Progress& progress, Team& team) {
  state_->advance(n, models, progress, team);
}
std::size_t Boosting::size() const noexcept { return state_->states().size(); }
const FitState& Boosting::state(std::size_t model) const noexcept {
  return state_->states()[model];
}
double Boosting::longest_loop(std::size_t n) const { return state_->longest_loop(n); }
std::vector<double> Boosting::held_out(std::size_t model) const { return state_->held_out(model); }
std::vector<double> Boosting::raw(std::size_t model) const { return state_->raw(model); }
std::vector<std::size_t> Boosting::code_counts() const { return state_->code_counts(); }

}  // namespace properboost
