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

#include "properboost/boosting/margins.hpp"
#include "properboost/boosting/planner.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "properboost/steps/leverage.hpp"

namespace properboost {

class Boosting::State {
 public:
  State(Codes codes, const Bins& bins, std::vector<Model> models, const Settings& settings,
        const double* sample_weight, Base base)
      : codes_(std::move(codes)),
        bins_(bins),
        models_(std::move(models)),
        settings_(settings),
        weights_(sample_weight, codes_.rows),
        base_(base),
        courses_(models_.size()) {
    const std::size_t groups = settings_.electorate == nullptr ? 1 : settings_.electorate->groups();
    for (Course& course : courses_) course.rounds.resize(groups);
    for (const Model& model : models_) {
      if (model.weak_learner->has_criterion() && settings_.response->needs_curvature()) {
        throw std::invalid_argument("criterion must be none with a response that needs curvatures");
      }
      if (settings_.step->solves() == Solved::kNone) continue;
      if (model.learning_rate != 1.0) {
        throw std::invalid_argument("learning_rate must be 1 where step solves for coefficients");
      }
      if (!model.loss->convex()) {
        throw std::invalid_argument("loss must be convex where step solves for coefficients");
      }
    }
    // Trees are grown one model at a time: their rows lie in another order for each.
    const bool alone = any_is_grown(models_) || settings_.electorate != nullptr;
    for (const Lanes& lanes : deal_into_packs(models_, codes_.segments, alone ? 1 : kMostLanes)) {
      packs_.push_back(std::make_unique<Pack>());
      packs_.back()->models = lanes;
    }
  }

  void advance(std::size_t n, const std::vector<std::size_t>& models, const Progress& progress,
               Team& team) {
    if (counts_.empty()) counts_ = count_codes(codes_, bins_, team);
    if (any_is_grown(models_) && !packed_) packed_.emplace(codes_, bins_.size(), team);
    std::vector<bool> asked(models_.size(), false);
    for (const std::size_t m : models) asked[m] = !courses_[m].finished;
    Tally tally{progress, std::this_thread::get_id(), {0}, {false}};
    std::vector<Pack*> packs;
    for (auto& pack : packs_) {
      keep_only(pack, asked);
      if (std::any_of(pack->models.begin(), pack->models.end(),
                      [&](std::size_t m) { return asked[m]; })) {
        packs.push_back(pack.get());
      }
    }
    // Packs whose loops are too short to be shared out well are shared out themselves, as many as
    // come out even.
    std::size_t whole = 0;
    if (longest_loop() < kShortLoop) whole = packs.size() / team.size() * team.size();
    if (longest_loop() < kShortestLoop) whole = packs.size();
    team.for_each(whole, longest_loop() * static_cast<double>(n * whole), [&](std::size_t p) {
      Team alone = Team::alone();
      run(*packs[p], n, asked, tally, alone);
    });
    for (std::size_t p = whole; p < packs.size(); ++p) run(*packs[p], n, asked, tally, team);
  }

  double longest_loop() const {
    const auto rows = static_cast<double>(codes_.rows);
    const auto features = static_cast<double>(bins_.size());
    if (any_is_grown(models_)) return rows * (5.0 + features);  // the sums of all leaves
    std::size_t width = 1;
    for (const auto& pack : packs_) width = std::max(width, width_for(pack->models.size()));
    const auto lanes = static_cast<double>(width);
    return rows *
           (lanes + (settings_.selection->in_turn() ? 1.0 : features) * (0.3 + 0.06 * lanes));
  }

  // Of n rounds of all packs: one pass over the rows, or the packs if there are several.
  double longest_loop(std::size_t n) const {
    return longest_loop() * static_cast<double>(packs_.size() > 1 ? n * packs_.size() : 1);
  }

  std::vector<std::size_t> code_counts() const {
    std::vector<std::size_t> counts(bins_.total_width(), 0);
    for (std::size_t k = 0; k < counts_.size(); ++k) counts[k % counts.size()] += counts_[k];
    return counts;
  }

  std::vector<double> held_out(std::size_t model) const {
    const auto found = dropped_.find(model);
    return found != dropped_.end() ? found->second : predict(model, judges);
  }

  std::vector<double> raw(std::size_t model) const {
    return predict(model, [](Role) { return true; });
  }

  const Codes& codes() const noexcept { return codes_; }
  const std::vector<Course>& courses() const noexcept { return courses_; }

 private:
  static constexpr double kShortLoop = 5e6;  // nanoseconds
  static constexpr double kShortestLoop = 1e5;

  // Counts the estimators of all packs, and reports them from the calling thread alone.
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

  // The largest share of a pack's training rows that one code of each feature holds.
  std::vector<double> find_crowding(const Pack& pack) const {
    std::vector<std::size_t> counts(bins_.total_width(), 0);
    std::size_t rows = 0;
    for (std::size_t s = 0; s < pack.roles.size(); ++s) {
      if (!pack.roles[s].trains) continue;
      rows += codes_.segments[s + 1] - codes_.segments[s];
      const std::size_t* const own = counts_.data() + s * bins_.total_width();
      for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += own[b];
    }
    std::vector<double> crowding;
    for (std::size_t f = 0; f < bins_.size(); ++f) {
      const auto first = counts.begin() + static_cast<std::ptrdiff_t>(bins_.offset(f));
      const std::size_t most = *std::max_element(first, first + bins_[f].width());
      crowding.push_back(static_cast<double>(most) / static_cast<double>(rows));
    }
    return crowding;
  }

  void set_up(Pack& pack) const {
    const std::size_t segments = codes_.segments.size() - 1;
    pack.roles.assign(segments, SegmentRoles{});
    pack.occupied.assign(pack.models.size() * bins_.total_width(), 0);
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      const std::vector<Role>& roles = models_[pack.models[k]].roles;
      std::uint8_t* occupied = pack.occupied.data() + k * bins_.total_width();
      for (std::size_t s = 0; s < segments; ++s) {
        pack.roles[s].set(k, roles[s]);
        if (!learns(roles[s])) continue;
        const std::size_t* const counts = counts_.data() + s * bins_.total_width();
        for (std::size_t b = 0; b < bins_.total_width(); ++b) occupied[b] |= counts[b] > 0 ? 1 : 0;
      }
    }
    pack.by_gain.resize(pack.models.size());
    std::iota(pack.by_gain.begin(), pack.by_gain.end(), std::size_t{0});
    std::stable_sort(pack.by_gain.begin(), pack.by_gain.end(), [&](std::size_t a, std::size_t b) {
      return models_[pack.models[a]].gain < models_[pack.models[b]].gain;
    });
    pack.twin.resize(pack.models.size());
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      pack.twin[k] = *std::find_if(pack.by_gain.begin(), pack.by_gain.end(), [&](std::size_t j) {
        return same_but_for_gain(models_[pack.models[j]], models_[pack.models[k]]);
      });
    }
    pack.shortened.assign(pack.models.size(), false);
    pack.always_shortened.assign(pack.models.size(), true);
    pack.blocks = cut_into_accumulation_blocks(codes_.segments, pack.roles);
    pack.crowding = find_crowding(pack);
    pack.margins = std::make_unique<Margins>(
        codes_, bins_, pack.roles, width_for(pack.models.size()), weights_.data(),
        *models_[pack.models.front()].loss, settings_.response->needs_curvature(),
        settings_.electorate, settings_.weighting);
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      if (settings_.step->solves() == Solved::kNone) break;
      const Model& model = models_[pack.models[k]];
      const double share = share_of_half_a_row(pack.margins->training_weight(k));
      pack.leverages.push_back(std::make_unique<Leverage>(
          codes_, model.roles, weights_.data(), *model.loss, settings_.step->solves(), share));
    }
    if (base_.raw != nullptr) start_from_base(pack);
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      pack.regularizers.push_back(
          find_regularizers(models_[pack.models[k]], pack.margins->training_weight(k)));
    }
  }

  void start_from_base(Pack& pack) const {
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      const Model& model = models_[pack.models[k]];
      for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
        const double side = side_of(model.roles[s]);
        for (std::size_t i = codes_.segments[s]; i < codes_.segments[s + 1]; ++i) {
          const double u = side * base_.of(pack.models[k], i) / model.gain;
          pack.margins->u(i, k) = static_cast<float>(u);
          if (!pack.leverages.empty()) pack.leverages[k]->u(i) = u;
        }
      }
    }
  }

  // What a row on its own is worth.  Fewer than two rows' weight would leave no room at all, and of
  // more than 2^52 half a row is not to be told from none.
  double share_of_half_a_row(double rows_weight) const {
    return 0.5 / std::clamp(rows_weight * weights_.scale, 2.0, 0x1p52);
  }

  // No step or cell value goes beyond the link of an error of half a row.
  Regularizers find_regularizers(const Model& model, double rows_weight) const {
    Regularizers r{};
    r.l2 = settings_.l2 * model.gain / weights_.scale;
    r.gain = model.gain;
    r.largest = model.loss->link(1.0 - share_of_half_a_row(rows_weight));
    return r;
  }

  // Raw predictions of the rows whose role is wanted.
  template <class Wanted>
  std::vector<double> predict(const Pack& pack, std::size_t lane, const Wanted& wanted) const {
    const std::size_t m = pack.models[lane];
    std::vector<double> raw;
    raw.reserve(codes_.rows);
    for (std::size_t s = 0; s + 1 < codes_.segments.size(); ++s) {
      const Role role = models_[m].roles[s];
      if (!wanted(role)) continue;
      for (std::size_t i = codes_.segments[s]; i < codes_.segments[s + 1]; ++i) {
        if (pack.margins == nullptr) {
          raw.push_back(base_.of(m, i));
          continue;
        }
        const double u = pack.leverages.empty() ? static_cast<double>(pack.margins->u(i, lane))
                                                : pack.leverages[lane]->u(i);
        raw.push_back(side_of(role) * models_[m].gain * u);
      }
    }
    return raw;
  }

  template <class Wanted>
  std::vector<double> predict(std::size_t model, const Wanted& wanted) const {
    for (const auto& pack : packs_) {
      for (std::size_t k = 0; k < pack->models.size(); ++k) {
        if (pack->models[k] == model) return predict(*pack, k, wanted);
      }
    }
    return {};
  }

  // Makes a pack narrower once enough of its lanes are no longer asked for.
  void keep_only(std::unique_ptr<Pack>& pack, const std::vector<bool>& asked) {
    Lanes kept;
    for (std::size_t k = 0; k < pack->models.size(); ++k) {
      if (asked[pack->models[k]]) kept.push_back(k);
    }
    if (pack->margins == nullptr || kept.empty() ||
        width_for(kept.size()) == width_for(pack->models.size())) {
      return;
    }
    auto narrow = std::make_unique<Pack>();
    for (const std::size_t k : kept) narrow->models.push_back(pack->models[k]);
    set_up(*narrow);
    for (std::size_t k = 0; k < kept.size(); ++k) {
      narrow->shortened[k] = pack->shortened[kept[k]];
      narrow->always_shortened[k] = pack->always_shortened[kept[k]];
      if (!pack->leverages.empty()) narrow->leverages[k] = std::move(pack->leverages[kept[k]]);
    }
    for (std::size_t i = 0; i < codes_.rows; ++i) {
      for (std::size_t k = 0; k < kept.size(); ++k) {
        narrow->margins->u(i, k) = pack->margins->u(i, kept[k]);
      }
    }
    for (std::size_t k = 0; k < pack->models.size(); ++k) {
      if (!asked[pack->models[k]]) dropped_[pack->models[k]] = predict(*pack, k, judges);
    }
    pack = std::move(narrow);
  }

  void run(Pack& pack, std::size_t n, const std::vector<bool>& asked, Tally& tally, Team& team) {
    if (pack.margins == nullptr) set_up(pack);
    const std::size_t lanes = pack.models.size();
    Margins& margins = *pack.margins;
    const std::unique_ptr<Planner> planner =
        make_planner({codes_, bins_, packed_ ? &*packed_ : nullptr, models_, settings_, weights_,
                      courses_, pack});
    const std::size_t tables = planner->tables_per_estimator();

    std::vector<bool> active(lanes);
    for (std::size_t k = 0; k < lanes; ++k) active[k] = asked[pack.models[k]];
    std::vector<Margins::Point> points =
        margins.move(std::vector<Move>(lanes), planner->orders(0), team);

    double risk = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t e = 0; e < n; ++e) {
      std::vector<bool> learns(lanes, false), ends(lanes, false);
      for (std::size_t t = 0; t < tables; ++t) {
        std::vector<Plan> plans = planner->plan(t, active, [&] { tally.add(0, risk); }, team);
        Orders orders = planner->orders(t + 1);
        orders.judge = t + 1 == tables;
        if (pack.leverages.empty()) {
          take_steps(pack, plans, active, orders, points, team);
        } else {
          solve_for_steps(pack, plans, active, orders, points, [&] { tally.add(0, risk); }, team);
        }
        for (std::size_t k = 0; k < lanes; ++k) {
          learns[k] = learns[k] || plans[k].moves || plans[k].may_move_later;
          ends[k] = plans[k].ends;
        }
        if (!orders.judge) tally.add(0, risk);  // a cycle may take long
      }
      std::size_t done = 0;
      for (std::size_t k = 0; k < lanes; ++k) {
        if (!active[k]) continue;
        Course& course = courses_[pack.models[k]];
        if (!learns[k]) {
          if (settings_.keep_rounds) {
            for (Rounds& rounds : course.rounds) rounds.resize(course.n_estimators * tables);
          }
          course.finished = true;
          active[k] = false;
          done += n - e;
          continue;
        }
        ++done;
        ++course.n_estimators;
        if (ends[k]) {
          course.finished = true;
          active[k] = false;
          done += n - e - 1;
        }
        risk = settings_.keep_rounds ? models_[pack.models[k]].gain * points[k].risk
                                     : points[k].log_loss;
        if (std::isnan(points[k].log_loss)) continue;  // nothing was held out
        course.log_loss.push_back(points[k].log_loss);
        course.error.push_back(points[k].error);
        course.brier.push_back(points[k].brier);
      }
      tally.add(done, risk);
      if (tally.stopped.load() ||
          std::none_of(active.begin(), active.end(), [](bool a) { return a; }))
        break;
    }
    margins.forget_weights();
  }

  static bool same_table(const Plan& a, const Plan& b) {
    constexpr double kTolerance = 1e-5;
    if (!a.moves || !b.moves || a.feature != b.feature) return false;
    for (std::size_t i = 0; i < a.table.size(); ++i) {
      if (std::abs(a.table[i] - b.table[i]) > kTolerance * std::abs(a.table[i])) return false;
    }
    return true;
  }

  void take_steps(Pack& pack, std::vector<Plan>& plans, const std::vector<bool>& active,
                  const Orders& orders, std::vector<Margins::Point>& points, Team& team) {
    const std::size_t lanes = pack.models.size();
    Margins& margins = *pack.margins;
    std::vector<Move> moves(lanes);
    std::vector<StepLimits> limits(lanes);
    std::vector<double> step(lanes, 0.0);
    std::vector<Looks> looks;
    for (std::size_t k = 0; k < lanes; ++k) {
      looks.emplace_back(margins, k, plans[k].codes, plans[k].table, team);
    }
    const auto is_like_its_twin = [&](std::size_t k) {
      const std::size_t twin = pack.twin[k];
      return twin != k && pack.always_shortened[k] && pack.always_shortened[twin] &&
             same_table(plans[k], plans[twin]);
    };
    for (const std::size_t k : pack.by_gain) {
      if (!plans[k].moves) continue;
      double largest_entry = 0.0;
      for (const double g : plans[k].table) largest_entry = std::max(largest_entry, std::abs(g));
      const Model& model = models_[pack.models[k]];
      limits[k] = {model.learning_rate / model.gain,
                   model.learning_rate,
                   plans[k].slope,
                   plans[k].largest / largest_entry,
                   model.loss->convex(),
                   pack.shortened[k],
                   plans[k].agreement,
                   settings_.rho};
      if (!settings_.step->accepts(limits[k])) {
        plans[k].moves = false;
        continue;
      }
      step[k] = is_like_its_twin(k) ? settings_.step->follow(limits[k], step[pack.twin[k]])
                                    : settings_.step->propose(looks[k], limits[k]);
      moves[k] = {plans[k].codes, &plans[k].table, step[k], plans[k].width};
    }
    points = margins.move(moves, orders, team);

    bool corrected = false;
    for (const std::size_t k : pack.by_gain) {
      moves[k].t = 0.0;
      if (!plans[k].moves) continue;
      if (settings_.step->overshoots(limits[k], step[k], points[k].slope)) {
        looks[k].moved_to(step[k]);
        const double stays =
            is_like_its_twin(k) && pack.shortened[pack.twin[k]]
                ? step[pack.twin[k]]
                : settings_.step->correct(looks[k], limits[k], step[k], points[k].slope);
        moves[k].t = stays - step[k];
        step[k] = stays;
        corrected = true;
      }
      pack.shortened[k] = step[k] < limits[k].rate;
    }
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!pack.shortened[k] || !plans[k].moves) pack.always_shortened[k] = false;
    }
    if (corrected) {
      for (Move& move : moves) {
        if (move.t == 0.0) move.table = nullptr;
      }
      points = margins.move(moves, orders, team);
    }

    for (std::size_t k = 0; k < lanes; ++k) {
      const bool whole = plans[k].moves && step[k] == limits[k].rate;
      const Model& model = models_[pack.models[k]];
      step[k] = whole ? model.learning_rate : step[k] * model.gain;
    }
    record(pack, plans, active, step, points);
  }

  // The same where steps are solved for: margins are kept in double, too.
  void solve_for_steps(Pack& pack, std::vector<Plan>& plans, const std::vector<bool>& active,
                       const Orders& orders, std::vector<Margins::Point>& points,
                       const std::function<void()>& progress, Team& team) {
    const std::size_t lanes = pack.models.size();
    const std::vector<Chunk> chunks = cut_into_chunks(codes_.segments);
    std::vector<double> step(lanes, 0.0);
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!plans[k].moves) continue;
      Course& course = courses_[pack.models[k]];
      Leverage& leverage = *pack.leverages[k];
      const Leverage::Found found =
          leverage.add(course.rounds[0].feature.size(), plans[k].codes,
                       plans[k].feature != Rounds::kTree, plans[k].table, progress, team);
      course.separated = course.separated || found.separated;
      plans[k].moves = found.moved;
      if (!found.moved) continue;
      team.for_each(chunks.size(), static_cast<double>(codes_.rows), [&](std::size_t c) {
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
          pack.margins->u(i, k) = static_cast<float>(leverage.u(i));
        }
      });
    }
    points = pack.margins->move(std::vector<Move>(lanes), orders, team);
    for (std::size_t k = 0; k < lanes; ++k) {
      const double risk = pack.leverages[k]->risk();
      if (!std::isnan(risk)) points[k].risk = risk;
    }
    record(pack, plans, active, step, points);
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!plans[k].moves || !settings_.keep_rounds) continue;
      const double gain = models_[pack.models[k]].gain;
      Rounds& rounds = courses_[pack.models[k]].rounds[0];
      for (const Leverage::Feature& feature : pack.leverages[k]->features()) {
        rounds.step[feature.round] = feature.coefficient * gain;
        // Until the next feature: rounds between them took none.
        std::fill(rounds.risk.begin() + static_cast<std::ptrdiff_t>(feature.round),
                  rounds.risk.end(), feature.risk * gain);
      }
    }
  }

  // What each active lane did, as a round; `step` is in units of the raw prediction.
  void record(const Pack& pack, std::vector<Plan>& plans, const std::vector<bool>& active,
              const std::vector<double>& step, const std::vector<Margins::Point>& points) {
    for (std::size_t k = 0; k < pack.models.size(); ++k) {
      if (!active[k]) continue;
      const Model& model = models_[pack.models[k]];
      Course& course = courses_[pack.models[k]];
      if (!settings_.keep_rounds) {
        require_finite(points[k].slope, "slope", course.n_estimators + 1);
        continue;
      }
      const double risk = model.gain * points[k].risk;
      require_finite(risk, "training risk", course.n_estimators + 1);
      if (!plans[k].moves) {
        std::fill(plans[k].table.begin(), plans[k].table.end(), 0.0);
        std::fill(plans[k].tree.saving.begin(), plans[k].tree.saving.end(), 0.0);
      }
      for (std::size_t g = 0; g < course.rounds.size(); ++g) {
        if (!plans[k].cells.empty()) {
          const auto own = plans[k].cells.begin() + static_cast<std::ptrdiff_t>(g * plans[k].width);
          std::copy_n(own, plans[k].width, plans[k].tree.cell.begin());
        }
        course.rounds[g].push_back(plans[k].feature, plans[k].score, step[k], risk,
                                   plans[k].table.data() + g * plans[k].width, plans[k].width,
                                   plans[k].tree);
      }
    }
  }

  Codes codes_;
  const Bins& bins_;
  std::vector<Model> models_;
  Settings settings_;
  SampleWeights weights_;
  Base base_;
  std::vector<Course> courses_;
  std::vector<std::unique_ptr<Pack>> packs_;
  std::vector<std::size_t> counts_;                     // [segment][code]: rows
  std::optional<PackedCodes> packed_;                   // for trees
  std::map<std::size_t, std::vector<double>> dropped_;  // what models no longer in a pack predict
};

Boosting::Boosting(Codes codes, const Bins& bins, std::vector<Model> models,
                   const Settings& settings, const double* sample_weight, Base base)
    : state_(std::make_unique<State>(std::move(codes), bins, std::move(models), settings,
                                     sample_weight, base)) {}
Boosting::~Boosting() = default;

void Boosting::advance(std::size_t n, const std::vector<std::size_t>& models,
                       const Progress& progress, Team& team) {
  state_->advance(n, models, progress, team);
}
std::size_t Boosting::size() const noexcept { return state_->courses().size(); }
const Codes& Boosting::codes() const noexcept { return state_->codes(); }
const Course& Boosting::course(std::size_t model) const noexcept {
  return state_->courses()[model];
}
double Boosting::longest_loop(std::size_t n) const noexcept { return state_->longest_loop(n); }
std::vector<double> Boosting::held_out(std::size_t model) const { return state_->held_out(model); }
std::vector<double> Boosting::raw(std::size_t model) const { return state_->raw(model); }
std::vector<std::size_t> Boosting::code_counts() const { return state_->code_counts(); }

}  // namespace properboost
