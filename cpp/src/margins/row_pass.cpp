// One pass over the rows, which moves every lane, and sums and stores what the round needs of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/directional_slope.hpp"
#include "properboost/margins/fill_feature.hpp"
#include "properboost/margins/margin_strip.hpp"
#include "properboost/margins/margins.hpp"

namespace properboost {
namespace {

// A probability of 0 counts as the smallest step of a double, as in scikit-learn.
constexpr float kLeastProbability = 2.22044605e-16F;

template <std::size_t W>
void look_up(const std::uint8_t* code, const float* table, std::size_t n, bool first,
             float* __restrict out) {
  using Row = Floats<W>;
  Row* const rows = reinterpret_cast<Row*>(out);
  const Row* const entries = reinterpret_cast<const Row*>(table);
  if (first) {
    for (std::size_t i = 0; i < n; ++i) rows[i] = entries[code[i]];
  } else {
    for (std::size_t i = 0; i < n; ++i) rows[i] += entries[code[i]];
  }
}

template <std::size_t W>
void add_signed(const float* signs, const float* __restrict shift, std::size_t n,
                float* __restrict u) {
  if constexpr (W == 1) {
    const float sign = *signs;
    for (std::size_t i = 0; i < n; ++i) u[i] += sign * shift[i];
  } else {
    using Row = Floats<W>;
    const Row sign = *reinterpret_cast<const Row*>(signs);
    const Row* const shifts = reinterpret_cast<const Row*>(shift);
    Row* const margins = reinterpret_cast<Row*>(u);
    for (std::size_t i = 0; i < n; ++i) {
      Row step = shifts[i];
      step *= sign;
      margins[i] += step;
    }
  }
}

// The terms of held-out rows, from the probabilities of their classes and their margins.
void find_errors(std::size_t n, const float* __restrict p, const float* __restrict u,
                 const float* __restrict sign, float* __restrict log_loss, float* __restrict error,
                 float* __restrict brier) {
  vectorized([=] {
    for (std::size_t j = 0; j < n; ++j) {
      log_loss[j] = -math::log(math::at_least(p[j], kLeastProbability));
      brier[j] = (1.0f - p[j]) * (1.0f - p[j]);
    }
  });
  vectorized([=] {
    for (std::size_t j = 0; j < n; ++j) {
      const float at_zero = sign[j] > 0.0f ? 1.0f : 0.0f;
      const float below = u[j] < 0.0f ? 1.0f : 0.0f;
      error[j] = u[j] == 0.0f ? at_zero : below;
    }
  });
}

// to[i] *= by[i].
void multiply(const float* __restrict by, std::size_t n, float* __restrict to) {
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) to[i] *= by[i];
  });
}

// Divides the weights of pairs of lanes.
void keep_apart(const float* pairs, std::size_t n, float* __restrict first,
                float* __restrict second) {
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) {
      first[i] = pairs[2 * i];
      second[i] = pairs[2 * i + 1];
    }
  });
}

}  // namespace

template <std::size_t W>
class Margins::Pass {
 public:
  Pass(Margins& margins, const std::vector<Move>& moves, const PassRequest& request,
       const LanesThat& afresh)
      : m_(margins),
        afresh_(afresh),
        moves_(moves),
        request_(request),
        joint_(join(moves)),
        cells_(request.cells ? &*request.cells : nullptr),
        sums_cells_(cells_ != nullptr && are_bounded(margins.loss_)),
        sums_weights_(margins.keeps_weights_),
        parts_(margins.blocks_.size()) {}

  std::vector<Point> run(Team& team) {
    set_units(team);
    if (sums_cells_) {
      fill(team, [&](std::size_t c, const AddStrip& add) { pass_block(c, &add); });
    } else {
      m_.for_blocks(2.0, team, [&](std::size_t c) { pass_block(c, nullptr); });
    }
    std::vector<Totals> totals = add_up();
    all_reduce(totals, team);
    if (sums_weights_) {
      for (std::size_t k = 0; k < totals.size(); ++k) m_.units_[k] = units_of(k, totals[k]);
    }
    if (cells_ != nullptr && !sums_cells_) {
      units_of_cells_ = m_.units_;
      fill(team, [&](std::size_t c, const AddStrip& add) {
        const RowBlock& block = m_.blocks_[c];
        if (!m_.roles_[block.segment].trains) return;
        add(m_.weight_.data() + block.begin * W,
            m_.curvature_.empty() ? nullptr : m_.curvature_.data() + block.begin * W, block.begin,
            block.end - block.begin);
      });
      cells_->histogram.all_reduce(cells_->feature, team);
    }
    Sums t{};
    for (const Move& move : moves_) t[move.lane] = move.t;
    std::vector<Point> points(m_.lanes_);
    for (std::size_t k = 0; k < points.size(); ++k) {
      Point& p = points[k];
      const auto& [slope, risk, weight, curvature, held_out] = totals[k];
      p.slope = slope_units_.value(k, slope);
      p.risk = risk_units_.value(k, risk);
      const auto value = [&](const HeldOut& sums) {
        return HeldOutMeans{log_loss_units_.value(k, sums[0]), share_units_.value(k, sums[1]),
                            share_units_.value(k, sums[2])};
      };
      HeldOut both{};
      for (std::size_t c = 0; c < 2; ++c) {
        p.of_class[c] = value(held_out[c]);
        for (std::size_t j = 0; j < both.size(); ++j) both[j] += held_out[c][j];
      }
      p.held_out = value(both);
      p.slope /= m_.training_weight_[k] * (t[k] == 0.0 ? 1.0 : t[k]);
      p.risk *= m_.weighting_->risk_factor() / m_.training_weight_[k];
      const auto divide = [](HeldOutMeans& sums, double weight) {
        sums = {sums.log_loss / weight, sums.error / weight, sums.brier / weight};
      };
      divide(p.held_out, m_.held_out_weight_[k]);
      for (std::size_t c = 0; c < 2; ++c) divide(p.of_class[c], m_.held_out_of_class_[c][k]);
    }
    return points;
  }

 private:
  struct BlockSums {
    WholeSums slope{}, risk{}, weight{}, curvature{}, log_loss{}, error{}, brier{};
    float least = std::numeric_limits<float>::infinity();  // under voting classifiers
    std::array<float, W> least_u = all_infinite();

    static std::array<float, W> all_infinite() {
      std::array<float, W> all;
      all.fill(std::numeric_limits<float>::infinity());
      return all;
    }
  };

  // Lanes that move along the same codes, with one look-up table [code][lane]; or one lane, [code].
  struct JointMove {
    const std::uint8_t* codes;
    std::vector<const Move*> moves;  // of the lanes
    bool alone;
    Aligned<float> table;
    std::size_t width = 0;         // entries from one target to the next
    const float* lines = nullptr;  // of a model that is by itself
    float t = 0.0F;
  };
  // From this many lanes on, adding a whole row of lanes is cheaper than writing each lane's entry.
  static constexpr std::size_t kWorthJoining = 3;

  // The first joint move sets every lane (0 for those that do not move); the others add to some
  // lanes or set one.
  static std::vector<JointMove> join(const std::vector<Move>& moves) {
    std::vector<JointMove> joint;
    for (const Move& move : moves) {
      const auto group = std::find_if(joint.begin(), joint.end(),
                                      [&](const JointMove& j) { return j.codes == move.codes; });
      if (group == joint.end()) {
        joint.push_back(
            {move.codes, {&move}, false, {}, move.width, move.lines, static_cast<float>(move.t)});
      } else {
        group->moves.push_back(&move);
      }
    }
    std::stable_sort(joint.begin(), joint.end(), [](const JointMove& a, const JointMove& b) {
      return a.moves.size() > b.moves.size();
    });
    for (std::size_t i = 1; i < joint.size(); ++i) {
      if (W < kWorthJoining || joint[i].moves.size() >= kWorthJoining) continue;
      while (joint[i].moves.size() > 1) {
        joint.push_back({joint[i].codes, {joint[i].moves.back()}, true, {}});
        joint[i].moves.pop_back();
      }
      joint[i].alone = true;
    }
    for (JointMove& j : joint) {
      const std::size_t stride = j.alone ? 1 : W;
      std::size_t codes = 0;
      for (const Move* move : j.moves) codes = std::max(codes, move->table.size());
      j.table.assign(stride * codes, 0.0f);
      for (const Move* move : j.moves) {
        float* const lane_table = j.table.data() + (j.alone ? 0 : move->lane);
        for (std::size_t b = 0; b < move->table.size(); ++b) {
          lane_table[b * stride] = static_cast<float>(move->t * move->table[b]);
        }
      }
    }
    return joint;
  }

  // How far each lane's rows move at most.
  Sums find_farthest(Team& team) const {
    Sums farthest{};
    for (const JointMove& move : joint_) {
      const std::size_t stride = move.alone ? 1 : W;
      const std::size_t first = move.alone ? move.moves.front()->lane : 0;
      for (std::size_t i = 0; i < move.table.size(); ++i) {
        double& lane_farthest = farthest[first + i % stride];
        lane_farthest = std::max(lane_farthest, wide(std::abs(move.table[i])));
      }
      if (W > 2 || move.lines == nullptr) continue;
      const double along_lines =
          wide(std::abs(move.t)) * largest_line(move.lines, m_.blocks_, team);
      for (std::size_t k = 0; k < W; ++k) farthest[k] += along_lines;
    }
    return farthest;
  }

  void set_units(Team& team) {
    const Sums farthest = find_farthest(team);
    const RowSampleWeights s = m_.sample_weight_;
    const double total = m_.total_weight_;
    for (std::size_t k = 0; k < W; ++k) {
      if (afresh_[k] || farthest[k] > 0.0 || !m_.bounds_hold(k)) {
        m_.bounds_[k] = m_.bounds_ahead(k, farthest[k]);
      }
      const Bounds most = m_.bounds_[k];
      slope_units_.set(k, most.weight * farthest[k], s, total);
      risk_units_.set(k, most.loss, s, total);
      log_loss_units_.set(k, -std::log(wide(kLeastProbability)), s, total);
      share_units_.set(k, 1.0, s, total);
      weight_units_.set(k, most.weight, s, total);
      curvature_units_.set(k, most.curvature, s, total);
      if (sums_cells_) {  // before they are known
        const double twice = 2.0 * m_.training_weight_[k];
        const double of_row = std::max(1.0, m_.most_sample_weight_);
        units_of_cells_[k] = {most.weight * twice,
                              m_.needs_curvature_ ? most.curvature * twice : 0.0,
                              most.weight * of_row, most.curvature * of_row};
      }
    }
  }

  // The totals of a lane's rows.
  using HeldOut = std::array<std::int64_t, 3>;  // log loss, error, Brier score
  struct Totals {
    std::int64_t slope = 0, risk = 0, weight = 0, curvature = 0;
    std::array<HeldOut, 2> held_out{};  // of the negative class, and of the positive

    void operator+=(const Totals& other) {
      slope += other.slope;
      risk += other.risk;
      weight += other.weight;
      curvature += other.curvature;
      for (std::size_t c = 0; c < held_out.size(); ++c) {
        for (std::size_t j = 0; j < held_out[c].size(); ++j) held_out[c][j] += other.held_out[c][j];
      }
    }
  };
  std::vector<Totals> add_up() const {
    std::vector<Totals> totals(m_.lanes_);
    for (std::size_t k = 0; k < totals.size(); ++k) {
      Totals& lane_totals = totals[k];
      for (std::size_t c = 0; c < parts_.size(); ++c) {
        const SegmentRoles& roles = m_.roles_[m_.blocks_[c].segment];
        const BlockSums& part = parts_[c];
        const bool positive = roles.sign[k] > 0.0F;
        if (roles.trained[k]) {
          lane_totals.slope += positive ? part.slope[k] : -part.slope[k];
          lane_totals.risk += part.risk[k];
          lane_totals.weight += part.weight[k];
          lane_totals.curvature += part.curvature[k];
        }
        if (roles.held_out[k]) {
          HeldOut& to = lane_totals.held_out[positive ? 1 : 0];
          to[0] += part.log_loss[k];
          to[1] += part.error[k];
          to[2] += part.brier[k];
        }
      }
    }
    for (std::size_t k = 0; k < m_.further_.against; ++k) {
      Totals& other = totals[k + m_.further_.against];
      totals[k] += other;
      other = totals[k];
    }
    return totals;
  }

  // Adds the totals of other processes, and stores the lower bound on the margins of all.
  void all_reduce(std::vector<Totals>& totals, Team& team) {
    AllReduce all_reduce = team.all_reduce();
    for (Totals& lane_totals : totals) {
      all_reduce.sum(lane_totals.slope)
          .sum(lane_totals.risk)
          .sum(lane_totals.weight)
          .sum(lane_totals.curvature);
      for (HeldOut& sums : lane_totals.held_out) all_reduce.sum(sums.data(), sums.size());
    }
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    std::array<double, W> lowest;  // with the other sign
    lowest.fill(kNone);
    double least = kNone;
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      const SegmentRoles& roles = m_.roles_[m_.blocks_[c].segment];
      least = std::max(least, -wide(parts_[c].least));
      for (std::size_t k = 0; k < W; ++k) {  // rows held out may be far below
        if (roles.trained[k]) lowest[k] = std::max(lowest[k], -wide(parts_[c].least_u[k]));
      }
    }
    for (double& bound : lowest) all_reduce.most(bound);
    all_reduce.most(least);
    const std::array<const TermUnits*, 6> units = {&slope_units_,    &risk_units_,
                                                   &log_loss_units_, &share_units_,
                                                   &weight_units_,   &curvature_units_};
    std::array<TermUnits::Lost, 6> lost;
    for (std::size_t j = 0; j < lost.size(); ++j) {
      units[j]->add_to(all_reduce, lost[j]);
    }
    if (sums_cells_) cells_->histogram.add_to(all_reduce, cells_->feature);
    if (request_.ahead != nullptr && team.has_peers() && m_.units_[0].total_weight > 0.0) {
      sum_ahead(totals.front(), -lowest[0], all_reduce, team);
    }
    all_reduce.run();
    for (std::size_t j = 0; j < lost.size(); ++j) units[j]->lose_if(lost[j]);
    for (std::size_t k = 0; k < W; ++k) {
      if (lowest[k] > kNone) m_.least_u_[k] = static_cast<float>(-lowest[k]);
    }
    // Both labels have the same bounds, so that their sums have the same units.
    for (std::size_t k = 0; k < m_.further_.against; ++k) {
      float& other = m_.least_u_[k + m_.further_.against];
      m_.least_u_[k] = other = std::min(m_.least_u_[k], other);
    }
    m_.least_ = -least;
  }

  // Sums the next plan's statistics, in the units of the last pass: they are powers of two, which
  // seldom change.  `totals` and `least` are of this process's rows; bounds are still those of the
  // last pass, the same in all processes.
  void sum_ahead(const Totals& totals, double least, AllReduce& all_reduce, Team& team) {
    // Squares of terms must not exceed twice the expected ones, as sums hold no more.
    const auto fits = [](double now, double foreseen) { return now <= 1.4 * foreseen; };
    const double most = m_.bounds_at(std::min(least, wide(m_.least_u_[0]))).weight;
    const bool all_fit =
        fits(most, m_.most_weight(0)) &&
        fits(weight_units_.value(0, totals.weight), m_.units_[0].total_weight) &&
        fits(curvature_units_.value(0, totals.curvature), m_.units_[0].total_curvature);
    request_.ahead->sum(m_.units_[0], m_.most_weight(0), all_fit, all_reduce, team);
  }

  CellUnits units_of(std::size_t k, const Totals& totals) const {
    // Terms below one unit round to 0: one unit is allowed for.
    const double scale = TermUnits::scale_of(m_.sample_weight_);
    const auto unseen = static_cast<std::int64_t>(m_.total_weight_ * scale) + 1;
    const auto at_most = [&](const TermUnits& units, std::int64_t sum) {
      return units.value(k, sum + unseen);
    };
    const Bounds most = m_.bounds_ahead(k, 0.0);
    const double s = std::max(1.0, m_.most_sample_weight_);
    CellUnits units{at_most(weight_units_, totals.weight),
                    m_.needs_curvature_ ? at_most(curvature_units_, totals.curvature) : 0.0,
                    s * most.weight, s * most.curvature};
    units.round_rows(most.weight, most.curvature, m_.training_weight_[k]);
    return units;
  }

  template <class PassBlock>
  void fill(Team& team, const PassBlock& pass) {
    const FeatureRows rows{m_.rows_, m_.blocks_,          m_.together_,   m_.roles_,
                           W,        m_.needs_curvature_, units_of_cells_};
    fill_feature(*cells_, rows, m_.nanoseconds(2.5), m_.memory_, team, pass);
  }

  // The training weights of strips of rows are added to cells, if any are requested.
  void pass_block(std::size_t c, const AddStrip* add) {
    constexpr std::size_t kRows = kStrip / W;
    const RowBlock& block = m_.blocks_[c];
    BlockSums& sums = parts_[c];
    const SegmentRoles& roles = m_.roles_[block.segment];
    const bool stores = !m_.weight_.empty() && !m_.keeps_apart_;
    const float* const share = m_.shares_.empty() ? nullptr : m_.shares_.data();
    alignas(64) Strip shift, spare_w, spare_c, loss, soft;
    for (std::size_t begin = block.begin; begin < block.end; begin += kRows) {
      const std::size_t n = std::min(kRows, block.end - begin);
      float* const u = m_.u_.data() + begin * W;
      const RowSampleWeights s = m_.sample_weight_.from(begin);
      if (!joint_.empty()) shift_strip(block, begin, n, u, shift.data());
      vectorized([n, u, least = sums.least_u.data()] { find_least<W>(u, n, least); });
      if (roles.trains) {
        float* const w = stores ? m_.weight_.data() + begin * W : spare_w.data();
        float* q = nullptr;
        if (m_.needs_curvature_) q = stores ? m_.curvature_.data() + begin * W : spare_c.data();
        const float* const x = m_.weighting_->place(begin, n, u, soft.data(), sums.least);
        if (request_.risk) {
          m_.loss_.evaluate(x, w, loss.data(), q, n * W);
        } else {
          m_.loss_.weights(x, w, n * W);
          if (q != nullptr) m_.loss_.curvatures(x, q, n * W);
        }
        m_.weighting_->damp_weights(n, u, w);
        if (share != nullptr) {
          multiply(share + begin * W, n * W, w);
          if (q != nullptr) multiply(share + begin * W, n * W, q);
          if (request_.risk) multiply(share + begin * W, n * W, loss.data());
        }
        if (m_.keeps_apart_) {
          keep_apart(w, n, m_.weight_.data() + begin, m_.against_.data() + begin);
        }
        add_strip(n, s, w, q, shift.data(), request_.risk ? loss.data() : nullptr, roles.trained,
                  sums);
        if (add != nullptr) (*add)(w, q, begin, n);
      }
      if (request_.held_out && roles.holds_out) {
        add_held_out(roles, n, s, u, share == nullptr ? nullptr : share + begin * W, sums);
      }
    }
  }

  void shift_strip(const RowBlock& block, std::size_t begin, std::size_t n, float* __restrict u,
                   float* __restrict shift) const {
    for (std::size_t m = 0; m < joint_.size(); ++m) {
      const std::uint8_t* const code = joint_[m].codes + begin;
      const float* const table =
          joint_[m].table.data() + m_.targets_.of(block.segment) * joint_[m].width;
      if (joint_[m].alone) {
        float* const out = shift + joint_[m].moves.front()->lane;
        for (std::size_t i = 0; i < n; ++i) out[i * W] = table[code[i]];
      } else {
        vectorized([=] { look_up<W>(code, table, n, m == 0, shift); });
      }
      if (W <= 2 && joint_[m].lines != nullptr) {  // of a model by itself
        vectorized([n, shift, lines = joint_[m].lines + begin, t = joint_[m].t] {
          for (std::size_t i = 0; i < n * W; ++i) shift[i] += t * lines[i / W];
        });
      }
    }
    m_.weighting_->damp_moves(n, u, shift);
    const float* const sign = m_.roles_[block.segment].sign.data();
    vectorized([=] { add_signed<W>(sign, shift, n, u); });
  }

  void add_strip(std::size_t n, RowSampleWeights s, const float* w, const float* q,
                 const float* shift, const float* loss, const std::array<bool, kMostLanes>& trained,
                 BlockSums& sums) const {
    if (!joint_.empty()) {
      vectorized([&, n, s, w, shift](auto set) {
        const auto term = [=](std::size_t j) { return wide(w[j]) * wide(shift[j]); };
        add_rows<W, Signs::kBoth>(set, n, s, slope_units_, sums.slope, term, &trained);
      });
    }
    const auto add = [&](const float* from, const TermUnits& units, WholeSums& total) {
      vectorized([&, n, s, from](auto set) {
        add_rows<W, Signs::kPositive>(
            set, n, s, units, total, [=](std::size_t j) { return wide(from[j]); }, &trained);
      });
    };
    if (loss != nullptr) add(loss, risk_units_, sums.risk);
    if (!sums_weights_) return;
    add(w, weight_units_, sums.weight);
    if (q != nullptr) add(q, curvature_units_, sums.curvature);
  }

  // The predicted label is 1 where F > 0, as in scikit-learn.
  void add_held_out(const SegmentRoles& roles, std::size_t n, RowSampleWeights s, const float* u,
                    const float* share, BlockSums& sums) const {
    alignas(64) Strip p, log_loss, error, brier;
    m_.loss_.probabilities(u, p.data(), n * W);
    alignas(64) Strip signs;
    for (std::size_t j = 0; j < n * W; j += W) std::copy_n(roles.sign.data(), W, &signs[j]);
    find_errors(n * W, p.data(), u, signs.data(), log_loss.data(), error.data(), brier.data());
    if (share != nullptr) {
      for (Strip* const terms : {&log_loss, &error, &brier}) multiply(share, n * W, terms->data());
    }
    const std::tuple<const Strip&, const TermUnits&, WholeSums&> held_out[] = {
        {log_loss, log_loss_units_, sums.log_loss},
        {error, share_units_, sums.error},
        {brier, share_units_, sums.brier}};
    for (const auto& [entries, units, total] : held_out) {
      vectorized([n, s, entry = entries.data(), &units = units, &total = total](auto set) {
        add_rows<W, Signs::kPositive>(set, n, s, units, total,
                                      [=](std::size_t j) { return wide(entry[j]); });
      });
    }
  }

  Margins& m_;
  const LanesThat& afresh_;
  const std::vector<Move>& moves_;
  const PassRequest& request_;
  const std::vector<JointMove> joint_;
  const CellsOfFeature* const cells_;  // or null
  const bool sums_cells_;              // as rows move, or else once all have
  const bool sums_weights_;            // which are kept
  std::vector<BlockSums> parts_;
  TermUnits slope_units_, risk_units_, log_loss_units_, share_units_;
  TermUnits weight_units_, curvature_units_;
  LaneUnits units_of_cells_{};
};

std::vector<Point> Margins::move_all(const std::vector<Move>& moves, const PassRequest& request,
                                     Team& team, const LanesThat& afresh) {
  ++renewals_;
  return visit_width(
      lanes_, [&](auto width) { return Pass<width>(*this, moves, request, afresh).run(team); });
}

}  // namespace properboost
