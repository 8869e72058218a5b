#include "properboost/rounds/booster.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/data/weight_totals.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/histogram/histogram_builder.hpp"
#include "properboost/margins/sample_weights.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/check_models.hpp"
#include "properboost/rounds/cohort.hpp"
#include "properboost/rounds/fit_context.hpp"
#include "properboost/rounds/repeated_rounds.hpp"
#include "properboost/rounds/stepper.hpp"
#include "properboost/trees/growing/tree_grower.hpp"

namespace properboost {

class Boosting::State {
 public:
  State(Rows rows, std::vector<Model> models, const Algorithm& algorithm, bool keep_rounds,
        bool risk_of_tables)
      : codes_(std::move(rows.codes)),
        models_(std::move(models)),
        algorithm_(algorithm),
        keep_rounds_(keep_rounds),
        risk_of_tables_(risk_of_tables),
        peers_(rows.peers),
        alone_(Team::alone(peers_)),
        weights_(rows.sample_weight, codes_.rows, alone_),
        totals_(weights_.rows(), codes_.segments, alone_),
        rows_{codes_, rows.bins, weights_.rows(), totals_, rows.numbers, rows.labels},
        states_(models_.size()),
        fit_{rows_,    counts_, packed_,      models_,   algorithm_,
             weights_, states_, keep_rounds_, rows.base, peers_} {
    check_models(models_, algorithm_, codes_.segments, peers_ != nullptr, rows_.labels.any());
    if (codes_.sparse.any() && needs_dense_codes()) {
      throw std::invalid_argument(
          "codes must be dense for votes, trees that classes share and linear leaves");
    }
    for (FitState& state : states_) state.rounds.resize(algorithm_.targets().count);
    for (std::vector<Lanes>& batches : deal_into_cohorts(models_, codes_.segments, algorithm_,
                                                         peers_ != nullptr, rows_.labels.any())) {
      cohorts_.emplace_back(fit_, std::move(batches));
    }
  }

  void repeat(const std::vector<Rounds>& rounds, std::size_t n_estimators, Team& team) {
    check_repeated(rounds, fit_);
    team.join(peers_);
    prepare(team);
    for (Cohort& cohort : cohorts_) {
      cohort.begin();
      repeat_rounds(rounds, fit_, cohort, team);
    }
    for (std::size_t m = 0; m < states_.size(); ++m) {
      states_[m].n_estimators = states_[m].n_repeated = n_estimators;
    }
  }

  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team, bool keep_others) {
    team.join(peers_);
    prepare(team);
    std::vector<bool> requested(models_.size(), false);
    for (const std::size_t m : models) requested[m] = !states_[m].finished;
    TreeGrowers growers(codes_, packed_, rows_.bins);
    Tally tally{progress, std::this_thread::get_id(), {0}, {false}};
    std::vector<Cohort*> cohorts;
    for (Cohort& cohort : cohorts_) {
      if (!keep_others) left_.merge(cohort.keep_only(requested));
      if (std::any_of(cohort.models().begin(), cohort.models().end(),
                      [&](std::size_t m) { return requested[m]; })) {
        cohorts.push_back(&cohort);
      }
    }
    constexpr double kShort = 5e6;  // nanoseconds
    const std::size_t whole = whole_tasks(cohorts.size(), team, kShort);
    team.for_each(whole, longest_loop() * static_cast<double>(n * whole), [&](std::size_t p) {
      Team alone = Team::alone();
      Run(*this, *cohorts[p], requested, growers, tally, alone).advance(n);
    });
    for (std::size_t p = whole; p < cohorts.size(); ++p) {
      Run(*this, *cohorts[p], requested, growers, tally, team).advance(n);
    }
  }

  Memory memory() const {
    Memory all;
    all.permanent = (codes_.segments.size() - 1) * rows_.bins.total_width() * sizeof(counts_[0]);
    if (any_grows_trees(models_)) all.permanent += PackedCodes::bytes(codes_, rows_.bins.size());
    for (const Cohort& cohort : cohorts_) {
      if (!cohort.has_begun()) all.then(cohort.memory());
    }
    return all;
  }

  double longest_loop() const {
    const auto rows = static_cast<double>(codes_.rows);
    const double features =
        static_cast<double>(codes_.bytes(rows_.bins.size())) / std::max(rows, 1.0);
    if (any_grows_trees(models_)) return rows * (5.0 + features);  // for the sums of all leaves
    std::size_t width = 1;
    for (const Cohort& cohort : cohorts_) {
      width = std::max(width, width_for(std::min(kMostLanes, cohort.models().size())));
    }
    const auto lanes = static_cast<double>(width);
    return rows *
           (lanes + (algorithm_.selection().in_turn() ? 1.0 : features) * (0.3 + 0.06 * lanes));
  }

  // An estimate for n rounds of all cohorts: one pass over the rows, or the cohorts if there are
  // several.
  double longest_loop(std::size_t n) const {
    return longest_loop() * static_cast<double>(cohorts_.size() > 1 ? n * cohorts_.size() : 1);
  }

  std::vector<std::size_t> code_counts() const {
    std::vector<std::size_t> counts(rows_.bins.total_width(), 0);
    for (std::size_t k = 0; k < counts_.size(); ++k) counts[k % counts.size()] += counts_[k];
    return counts;
  }

  std::vector<double> held_out(std::size_t model) const {
    const auto entry = left_.find(model);
    return entry != left_.end() ? entry->second : predict(model, is_held_out);
  }

  std::vector<double> raw(std::size_t model) const {
    return predict(model, [](Role) { return true; });
  }

  const std::vector<FitState>& states() const noexcept { return states_; }
  std::size_t cohorts() const noexcept { return cohorts_.size(); }

 private:
  // How many of some tasks, which each distribute the longest loop, run whole on a thread each: as
  // many as divide evenly if the loop is shorter than `shorter` nanoseconds, and all if it is not
  // worth distributing.
  std::size_t whole_tasks(std::size_t tasks, const Team& team, double shorter) const {
    constexpr double kShortest = 1e5;
    if (team.has_peers()) return 0;  // all must reduce their sums in the same order
    if (longest_loop() < kShortest) return tasks;
    return longest_loop() < shorter ? tasks / team.size() * team.size() : 0;
  }

  // Counts the estimators of all cohorts, and reports them from the calling thread alone.
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

  bool needs_dense_codes() const {
    return !algorithm_.targets().of_segment.empty() || algorithm_.coupling().shares_trees() ||
           std::any_of(models_.begin(), models_.end(), has_lines);
  }

  // Computes the statistics that depend on the codes alone.
  void prepare(Team& team) {
    if (counts_.empty()) counts_ = sum_over_peers(count_codes(codes_, rows_.bins, team), team);
    if (any_grows_trees(models_) && packed_.empty()) {
      packed_ = PackedCodes(codes_, rows_.bins.size(), team);
    }
  }

  // Adds the rows of other processes.
  static std::vector<std::size_t> sum_over_peers(const std::vector<std::size_t>& counts,
                                                 Team& team) {
    std::vector<std::int64_t> all(counts.begin(), counts.end());
    team.all_reduce().sum(all.data(), all.size()).run();
    return {all.begin(), all.end()};
  }

  std::vector<double> predict(std::size_t model, bool (*wanted)(Role)) const {
    for (const Cohort& cohort : cohorts_) {
      const Lanes& lanes = cohort.models();
      const auto lane = std::find(lanes.begin(), lanes.end(), model);
      if (lane == lanes.end()) continue;
      return cohort.predict(static_cast<std::size_t>(lane - lanes.begin()), wanted);
    }
    return {};
  }

  // One cohort's advance by some estimators: its planners, and where its lanes are.
  class Run {
   public:
    // All arguments must outlive it.
    Run(State& state, Cohort& cohort, const std::vector<bool>& requested, TreeGrowers& growers,
        Tally& tally, Team& team)
        : state_(state), cohort_(cohort), tally_(tally), team_(team) {
      cohort.begin();
      for (const std::size_t m : cohort.models()) lanes_.push_back({m, requested[m]});
      make_sections(growers);
      tables_ = sections_.front().planner->tables_per_estimator();
    }

    // Adds n estimators to every lane, or fewer to those that finish before.
    void advance(std::size_t n) {
      points_ = cohort_.margins().move({}, requests(0), team_);
      for (std::size_t left = n; left > 0; --left) {
        add_estimator(left == 1);
        tally_.add(complete_estimator(left), risk_);
        const bool go_on =
            std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.active; });
        if (!go_on || tally_.stopped.load()) break;
      }
      cohort_.margins().forget_weights();
    }

   private:
    // A model, and the changes to it by the current estimator.
    struct Lane {
      std::size_t model;
      bool active;  // whether it still gets rounds
      bool learns = false, ends = false;
    };
    // Neighbouring lanes that one planner plans for: a batch, or all batches of the cohort.
    struct Section {
      std::unique_ptr<Planner> planner;
      std::size_t first, lanes;
      std::size_t batches;
    };

    void make_sections(TreeGrowers& growers) {
      const auto memory = std::make_shared<HistogramMemory>();
      std::vector<const RoundContext*> batches;
      for (const auto& batch : cohort_.batches()) {
        contexts_.push_back({state_.fit_, *batch, memory, &growers});
        batches.push_back(&contexts_.back());
      }
      std::vector<std::unique_ptr<Planner>> planners = state_.algorithm_.make_planners(batches);
      const std::size_t each = batches.size() / planners.size();
      std::size_t first = 0;
      for (std::size_t b = 0; b < batches.size(); b += each) {
        std::size_t lanes = 0;
        for (std::size_t i = b; i < b + each; ++i) lanes += batches[i]->batch.models.size();
        sections_.push_back({std::move(planners[b / each]), first, lanes, each});
        first += lanes;
      }
    }

    // Collects each batch's request to the row pass before the t-th look-up table.
    std::vector<PassRequest> requests(std::size_t t) const {
      std::vector<PassRequest> all;
      for (const Section& section : sections_) {
        for (std::size_t b = 0; b < section.batches; ++b) {
          all.push_back(section.planner->request(t));
        }
      }
      return all;
    }

    // The pass after the t-th look-up table also scores rows held out, once per estimator.
    std::vector<PassRequest> requests_after(std::size_t t, bool is_last_estimator) const {
      const bool completes = t + 1 == tables_;
      std::vector<PassRequest> all = requests(t + 1);
      for (PassRequest& request : all) {
        request.held_out = completes;
        request.risk = request.risk && (state_.risk_of_tables_ || completes);
        if (completes && is_last_estimator) request.ahead = nullptr;  // nothing is planned next
      }
      return all;
    }

    void add_estimator(bool is_last) {
      for (Lane& lane : lanes_) lane.learns = lane.ends = false;
      const auto report = [this] { tally_.add(0, risk_); };
      for (std::size_t t = 0; t < tables_; ++t) {
        std::vector<RoundUpdate> updates = plan(t, report);
        points_ = cohort_.stepper().take(contexts_.front(), cohort_.margins(), updates,
                                         requests_after(t, is_last), report, team_);
        note(updates);
        if (t + 1 < tables_) report();  // a cycle may take long
      }
    }

    // Plans the updates of all sections.  Trees are grown side by side, as many as divide evenly:
    // threads that each grow one tree wait for each other once, not at every node.
    std::vector<RoundUpdate> plan(std::size_t t, const std::function<void()>& report) {
      std::vector<std::vector<RoundUpdate>> by_section(sections_.size());
      const auto plan_one = [&](std::size_t i, Team& team) {
        by_section[i] = sections_[i].planner->plan(t, active_lanes(sections_[i]), report, team);
      };
      constexpr double kHoweverLong = std::numeric_limits<double>::infinity();
      std::size_t whole = 0;  // batches of features share memory
      if (any_grows_trees(state_.models_)) {
        whole = state_.whole_tasks(sections_.size(), team_, kHoweverLong);
      }
      team_.for_each(whole, state_.longest_loop() * static_cast<double>(whole), [&](std::size_t i) {
        Team alone = Team::alone();
        plan_one(i, alone);
      });
      for (std::size_t i = whole; i < sections_.size(); ++i) plan_one(i, team_);
      std::vector<RoundUpdate> updates;
      for (std::vector<RoundUpdate>& of_section : by_section) {
        std::move(of_section.begin(), of_section.end(), std::back_inserter(updates));
      }
      return updates;
    }

    std::vector<bool> active_lanes(const Section& section) const {
      std::vector<bool> active(section.lanes);
      for (std::size_t k = 0; k < active.size(); ++k) active[k] = lanes_[section.first + k].active;
      return active;
    }

    // Records the effect of a look-up table, once all lanes have moved along it.
    void note(std::vector<RoundUpdate>& updates) {
      const std::size_t unit = cohort_.margins().lanes_a_step();
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        RoundUpdate& update = updates[k];
        if (lanes_[k].active) {
          state_.record(cohort_.stepper(), lanes_[k].model, k, update, points_[k]);
        }
        lanes_[k].ends = update.ends;
        if (!update.moves && !update.may_move_later) continue;
        const std::size_t first = k / unit * unit;  // a joint model learns if one class does
        for (std::size_t j = first; j < first + unit; ++j) lanes_[j].learns = true;
      }
    }

    // Counts the estimator in the lanes that it changed, and ends the others.  A lane that ends
    // needs none of the `left` estimators: they count as done.  Returns how many are, of all lanes.
    std::size_t complete_estimator(std::size_t left) {
      std::size_t done = 0;
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        Lane& lane = lanes_[k];
        if (!lane.active) continue;
        FitState& state = state_.states_[lane.model];
        const bool finishes = !lane.learns || lane.ends;
        done += finishes ? left : 1;
        if (finishes) {
          state.finished = true;
          lane.active = false;
        }
        if (lane.learns) {
          count_estimator(state, lane.model, points_[k]);
        } else if (state_.keep_rounds_) {
          drop_unfinished(state);
        }
      }
      return done;
    }

    void count_estimator(FitState& state, std::size_t model, const Point& point) {
      ++state.n_estimators;
      const bool keeps = state_.keep_rounds_;
      if (keeps && !state_.risk_of_tables_) repeat_last_risk(state);
      const HeldOutMeans& held_out = point.held_out;
      risk_ = keeps ? state_.models_[model].gain * point.risk : held_out.log_loss;
      if (std::isnan(held_out.log_loss)) return;  // nothing was held out
      state.log_loss.push_back(held_out.log_loss);
      state.error.push_back(held_out.error);
      state.brier.push_back(held_out.brier);
      state.of_class.push_back(point.of_class);
    }

    // Drops the rounds of an estimator that changed nothing.
    void drop_unfinished(FitState& state) const {
      const std::size_t added = state.n_estimators - state.n_repeated;
      for (Rounds& rounds : state.rounds) rounds.resize(added * tables_);
    }

    // The risk after an estimator's last look-up table is that of all of them.
    void repeat_last_risk(FitState& state) const {
      for (Rounds& rounds : state.rounds) {
        std::fill_n(rounds.risk.rbegin(), tables_, rounds.risk.back());
      }
    }

    State& state_;
    Cohort& cohort_;
    Tally& tally_;
    Team& team_;
    std::deque<RoundContext> contexts_;  // planners refer to them
    std::vector<Section> sections_;
    std::vector<Lane> lanes_;
    std::vector<Point> points_;                               // of each lane, after the last pass
    std::size_t tables_ = 0;                                  // an estimator
    double risk_ = std::numeric_limits<double>::quiet_NaN();  // of the lane that was counted last
  };

  // Records the update of an active lane, as a round.
  void record(const Stepper& stepper, std::size_t model, std::size_t lane, RoundUpdate& update,
              const Point& point) {
    const double gain = models_[model].gain;
    FitState& state = states_[model];
    state.separated = state.separated || update.separated;
    state.takes_turns = update.takes_turns;
    if (!keep_rounds_) {
      require_finite(point.slope, "slope", state.n_estimators + 1);
      return;
    }
    const double risk = gain * point.risk;
    require_finite(risk, "training risk", state.n_estimators + 1);
    unscale(update);
    if (!update.moves) {
      std::fill(update.table.begin(), update.table.end(), 0.0);
      std::fill(update.lines.slope.begin(), update.lines.slope.end(), 0.0);
      std::fill(update.tree.saving.begin(), update.tree.saving.end(), 0.0);
    }
    for (std::size_t target = 0; target < state.rounds.size(); ++target) {
      const std::size_t first = target * update.width;
      if (!update.cells.empty()) {
        std::copy_n(update.cells.begin() + static_cast<std::ptrdiff_t>(first), update.width,
                    update.tree.cell.begin());
      }
      state.rounds[target].push_back(update.feature, update.cost, update.step, risk,
                                     update.table.data() + first, update.width, update.tree,
                                     update.lines, update.proposed, update.taken);
      if (update.moves) stepper.revise(lane, gain, state.rounds[target]);
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
  const std::vector<Model> models_;
  const Algorithm& algorithm_;
  const bool keep_rounds_, risk_of_tables_;
  Peers* const peers_;
  Team alone_;  // with the peers
  const SampleWeights weights_;
  const WeightTotals totals_;
  const TrainingRows rows_;
  std::vector<FitState> states_;
  std::vector<std::size_t> counts_;  // [segment][code]: rows
  PackedCodes packed_;               // for trees
  const FitContext fit_;
  std::vector<Cohort> cohorts_;
  std::map<std::size_t, std::vector<double>> left_;  // held out, of models that left a cohort
};

Boosting::Boosting(Rows rows, std::vector<Model> models, const Algorithm& algorithm,
                   bool keep_rounds, bool risk_of_tables)
    : state_(std::make_unique<State>(std::move(rows), std::move(models), algorithm, keep_rounds,
                                     risk_of_tables)) {}
Boosting::~Boosting() = default;

void Boosting::repeat(const std::vector<Rounds>& rounds, std::size_t n_estimators, Team& team) {
  state_->repeat(rounds, n_estimators, team);
}
void Boosting::advance(std::size_t n, const std::vector<std::size_t>& models,
                       const Progress& progress, Team& team, bool keep_others) {
  state_->advance(n, models, progress, team, keep_others);
}
std::size_t Boosting::size() const noexcept { return state_->states().size(); }
std::size_t Boosting::cohorts() const noexcept { return state_->cohorts(); }
const FitState& Boosting::state(std::size_t model) const noexcept {
  return state_->states()[model];
}
Memory Boosting::memory() const { return state_->memory(); }
double Boosting::longest_loop(std::size_t n) const { return state_->longest_loop(n); }
std::vector<double> Boosting::held_out(std::size_t model) const { return state_->held_out(model); }
std::vector<double> Boosting::raw(std::size_t model) const { return state_->raw(model); }
std::vector<std::size_t> Boosting::code_counts() const { return state_->code_counts(); }

}  // namespace properboost
