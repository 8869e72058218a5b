// Slopes and sums of weights where rows would be: passes of line searches that move no row.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/directional_slope.hpp"
#include "properboost/margins/margin_strip.hpp"
#include "properboost/margins/margins.hpp"
#include "properboost/margins/mixed_labels.hpp"

namespace properboost {

// Scratch for two floats per row (one if there is a single lane).  It may be the memory of the
// weights: they have been read by now, and the next pass writes them again.
float* Margins::spare() {
  if (!weight_.empty() && !keeps_apart_) return weight_.data();
  scratch_.resize(codes_.rows * std::min<std::size_t>(lanes_, 2));
  return scratch_.data();
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
          mix_labels(loss_, &Loss::weights, share_of_lane_[lane] + begin, -1.0F, to, n, w.data());
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
              mix_labels(m.loss_, &Loss::weights, share, -1.0F, u.data(), n, w.data());
              mix_labels(m.loss_, &Loss::curvatures, share, 1.0F, u.data(), n, c.data());
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
