#include "properboost/margins/margins.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/directional_slope.hpp"
#include "properboost/margins/fill_feature.hpp"

namespace properboost {
namespace {

constexpr std::size_t kStrip = 2048;  // margins that stay in the first cache
using Strip = std::array<float, kStrip>;

// A probability of 0 counts as the smallest step of a double, as in scikit-learn.
constexpr float kLeastProbability = 2.22044605e-16F;

// least[k] becomes the least of its lane.
template <std::size_t W>
void find_least(const float* u, std::size_t n, float* least) {
  constexpr std::size_t kTogether = W < 16 ? 16 : W;
  float lowest[kTogether];
  for (std::size_t k = 0; k < kTogether; ++k) lowest[k] = least[k % W];
  std::size_t j = 0;
  for (; j + kTogether <= n * W; j += kTogether) {
    for (std::size_t k = 0; k < kTogether; ++k)
      lowest[k] = u[j + k] < lowest[k] ? u[j + k] : lowest[k];
  }
  for (; j < n * W; ++j) lowest[j % W] = std::min(lowest[j % W], u[j]);
  for (std::size_t k = 0; k < kTogether; ++k) least[k % W] = std::min(least[k % W], lowest[k]);
}

// The same of the other labels' margins.
void find_least_of_others(const float* u, std::size_t n, float& least) {
  float lowest = least;
  for (std::size_t i = 0; i < n; ++i) lowest = -u[i] < lowest ? -u[i] : lowest;
  least = lowest;
}

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

// The moves of lanes, and of those against them, so many lanes after, by the same tables.
std::vector<Move> with_lanes_against(const std::vector<Move>& moves, std::size_t against) {
  std::vector<Move> all = moves;
  if (against == 0) return all;
  for (const Move& move : moves) {
    all.push_back({move.lane + against, move.codes, move.table, move.t, move.width, move.lines});
  }
  return all;
}

// The least of all processes' margins, and sums that are theirs, too.
double reduce_least(const std::vector<float>& blocks, AllReduce all_reduce) {
  double most = -std::numeric_limits<double>::infinity();
  for (const float block_least : blocks) most = std::max(most, -wide(block_least));
  all_reduce.most(most).run();
  return -most;
}

}  // namespace

template <class Task>
void Margins::for_blocks(double ns_a_margin, Team& team, const Task& task) {
  team.for_each(blocks_.size(), nanoseconds(ns_a_margin), task);
}

// Calls task(c, block, sign) for the blocks that the lane trains on.
template <class Task>
void Margins::for_training_blocks(std::size_t lane, double ns_a_row, Team& team, const Task& task) {
  const double nanoseconds = ns_a_row * static_cast<double>(codes_.rows);
  team.for_each(blocks_.size(), nanoseconds, [&](std::size_t c) {
    const SegmentRoles& r = roles_[blocks_[c].segment];
    if (r.trained[lane]) task(c, blocks_[c], wide(r.sign[lane]));
  });
}

// One pass over the rows, which moves every lane.
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

bool Margins::are_bounded(const Loss& loss) {
  constexpr double kFar = -1e6;
  return loss.most_weight(kFar) <= 4.0 * loss.weight(0.0);
}

Margins::Bounds Margins::bounds_at(double least) const {
  const double x = weighting_->least_argument(least);
  const double factor = weighting_->most_amplified(least);
  return {factor * loss_.most_weight(x), loss_.most_curvature(x), loss_.most_loss(x)};
}

Memory Margins::needs(std::size_t rows, std::size_t lanes, const Loss& loss, bool keeps_weights,
                      bool needs_curvature) noexcept {
  keeps_weights = keeps_weights || !are_bounded(loss);
  const std::size_t margins = rows * lanes * sizeof(float);
  return {margins, keeps_weights ? margins * (needs_curvature ? 2 : 1) : 0};
}

Margins::Margins(const TrainingRows& rows, const std::vector<SegmentRoles>& roles,
                 const std::vector<std::size_t>& models, FurtherLanes further, bool feeds_trees,
                 const Loss& loss, bool needs_curvature, const VoteTargets& targets,
                 std::unique_ptr<RowWeighting> weighting)
    : rows_(rows),
      codes_(rows.codes),
      roles_(roles),
      further_(further),
      keeps_apart_(further.any() && feeds_trees),
      lanes_(width_for(further.all(models.size()))),
      sample_weight_(rows.sample_weight),
      loss_(loss),
      needs_curvature_(needs_curvature),
      targets_(targets),
      u_(rows.codes.rows * lanes_, 0.0f),
      total_weight_(rows.totals.all),
      most_sample_weight_(rows.totals.most),
      weighting_(std::move(weighting)) {
  if (further_.any()) {
    for (const std::size_t m : models) {
      share_of_lane_.push_back(rows.labels.of(m, codes_.rows));
    }
    shares_ = spread_shares(share_of_lane_, codes_.rows, lanes_, further_.against);
  }
  for (std::size_t i = 0; i + 1 < codes_.segments.size(); ++i) {
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (roles[i].trained[k]) training_weight_[k] += rows.totals.of_segment[i];
    }
  }
  weigh_held_out(rows.totals);
  // The rows of bags and folds lie in many small segments.
  const auto alike = [&](std::size_t a, std::size_t b) {
    return roles[a].same(roles[b]) && targets_.of(a) == targets_.of(b);
  };
  for (const RowBlock& block : cut_into_row_blocks(codes_.segments, alike)) {
    const SegmentRoles& r = roles[block.segment];
    if (r.trains || r.holds_out) blocks_.push_back(block);
  }
  together_ = put_together(blocks_, roles);
}

void Margins::weigh_held_out(const WeightTotals& totals) {
  for (std::size_t i = 0; i + 1 < codes_.segments.size(); ++i) {
    const SegmentRoles& r = roles_[i];
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (!r.held_out[k]) continue;
      held_out_weight_[k] += totals.of_segment[i];
      double& of_class = held_out_of_class_[r.sign[k] > 0.0F ? 1 : 0][k];
      if (shares_.empty()) {
        of_class += totals.of_segment[i];
        continue;
      }
      for (std::size_t row = codes_.segments[i]; row < codes_.segments[i + 1]; ++row) {
        of_class += sample_weight_[row] * wide(shares_[row * lanes_ + k]);
      }
    }
  }
  for (Sums& of_class : held_out_of_class_) {  // of either label
    for (std::size_t k = 0; k < further_.against; ++k) {
      double& other = of_class[k + further_.against];
      of_class[k] = other = of_class[k] + other;
    }
  }
}

std::vector<Point> Margins::move(const std::vector<Move>& moves,
                                 const std::vector<PassRequest>& requests, Team& team) {
  const PassRequest& request = requests.front();
  const bool sums_as_rows_move = request.cells && are_bounded(loss_);
  if ((!sums_as_rows_move || request.keeps_weights) && !keeps_weights_) {
    weight_.resize(keeps_apart_ ? codes_.rows : u_.size());
    if (keeps_apart_) against_.resize(codes_.rows);
    if (needs_curvature_) curvature_.resize(u_.size());
    keeps_weights_ = true;
  }
  weighting_->settle(moves.empty() ? 0.0 : moves[0].t);
  std::vector<Point> points = move_all(with_lanes_against(moves, further_.against), request, team);
  if (weighting_->follow(least_)) points = move_all({}, request, team);
  LanesThat loose{};
  for (std::size_t k = 0; k < lanes_; ++k) loose[k] = has_loose_sums(points[k], k);
  if (std::none_of(loose.begin(), loose.end(), [](bool lane_is_loose) { return lane_is_loose; }))
    return points;
  Sums slopes{};
  for (std::size_t k = 0; k < lanes_; ++k) slopes[k] = points[k].slope;
  for (const Move& move : moves) {
    if (move.t != 0.0 && loose[move.lane]) slopes[move.lane] = directional_slope(move, team);
  }
  points = move_all({}, request, team, loose);
  for (std::size_t k = 0; k < lanes_; ++k) points[k].slope = slopes[k];
  return points;
}

void Margins::reduce_bounds(AllReduce all_reduce) {
  std::vector<double> lowest;  // with the other sign
  for (std::size_t k = 0; k < lanes_; ++k) lowest.push_back(-static_cast<double>(least_u_[k]));
  for (double& bound : lowest) all_reduce.most(bound);
  all_reduce.run();
  for (std::size_t k = 0; k < lanes_; ++k) least_u_[k] = static_cast<float>(-lowest[k]);
}

std::vector<Point> Margins::move_all(const std::vector<Move>& moves, const PassRequest& request,
                                     Team& team, const LanesThat& afresh) {
  ++renewals_;
  return visit_width(
      lanes_, [&](auto width) { return Pass<width>(*this, moves, request, afresh).run(team); });
}

// Whether the bounds of the last pass still bound a lane, and tightly; it has not moved since.
bool Margins::bounds_hold(std::size_t lane) const {
  const Bounds here = bounds_ahead(lane, 0.0), there = bounds_[lane];
  const auto holds = [](double bound, double least) {
    return bound >= least && !is_loose(bound, least);
  };
  return holds(there.weight, here.weight) && holds(there.loss, here.loss) &&
         there.curvature >= here.curvature;
}

// Rows might have moved anywhere, or so far that little is left of their weights.
bool Margins::has_loose_sums(const Point& point, std::size_t lane) const {
  if (training_weight_[lane] == 0.0) return false;
  const Bounds here = bounds_ahead(lane, 0.0), there = bounds_[lane];
  return std::isnan(point.risk) || is_loose(there.weight, here.weight) ||
         is_loose(there.loss, here.loss);
}

void Margins::note_weights(double mean, Team& team) {
  for_training_blocks(0, 1.0, team, [&](std::size_t, const RowBlock& block, double) {
    weighting_->note_weights(block.begin, block.end, weight_.data(), mean);
  });
}

void Margins::forget_weights() {
  weight_ = {};
  curvature_ = {};
  against_ = {};
  keeps_weights_ = false;
  scratch_ = {};
  memory_ = {};
}

void Margins::select_lane(std::size_t lane, Team& team) {
  if (lanes_ == 1) {
    lane_u_ = u_.data();
    return;
  }
  float* const lane_u = spare();
  lane_u_ = lane_u;
  for_training_blocks(lane, 1.5, team, [&](std::size_t, const RowBlock& block, double) {
    for (std::size_t i = block.begin; i < block.end; ++i) lane_u[i] = u_[i * lanes_ + lane];
  });
}

void Margins::set_direction(const Move& direction, Team& team) {
  float* const along = spare() + (lanes_ == 1 ? 0 : codes_.rows);
  along_ = along;
  std::vector<float> entries(direction.table.begin(), direction.table.end());
  std::vector<float> parts(blocks_.size(), 0.0F);
  const std::size_t width = entries.size() / targets_.count;
  for_training_blocks(
      direction.lane, 1.0, team, [&](std::size_t c, const RowBlock& block, double wide_sign) {
        const auto sign = static_cast<float>(wide_sign);
        const float* const entry = entries.data() + targets_.of(block.segment) * width;
        for (std::size_t i = block.begin; i < block.end; ++i) {
          along[i] = sign * entry[direction.codes[i]];
        }
        if (direction.lines != nullptr) {
          for (std::size_t i = block.begin; i < block.end; ++i) {
            along[i] += sign * direction.lines[i];
          }
        }
        for (std::size_t i = block.begin; i < block.end; ++i) {
          parts[c] = std::max(parts[c], std::abs(along[i]));
        }
      });
  farthest_ = wide(largest_of(parts));
  team.all_reduce().most(farthest_).run();
}

double Margins::directional_slope(const Move& direction, Team& team) {
  // The memory of several lanes' weights may be scratch by now.
  if (!keeps_weights_ || lanes_ > 1 || !weighting_->is_derivative()) {
    return Oracle(*this, direction, team).slope_at(0.0);
  }
  const std::size_t lane = direction.lane;
  LaneWeights weights{weight_.data(), 1, most_weight(lane), {}};
  for (const RowBlock& block : blocks_) {
    const SegmentRoles& roles = roles_[block.segment];
    weights.signs.push_back(roles.trained[lane] ? wide(roles.sign[lane]) : 0.0);
  }
  return properboost::directional_slope(direction, weights, blocks_, sample_weight_, total_weight_,
                                        team) /
         training_weight_[lane];
}

double Margins::slope_ahead(std::size_t lane, double t, Team& team) {
  const auto step = static_cast<float>(t);
  const double speed_ahead = weighting_->most_speed(farthest_);
  double slope = 0.0;
  sum_tightly(bounds_ahead(lane, std::abs(t) * farthest_).weight, [&](double most) {
    TermUnits units;
    units.set(0, most * speed_ahead, sample_weight_, total_weight_);
    std::vector<WholeSums> parts(blocks_.size(), WholeSums{});
    std::vector<float> least(blocks_.size(), std::numeric_limits<float>::infinity());
    for_training_blocks(lane, 1.0, team, [&](std::size_t c, const RowBlock& block, double) {
      alignas(64) Strip x, w;
      for (std::size_t begin = block.begin; begin < block.end; begin += kStrip) {
        const std::size_t n = std::min(kStrip, block.end - begin);
        const float* from = lane_u_ + begin;
        const float* along = along_ + begin;
        float* to = x.data();
        vectorized([=] {
          for (std::size_t i = 0; i < n; ++i) to[i] = from[i] + step * along[i];
        });
        vectorized([n, to, least = &least[c]] { find_least<1>(to, n, least); });
        alignas(64) Strip speed;
        along = weighting_->place_ahead(begin, n, step, along, to, speed.data());
        loss_.weights(x.data(), w.data(), n);
        if (further_.any()) {
          mix_labels(&Loss::weights, share_of_lane_[lane] + begin, -1.0F, to, n, w.data());
          find_least_of_others(to, n, least[c]);
        }
        const RowSampleWeights s = sample_weight_.from(begin);
        const float* weight = w.data();
        vectorized([&, n, s, weight, along](auto set) {
          add_rows<1, Signs::kBoth>(set, n, s, units, parts[c], [=](std::size_t i) {
            return wide(weight[i]) * wide(along[i]);
          });
        });
      }
    });
    std::int64_t sum = 0;
    for (const WholeSums& part : parts) sum += part[0];
    TermUnits::Lost lost;
    AllReduce all_reduce = team.all_reduce();
    units.add_to(all_reduce.sum(sum), lost);
    const double there = bounds_at(reduce_least(least, all_reduce)).weight;
    units.lose_if(lost);
    slope = units.value(0, sum);
    return there;
  });
  return slope / training_weight_[lane];
}

double Margins::Oracle::slope_at(double t) {
  if (!ready_) {
    margins_.select_lane(direction_.lane, team_);
    margins_.set_direction(direction_, team_);
    ready_ = true;
  }
  return margins_.slope_ahead(direction_.lane, t - at_, team_);
}

void Margins::Oracle::moved_to(double t) {
  at_ = t;
  ready_ = false;
}

void Margins::mix_labels(void (Loss::*of_margins)(const float*, float*, std::size_t) const,
                         const float* share, float sign, const float* u, std::size_t n,
                         float* out) const {
  alignas(64) Strip opposite, other;
  vectorized([=, to = opposite.data()] {
    for (std::size_t i = 0; i < n; ++i) to[i] = -u[i];
  });
  (loss_.*of_margins)(opposite.data(), other.data(), n);
  vectorized([=, from = other.data()] {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = share[i] * out[i] + sign * (1.0F - share[i]) * from[i];
    }
  });
}

// Scratch for two floats per row (one if there is a single lane).  It may be the memory of the
// weights: they have been read by now, and the next pass writes them again.
float* Margins::spare() {
  if (!weight_.empty() && !keeps_apart_) return weight_.data();
  scratch_.resize(codes_.rows * std::min<std::size_t>(lanes_, 2));
  return scratch_.data();
}

RowsAtShift::CellSums Margins::ByCell::sum_rows(const CellOfCode& cell_of,
                                                const std::array<float, kMaxCodes>& shift) {
  Margins& m = margins_;
  if (!ready_) m.select_lane(lane_, team_);
  ready_ = true;
  const double total = 2.0 * m.training_weight_[lane_];
  const double of_row = std::max(1.0, m.most_sample_weight_);
  CellSums all;
  sum_tightly(m.bounds_ahead(lane_, farthest(shift)), [&](const Bounds& most) {
    all = CellSums{};
    all.units = {most.weight * total, most.curvature * total, of_row * most.weight,
                 of_row * most.curvature};
    std::vector<CellSums> parts(m.blocks_.size());
    std::vector<float> least(m.blocks_.size(), std::numeric_limits<float>::infinity());
    m.for_training_blocks(
        lane_, 8.0, team_, [&](std::size_t k, const RowBlock& block, double wide_sign) {
          const auto sign = static_cast<float>(wide_sign);
          for (std::size_t begin = block.begin; begin < block.end; begin += kStrip) {
            const std::size_t n = std::min(kStrip, block.end - begin);
            alignas(64) Strip u, w, c;
            const std::uint8_t* code = codes_ + begin;
            for (std::size_t i = 0; i < n; ++i) u[i] = m.lane_u_[begin + i] + sign * shift[code[i]];
            vectorized([n, &u, least = &least[k]] { find_least<1>(u.data(), n, least); });
            m.loss_.weights(u.data(), w.data(), n);
            m.loss_.curvatures(u.data(), c.data(), n);
            if (m.further_.any()) {
              const float* const share = m.share_of_lane_[lane_] + begin;
              m.mix_labels(&Loss::weights, share, -1.0F, u.data(), n, w.data());
              m.mix_labels(&Loss::curvatures, share, 1.0F, u.data(), n, c.data());
              find_least_of_others(u.data(), n, least[k]);
            }
            for (std::size_t i = 0; i < n; ++i) {
              const double s = m.sample_weight_[begin + i];
              parts[k].slope[cell_of[code[i]]] += all.units.weight.round_signed(s * wide(w[i]));
              parts[k].curvature[cell_of[code[i]]] += all.units.curvature.round(s * wide(c[i]));
            }
          }
          if (sign > 0.0F) return;
          for (std::int64_t& slope : parts[k].slope) slope = -slope;
        });
    for (const CellSums& part : parts) all += part;
    return m.bounds_at(reduce_least(least, team_.all_reduce()
                                               .sum(all.slope.data(), all.slope.size())
                                               .sum(all.curvature.data(), all.curvature.size())));
  });
  return all;
}

}  // namespace properboost
