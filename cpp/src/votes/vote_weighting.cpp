#include "properboost/votes/vote_weighting.hpp"

#include <algorithm>
#include <cmath>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"

namespace properboost {

VoteRowWeighting::VoteRowWeighting(const VoteWeighting& weighting, std::size_t rows)
    : weighting_(weighting),
      influence_(mistrusts() ? rows : 0, 0.0f),
      share_(mistrusts() ? rows : 0, 0.0f) {}

// Adds the rows' latest relative weights, times the step, to their influence.
void VoteRowWeighting::settle(double t) {
  const auto step = static_cast<float>(t);
  steps_ += t;
  largest_share_ = find_largest_share();
  for (std::size_t i = 0; i < share_.size(); ++i) influence_[i] += step * share_[i];
}

// Sets the offset to the least margin, if they have come far apart.
bool VoteRowWeighting::follow(double least) {
  constexpr double kFar = 16.0;
  if (!(std::abs(least - offset_) > kFar)) return false;
  offset_ = least;
  return true;
}

double VoteRowWeighting::most_amplified(double least) const {
  return std::exp(weighting_.damping * std::max(0.0, offset_ - std::max(0.0, least)));
}

double VoteRowWeighting::most_speed(double along) const {
  const double share = find_largest_share();  // no mean of shares is larger
  return along + 2.0 * weighting_.mistrust * share * share;
}

double VoteRowWeighting::find_largest_share() const {
  double largest = largest_share_;
  for (const float share : share_) largest = std::max(largest, static_cast<double>(share));
  return largest;
}

double VoteRowWeighting::risk_factor() const { return math::exp(-offset_); }

// x *= e^(-damping |u|); for weights the same, up to a factor from the offset.
void VoteRowWeighting::damp_moves(std::size_t n, const float* u, float* x) const {
  damp(n, u, 0.0, x);
}
void VoteRowWeighting::damp_weights(std::size_t n, const float* u, float* x) const {
  damp(n, u, std::max(offset_, 0.0), x);
}

const float* VoteRowWeighting::place(std::size_t begin, std::size_t n, const float* __restrict u,
                                     float* __restrict out, float& least) const {
  std::copy_n(u, n, out);
  if (mistrusts() && steps_ > 0.0) {
    const auto factor = static_cast<float>(weighting_.mistrust / steps_);
    const float* __restrict influence = influence_.data() + begin;
    for (std::size_t i = 0; i < n; ++i) out[i] += factor * influence[i] * influence[i];
  }
  for (std::size_t i = 0; i < n; ++i) least = std::min(least, out[i]);
  take_offset(n, out);
  return out;
}

const float* VoteRowWeighting::place_ahead(std::size_t begin, std::size_t n, float t,
                                           const float* along, float* __restrict x,
                                           float* __restrict out) const {
  if (mistrusts()) {
    const auto mistrust = static_cast<float>(weighting_.mistrust);
    const float steps = static_cast<float>(steps_) + t;
    for (std::size_t i = 0; i < n; ++i) {
      const float share = share_[begin + i];
      // The mean of the shares so far and this one; before any step, this one.
      const float mean = steps > 0.0f ? (influence_[begin + i] + t * share) / steps : share;
      x[i] += mistrust * steps * mean * mean;
      out[i] = along[i] + mistrust * mean * (2.0f * share - mean);
    }
    along = out;
  }
  take_offset(n, x);
  return along;
}

void VoteRowWeighting::note_weights(std::size_t begin, std::size_t end, const float* weight,
                                    double mean) {
  if (!mistrusts()) return;
  for (std::size_t i = begin; i < end; ++i) {
    share_[i] = static_cast<float>(static_cast<double>(weight[i]) / mean);
  }
}

void VoteRowWeighting::damp(std::size_t n, const float* __restrict u, double from,
                            float* __restrict x) const {
  if (!(weighting_.damping > 0.0)) return;
  const auto rate = static_cast<float>(-weighting_.damping);
  const auto least = static_cast<float>(from);
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) x[i] *= math::exp(rate * (std::abs(u[i]) - least));
  });
}

void VoteRowWeighting::take_offset(std::size_t n, float* x) const noexcept {
  const auto offset = static_cast<float>(offset_);
  for (std::size_t i = 0; i < n; ++i) x[i] -= offset;
}

}  // namespace properboost
