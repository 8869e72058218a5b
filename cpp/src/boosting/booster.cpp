#include "properboost/boosting/booster.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "properboost/boosting/coupled_margins.hpp"
#include "properboost/boosting/margins.hpp"
#include "properboost/boosting/model_batch.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/boosting/sample_weights.hpp"
#include "properboost/boosting/stepper.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/steps/coefficient_solver.hpp"
#include "properboost/trees/tree_grower.hpp"
#include "properboost/trees/tree_walk.hpp"

namespace properboost {

class Boosting::State {
 public:
  State(Rows rows, std::vector<Model> models, const Algorithm& algorithm, bool keep_rounds,
        bool risk_of_tables)
      : codes_(std::move(rows.codes)),
        base_(rows.base),
        models_(std::move(models)),
        algorithm_(algorithm),
        keep_rounds_(keep_rounds),
        risk_of_tables_(risk_of_tables),
        peers_(rows.peers),
        alone_(Team::alone(peers_)),
        weights_(rows.sample_weight, codes_.rows, alone_),
        totals_(weights_.rows(), codes_.segments, alone_),
        rows_{codes_, rows.bins, weights_.rows(), totals_, rows.numbers},
        states_(models_.size()) {
    std::size_t most_lanes = kMostLanes;
    for (std::size_t m = 0; m < models_.size(); ++m) {
      check(models_[m]);
      states_[m].rounds.resize(algorithm_.targets().count);
      most_lanes = std::min(most_lanes, algorithm_.most_lanes(models_[m]));
    }
    const std::size_t classes = algorithm_.coupling().classes;
    check_coupling(classes);
    check_peers(most_lanes);
    for (std::vector<Lanes>& batches :
         deal_into_cohorts(models_, codes_.segments, most_lanes, classes)) {
      Lanes all;
      for (const Lanes& lanes : batches) all.insert(all.end(), lanes.begin(), lanes.end());
      cohorts_.push_back({std::move(all), std::move(batches)});
    }
  }

  void repeat(const std::vector<Rounds>& rounds, std::size_t n_estimators, Team& team) {
    check_repeated(rounds);
    team.join(peers_);
    prepare(team);
    for (Dealt& dealt : cohorts_) {
      dealt.batches = begin(dealt.models, std::get<std::vector<Lanes>>(dealt.batches));
      repeat(*std::get<Begun>(dealt.batches), dealt.models, rounds, team);
    }
    for (std::size_t m = 0; m < states_.size(); ++m) {
      states_[m].n_estimators = states_[m].n_repeated = n_estimators;
    }
  }

  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team) {
    team.join(peers_);
    prepare(team);
    std::vector<bool> asked(models_.size(), false);
    for (const std::size_t m : models) asked[m] = !states_[m].finished;
    TreeGrowers growers(codes_, packed_, rows_.bins);
    Tally tally{progress, std::this_thread::get_id(), {0}, {false}};
    std::vector<Dealt*> cohorts;
    for (Dealt& dealt : cohorts_) {
      if (std::holds_alternative<Begun>(dealt.batches)) keep_only(dealt, asked);
      if (std::any_of(dealt.models.begin(), dealt.models.end(),
                      [&](std::size_t m) { return asked[m]; })) {
        cohorts.push_back(&dealt);
      }
    }
    constexpr double kShort = 5e6;  // nanoseconds
    const std::size_t whole = whole_tasks(cohorts.size(), team, kShort);
    team.for_each(whole, longest_loop() * static_cast<double>(n * whole), [&](std::size_t p) {
      Team alone = Team::alone();
      run(*cohorts[p], n, asked, growers, tally, alone);
    });
    for (std::size_t p = whole; p < cohorts.size(); ++p) {
      run(*cohorts[p], n, asked, growers, tally, team);
    }
  }

  Memory memory() const {
    Memory all;
    all.kept = (codes_.segments.size() - 1) * rows_.bins.total_width() * sizeof(counts_[0]);
    if (any_grows_trees()) all.kept += PackedCodes::bytes(codes_.rows, rows_.bins.size());
    for (const Dealt& dealt : cohorts_) {
      if (const auto* const waiting = std::get_if<std::vector<Lanes>>(&dealt.batches)) {
        all.then(memory_of(dealt.models, *waiting));
      }
    }
    return all;
  }

  double longest_loop() const {
    const auto rows = static_cast<double>(codes_.rows);
    const auto features = static_cast<double>(rows_.bins.size());
    if (any_grows_trees()) return rows * (5.0 + features);  // for the sums of all leaves
    std::size_t width = 1;
    for (const Dealt& dealt : cohorts_) {
      width = std::max(width, width_for(std::min(kMostLanes, dealt.models.size())));
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
    const auto found = dropped_.find(model);
    return found != dropped_.end() ? found->second : predict(model, is_held_out);
  }

  std::vector<double> raw(std::size_t model) const {
    return predict(model, [](Role) { return true; });
  }

  const std::vector<FitState>& states() const noexcept { return states_; }
  std::size_t cohorts() const noexcept { return cohorts_.size(); }

 private:
  // Cohorts begin when they are first advanced: until then there are only their batches' models.
  using Begun = std::unique_ptr<Cohort>;
  struct Dealt {
    Lanes models;  // of all batches
    std::variant<std::vector<Lanes>, Begun> batches;
  };

  // How many of some tasks, which each hand out the longest loop, are shared whole among threads:
  // as many as divide evenly if the loop is shorter than so many nanoseconds, and all if it is not
  // worth handing out.
  std::size_t whole_tasks(std::size_t tasks, const Team& team, double shorter) const {
    constexpr double kShortest = 1e5;
    if (team.has_peers()) return 0;  // all must share their sums in the same order
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

  // Finds what depends on the codes alone.
  void prepare(Team& team) {
    if (counts_.empty()) counts_ = share(count_codes(codes_, rows_.bins, team), team);
    if (any_grows_trees() && packed_.empty()) {
      packed_ = PackedCodes(codes_, rows_.bins.size(), team);
    }
  }

  // What one round of an earlier fit adds to the rows, as codes and a look-up table.
  struct Repeated {
    const std::uint8_t* codes = nullptr;
    std::vector<double> table;
    Aligned<std::uint8_t> nodes;  // which are the codes, where the round added a tree
    Aligned<float> lines;
  };

  Repeated look_again(const Rounds& rounds, std::size_t t, Team& team) const {
    const auto first = static_cast<std::size_t>(rounds.offsets[t]);
    const auto end = static_cast<std::size_t>(rounds.offsets[t + 1]);
    Repeated found;
    found.table.assign(rounds.values.begin() + static_cast<std::ptrdiff_t>(first),
                       rounds.values.begin() + static_cast<std::ptrdiff_t>(end));
    if (rounds.feature[t] != Rounds::kTree) {
      found.codes = codes_.feature(static_cast<std::size_t>(rounds.feature[t]));
      return found;
    }
    found.nodes.resize(codes_.rows);
    const TreeWalk walk(rounds.trees.part(first, end));
    constexpr std::size_t kRows = 1024;
    const double nanoseconds = 10.0 * static_cast<double>(codes_.rows);
    team.for_each((codes_.rows + kRows - 1) / kRows, nanoseconds, [&](std::size_t c) {
      std::array<std::uint32_t, kRows> rows;
      const std::size_t n = std::min(kRows, codes_.rows - c * kRows);
      std::iota(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n),
                static_cast<std::uint32_t>(c * kRows));
      walk.find_nodes(packed_, rows.data(), n, found.nodes.data());
    });
    found.codes = found.nodes.data();
    if (rounds.lines.empty()) return found;
    const NodeLines own = rounds.lines.part(first, end);
    found.lines.resize(codes_.rows);
    evaluate(own, packed_, rows_.bins, found.codes, codes_.rows, found.lines.data(), team);
    return found;
  }

  // Moves the margins of a cohort as an earlier fit did: once as each step was proposed, and once
  // as it was corrected.
  void repeat(Cohort& cohort, const Lanes& models, const std::vector<Rounds>& rounds, Team& team) {
    std::size_t longest = 0;
    for (const std::size_t m : models) longest = std::max(longest, rounds[m].feature.size());
    const std::vector<PassRequest> nothing(cohort.batches.size());
    for (std::size_t t = 0; t < longest; ++t) {
      std::vector<Repeated> found(models.size());
      std::vector<Move> proposed, corrected;
      for (std::size_t k = 0; k < models.size(); ++k) {
        const Rounds& own = rounds[models[k]];
        if (t >= own.feature.size() || (own.proposed[t] == 0.0 && own.taken[t] == 0.0)) continue;
        found[k] = look_again(own, t, team);
        const auto move_by = [&](double step, std::vector<Move>& to) {
          if (step == 0.0) return;
          to.push_back({k, found[k].codes, found[k].table, step, found[k].table.size(),
                        found[k].lines.empty() ? nullptr : found[k].lines.data()});
        };
        move_by(own.proposed[t], proposed);
        move_by(own.taken[t] - own.proposed[t], corrected);
        cohort.stepper->repeat(k, own.taken[t]);
      }
      const std::size_t unit = cohort.margins->lanes_a_step();
      for (auto first = proposed.begin(); first != proposed.end();) {  // as a step begins
        const std::size_t own = first->lane / unit;
        const auto last = std::find_if(first, proposed.end(),
                                       [&](const Move& move) { return move.lane / unit != own; });
        cohort.margins->look_along({first, last}, team);
        first = last;
      }
      if (!proposed.empty()) cohort.margins->move(proposed, nothing, team);
      if (!corrected.empty()) cohort.margins->move(corrected, nothing, team);
    }
    cohort.margins->forget_weights();
  }

  // What rounds refer to must be there.
  void check_repeated(const std::vector<Rounds>& rounds) const {
    if (rounds.size() != models_.size()) {
      throw std::invalid_argument("repeat needs the rounds of every model");
    }
    if (algorithm_.step().solves() != Solved::kNone || algorithm_.targets().count > 1) {
      throw std::invalid_argument("repeat must not be of steps that are solved for, nor of votes");
    }
    for (std::size_t m = 0; m < rounds.size(); ++m) {
      if (states_[m].n_estimators > 0) {
        throw std::invalid_argument("repeat must come before the first advance");
      }
      for (std::size_t t = 0; t < rounds[m].feature.size(); ++t) {
        const std::int32_t f = rounds[m].feature[t];
        const auto width =
            static_cast<std::size_t>(rounds[m].offsets[t + 1] - rounds[m].offsets[t]);
        const auto wide = [&](std::size_t j) {
          return static_cast<std::size_t>(rows_.bins[j].width());
        };
        const auto j = static_cast<std::size_t>(f);
        const bool fits = f == Rounds::kTree
                              ? any_grows_trees() && width > 0 && width <= TreeGrower::kMostNodes
                              : j < rows_.bins.size() && width == wide(j);
        if (!fits) throw std::invalid_argument("repeat must be of rounds over these features");
      }
    }
  }

  // The largest share of a batch's training rows that one code of each feature holds.
  std::vector<double> find_crowding(const ModelBatch& batch) const {
    std::vector<std::size_t> counts(rows_.bins.total_width(), 0);
    for (std::size_t s = 0; s < batch.roles.size(); ++s) {
      if (!batch.roles[s].trains) continue;
      const std::size_t* const own = counts_.data() + s * rows_.bins.total_width();
      for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += own[b];
    }
    std::vector<double> crowding;
    for (std::size_t f = 0; f < rows_.bins.size(); ++f) {
      const auto first = counts.begin() + static_cast<std::ptrdiff_t>(rows_.bins.offset(f));
      const std::size_t most = *std::max_element(first, first + rows_.bins[f].width());
      const auto rows = std::accumulate(first, first + rows_.bins[f].width(), std::size_t{0});
      crowding.push_back(static_cast<double>(most) / static_cast<double>(rows));
    }
    return crowding;
  }

  // What sums in whole numbers may have peers.
  void check_peers(std::size_t most_lanes) const {
    if (peers_ == nullptr) return;
    if (most_lanes > 1) throw std::invalid_argument("lanes must be 1 with peers");
    if (algorithm_.step().solves() != Solved::kNone || algorithm_.targets().count > 1) {
      throw std::invalid_argument("steps that are solved for, and votes, must have no peers");
    }
  }

  // Adds the rows of other processes.
  static std::vector<std::size_t> share(const std::vector<std::size_t>& counts, Team& team) {
    std::vector<std::int64_t> all(counts.begin(), counts.end());
    team.share().sum(all.data(), all.size()).go();
    return {all.begin(), all.end()};
  }

  void check(const Model& model) const {
    if (model.weak_learner->has_criterion() && algorithm_.response().needs_curvature()) {
      throw std::invalid_argument("criterion must be None with a response that needs curvatures");
    }
    if (algorithm_.response().looks_at_rows() && !model.weak_learner->knows_shares()) {
      throw std::invalid_argument(
          "smoothing must be at most 0.25 with a response that looks at rows");
    }
    const bool solved = algorithm_.step().solves() != Solved::kNone;
    if (has_lines(model) && (solved || !algorithm_.response().fits_lines())) {
      throw std::invalid_argument(
          "lines must be none with this response, or with steps that are solved for");
    }
    if (!solved) return;
    if (model.learning_rate != 1.0) {
      throw std::invalid_argument("learning_rate must be 1 with a step that is solved for");
    }
    if (!model.loss->convex()) {
      throw std::invalid_argument("loss must be convex with a step that is solved for");
    }
  }

  bool any_grows_trees() const { return std::any_of(models_.begin(), models_.end(), grows_trees); }

  RoundContext context_of(ModelBatch& batch, std::shared_ptr<HistogramMemory> memory = nullptr,
                          TreeGrowers* growers = nullptr) const {
    return {rows_,   packed_,      models_, algorithm_,        weights_,
            states_, keep_rounds_, batch,   std::move(memory), growers};
  }

  // The classes of a joint model differ in their roles alone, and each row is of one of them.
  void check_coupling(std::size_t classes) const {
    if (classes == 1) return;
    if (classes == 0 || models_.size() % classes != 0) {
      throw std::invalid_argument("models must come one per class of each joint model");
    }
    if (algorithm_.step().solves() != Solved::kNone) {
      throw std::invalid_argument("step must not be one that is solved for in a joint model");
    }
    for (std::size_t m = 0; m < models_.size(); m += classes) {
      for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
        std::size_t own = 0;
        for (std::size_t k = 0; k < classes; ++k) {
          const Model& model = models_[m + k];
          if (model.loss != models_[m].loss || model.gain != models_[m].gain ||
              model.learning_rate != models_[m].learning_rate ||
              grows_trees(model) != grows_trees(models_[m])) {
            throw std::invalid_argument("the classes of a joint model must share loss and gain");
          }
          own += sign_of(model.roles[s]) > 0.0 ? 1 : 0;
          if (learns(model.roles[s]) != learns(models_[m].roles[s]) ||
              is_held_out(model.roles[s]) != is_held_out(models_[m].roles[s])) {
            throw std::invalid_argument(
                "the classes of a joint model must learn from the same rows");
          }
        }
        if (own != 1 && models_[m].roles[s] != Role::kNone) {
          throw std::invalid_argument("each segment must be of one class of a joint model");
        }
      }
    }
  }

  std::size_t count_training_rows(const Model& model) const {
    std::size_t rows = 0;
    for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
      if (learns(model.roles[s])) rows += codes_.segments[s + 1] - codes_.segments[s];
    }
    return rows;
  }

  Memory memory_of(const Lanes& models, const std::vector<Lanes>& batches) const {
    const Model& first = models_[models.front()];
    const bool needs_curvature = algorithm_.response().needs_curvature();
    std::vector<std::size_t> widths;
    Memory all;
    for (const Lanes& lanes : batches) {
      widths.push_back(width_for(lanes.size()));
      all.kept += lanes.size() * rows_.bins.total_width();  // which codes are occupied
      if (!grows_trees(first)) {
        all.working += Histogram::bytes(rows_.bins, widths.back(), needs_curvature);
      }
    }
    if (std::any_of(models.begin(), models.end(), [&](auto m) { return has_lines(models_[m]); })) {
      all.working += codes_.rows * batches.size() * sizeof(float);  // what lines add to rows
      all.working += LeafLines::bytes(count_training_rows(first));
    }
    const LearnerKind kind = first.weak_learner->kind();
    if (const auto* const grown = std::get_if<const GrownLearner*>(&kind)) {
      const std::size_t training = count_training_rows(first);
      const bool shares = algorithm_.coupling().shares_trees();
      all.working += codes_.rows * (shares ? 1 : batches.size());  // the rows' nodes
      all.working += shares ? TreeGrower::joint_bytes(rows_.bins, codes_.rows, training,
                                                      batches.size(), (*grown)->limits.leaves)
                            : TreeGrower::bytes(codes_.rows, training, needs_curvature);
    }
    if (algorithm_.coupling().classes > 1) {
      all += CoupledMargins::needs(codes_.rows, models.size(), widths, *first.loss,
                                   algorithm_.coupling(), needs_curvature);
    } else {
      const bool keeps_weights = grows_trees(first) || !algorithm_.selection().in_turn();
      all +=
          Margins::needs(codes_.rows, widths.front(), *first.loss, keeps_weights, needs_curvature);
    }
    if (algorithm_.step().solves() != Solved::kNone) {
      all.kept += models.size() * CoefficientSolver::bytes(codes_.rows);
    }
    return all;
  }

  // A batch that has no margins yet.
  std::unique_ptr<ModelBatch> set_up(Lanes models) const {
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
    return made;
  }

  // A cohort that has no stepper yet.
  Begun set_up(std::vector<Lanes> batches) const {
    auto made = std::make_unique<Cohort>();
    for (Lanes& lanes : batches) made->batches.push_back(set_up(std::move(lanes)));
    const Loss& loss = *models_[made->batches.front()->models.front()].loss;
    const bool needs_curvature = algorithm_.response().needs_curvature();
    if (algorithm_.coupling().classes == 1) {
      ModelBatch& batch = *made->batches.front();
      auto margins = std::make_unique<Margins>(rows_, batch.roles, width_for(batch.models.size()),
                                               loss, needs_curvature, algorithm_.targets(),
                                               algorithm_.make_weighting(codes_.rows));
      batch.margins = margins.get();
      made->margins = std::move(margins);
    } else {
      std::vector<const std::vector<Role>*> roles;
      std::vector<CoupledMargins::BatchLanes> lanes;
      const auto classes = static_cast<double>(algorithm_.coupling().classes);
      const double share = algorithm_.step().guards() ? (classes - 1.0) / classes : 0.5;
      for (const auto& batch : made->batches) {
        for (const std::size_t m : batch->models) roles.push_back(&models_[m].roles);
        lanes.push_back({batch->models.size(), batch->roles});
      }
      auto margins = std::make_unique<CoupledMargins>(
          rows_, std::move(roles), lanes, loss, algorithm_.coupling(), share, needs_curvature);
      for (std::size_t b = 0; b < made->batches.size(); ++b) {
        made->batches[b]->margins = &margins->batch(b);
      }
      made->margins = std::move(margins);
    }
    for (const auto& batch : made->batches) {
      for (std::size_t k = 0; k < batch->models.size(); ++k) {
        batch->row_counts.push_back(weights_.unscaled(batch->margins->training_weight(k)));
        batch->regularizers.push_back(
            find_regularizers(models_[batch->models[k]], batch->row_counts.back()));
      }
    }
    return made;
  }

  // A cohort whose models start from the base.
  Begun begin(const Lanes& models, std::vector<Lanes> batches) const {
    Begun made = set_up(std::move(batches));
    made->stepper = make_stepper(context_of(*made->batches.front()), models, *made->margins);
    if (!base_) return made;
    const Base& base = *base_;
    for (std::size_t k = 0; k < models.size(); ++k) {
      const Model& model = models_[models[k]];
      for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
        const double sign = sign_of(model.roles[s]);
        for (std::size_t i = codes_.segments[s]; i < codes_.segments[s + 1]; ++i) {
          made->stepper->set_u(*made->margins, i, k, sign * base.of(models[k], i) / model.gain);
        }
      }
    }
    made->margins->share_bounds(alone_.share());
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

  // Raw predictions of the rows whose role is wanted; the lanes of a cohort are counted through.
  template <class Wanted>
  std::vector<double> predict(const Cohort& cohort, std::size_t lane, std::size_t model,
                              const Wanted& wanted) const {
    return collect(model, wanted, [&](std::size_t i, Role role) {
      return sign_of(role) * models_[model].gain * cohort.stepper->u(*cohort.margins, i, lane);
    });
  }

  template <class Wanted>
  std::vector<double> predict(std::size_t model, const Wanted& wanted) const {
    for (const Dealt& dealt : cohorts_) {
      const Lanes& lanes = dealt.models;
      const auto found = std::find(lanes.begin(), lanes.end(), model);
      if (found == lanes.end()) continue;
      if (const auto* const begun = std::get_if<Begun>(&dealt.batches)) {
        return predict(**begun, static_cast<std::size_t>(found - lanes.begin()), model, wanted);
      }
      return collect(model, wanted,
                     [&](std::size_t i, Role) { return base_ ? base_->of(model, i) : 0.0; });
    }
    return {};
  }

  // Makes a batch narrower once enough of its lanes are no longer advanced.
  void keep_only(Dealt& dealt, const std::vector<bool>& asked) {
    Begun& cohort = std::get<Begun>(dealt.batches);
    if (cohort->margins->lanes_a_step() > 1) return;
    const ModelBatch& batch = *cohort->batches.front();
    Lanes kept;
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      if (asked[batch.models[k]]) kept.push_back(k);
    }
    if (kept.empty() || width_for(kept.size()) == width_for(batch.models.size())) {
      return;
    }
    for (std::size_t k = 0; k < batch.models.size(); ++k) {
      const std::size_t model = batch.models[k];
      if (!asked[model]) dropped_[model] = predict(*cohort, k, model, is_held_out);
    }
    Lanes models;
    for (const std::size_t k : kept) models.push_back(batch.models[k]);
    Begun narrow = set_up(std::vector<Lanes>{models});
    narrow->stepper = std::move(cohort->stepper);
    narrow->stepper->keep(kept);
    for (std::size_t i = 0; i < codes_.rows; ++i) {
      for (std::size_t k = 0; k < kept.size(); ++k) {
        narrow->margins->set_u(i, k, cohort->margins->u(i, kept[k]));
      }
    }
    narrow->margins->share_bounds(alone_.share());
    cohort = std::move(narrow);
    dealt.models = std::move(models);
  }

  // What plans while a cohort is advanced: for one batch, or for all.
  struct Running {
    std::unique_ptr<Planner> planner;
    std::size_t first, lanes;  // counted through the cohort
    std::size_t batches;
  };

  // What all batches of a cohort add.  Trees are grown side by side, as many as divide evenly:
  // threads that each grow their own wait for each other once, not at every node.
  std::vector<RoundUpdate> plan(const std::vector<Running>& running, std::size_t t,
                                const std::vector<bool>& active,
                                const std::function<void()>& report, Team& team) const {
    std::vector<std::vector<RoundUpdate>> found(running.size());
    const auto plan_one = [&](std::size_t b, Team& own_team) {
      const auto first = active.begin() + static_cast<std::ptrdiff_t>(running[b].first);
      const auto size = static_cast<std::ptrdiff_t>(running[b].lanes);
      found[b] =
          running[b].planner->plan(t, std::vector<bool>(first, first + size), report, own_team);
    };
    constexpr double kHoweverLong = std::numeric_limits<double>::infinity();
    std::size_t whole = 0;  // batches of features share memory
    if (any_grows_trees()) whole = whole_tasks(running.size(), team, kHoweverLong);
    team.for_each(whole, longest_loop() * static_cast<double>(whole), [&](std::size_t b) {
      Team alone = Team::alone();
      plan_one(b, alone);
    });
    for (std::size_t b = whole; b < running.size(); ++b) plan_one(b, team);
    std::vector<RoundUpdate> updates;
    for (std::vector<RoundUpdate>& of_batch : found) {
      std::move(of_batch.begin(), of_batch.end(), std::back_inserter(updates));
    }
    return updates;
  }

  void run(Dealt& to_run, std::size_t n, const std::vector<bool>& asked, TreeGrowers& growers,
           Tally& tally, Team& team) {
    const Lanes& models = to_run.models;
    if (auto* const waiting = std::get_if<std::vector<Lanes>>(&to_run.batches)) {
      to_run.batches = begin(models, *waiting);
    }
    Cohort& cohort = *std::get<Begun>(to_run.batches);
    const auto memory = std::make_shared<HistogramMemory>();
    std::deque<RoundContext> contexts;  // planners refer to them
    std::vector<const RoundContext*> batches;
    for (const auto& batch : cohort.batches) {
      contexts.push_back(context_of(*batch, memory, &growers));
      batches.push_back(&contexts.back());
    }
    std::vector<Running> running;
    std::vector<std::unique_ptr<Planner>> planners = algorithm_.make_planners(batches);
    const std::size_t each = batches.size() / planners.size();
    std::size_t lanes = 0;
    for (std::size_t b = 0; b < batches.size(); b += each) {
      running.push_back({std::move(planners[b / each]), lanes, 0, each});
      for (std::size_t i = b; i < b + each; ++i) lanes += batches[i]->batch.models.size();
      running.back().lanes = lanes - running.back().first;
    }
    const std::size_t tables = running.front().planner->tables_per_estimator();
    const auto requests = [&](std::size_t t) {
      std::vector<PassRequest> all;
      for (const Running& one : running) {
        for (std::size_t b = 0; b < one.batches; ++b) all.push_back(one.planner->request(t));
      }
      return all;
    };

    std::vector<bool> active(lanes);
    for (std::size_t k = 0; k < lanes; ++k) active[k] = asked[models[k]];
    std::vector<Point> points = cohort.margins->move({}, requests(0), team);

    const std::size_t unit = cohort.margins->lanes_a_step();
    double risk = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t e = 0; e < n; ++e) {
      std::vector<bool> learns(lanes, false), ends(lanes, false);
      for (std::size_t t = 0; t < tables; ++t) {
        const auto report = [&] { tally.add(0, risk); };
        std::vector<RoundUpdate> updates = plan(running, t, active, report, team);
        std::vector<PassRequest> wanted = requests(t + 1);
        for (PassRequest& request : wanted) {
          request.held_out = t + 1 == tables;
          request.risk = request.risk && (risk_of_tables_ || t + 1 == tables);
        }
        points =
            cohort.stepper->take(contexts.front(), *cohort.margins, updates, wanted, report, team);
        for (std::size_t k = 0; k < lanes; ++k) {
          if (active[k]) record(*cohort.stepper, models[k], k, updates[k], points[k]);
          const std::size_t first = k / unit * unit;  // a joint model learns if one class does
          for (std::size_t j = first; j < first + unit; ++j) {
            learns[j] = learns[j] || updates[k].moves || updates[k].may_move_later;
          }
          ends[k] = updates[k].ends;
        }
        if (t + 1 < tables) tally.add(0, risk);  // a cycle may take long
      }
      std::size_t done = 0;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        FitState& state = states_[models[k]];
        if (!learns[k]) {
          if (keep_rounds_) {
            const std::size_t own = state.n_estimators - state.n_repeated;
            for (Rounds& rounds : state.rounds) rounds.resize(own * tables);
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
        if (keep_rounds_ && !risk_of_tables_) repeat_last_risk(state, tables);
        const HeldOutMeans& held_out = points[k].held_out;
        risk = keep_rounds_ ? models_[models[k]].gain * points[k].risk : held_out.log_loss;
        if (std::isnan(held_out.log_loss)) continue;  // nothing was held out
        state.log_loss.push_back(held_out.log_loss);
        state.error.push_back(held_out.error);
        state.brier.push_back(held_out.brier);
        state.of_class.push_back(points[k].of_class);
      }
      tally.add(done, risk);
      if (tally.stopped.load() ||
          std::none_of(active.begin(), active.end(), [](bool a) { return a; }))
        break;
    }
    cohort.margins->forget_weights();
  }

  // Records what an active lane added, as a round.
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

  // The risk after the last of so many tables is that of all of them.
  static void repeat_last_risk(FitState& state, std::size_t tables) {
    for (Rounds& rounds : state.rounds) {
      std::fill_n(rounds.risk.rbegin(), tables, rounds.risk.back());
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
  const bool keep_rounds_, risk_of_tables_;
  Peers* const peers_;
  Team alone_;  // with the peers
  const SampleWeights weights_;
  const WeightTotals totals_;
  const TrainingRows rows_;
  std::vector<FitState> states_;
  std::vector<Dealt> cohorts_;
  std::vector<std::size_t> counts_;                     // [segment][code]: rows
  PackedCodes packed_;                                  // for trees
  std::map<std::size_t, std::vector<double>> dropped_;  // raw predictions after a batch
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
                       const Progress& progress, Team& team) {
  state_->advance(n, models, progress, team);
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
