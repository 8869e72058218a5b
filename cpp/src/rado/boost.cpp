// The edges of all coordinates take most of the time: a pass over all rados.  They are first
// computed to some 2.5e-5 from 16-bit copies of the coordinates, which take a quarter of the memory
// to read; the few that could be the best are then computed in full precision.
#include "properboost/rado/boost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/math.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/rado/exponential.hpp"

namespace properboost {
namespace {

constexpr std::size_t kLanes = 32;      // sums side by side, so that loops are vector operations
constexpr std::size_t kBlock = 4096;    // rados over which sums are float32
constexpr std::size_t kTogether = 4;    // coordinates that share the weights' loads
constexpr double kUnits = 32767.0;      // of a coordinate's largest size
constexpr double kLeastWeight = 1e-30;  // of the largest; smaller ones become 0
constexpr double kTie = 1e-10;
// Half a unit, and 135 roundings: the weight's, the product's, 128 sums' and 5 of the lanes'.
constexpr double kEdgeError = 0.5 / kUnits + 140.0 * 0x1p-24;

double find_step(double edge, double largest) {
  return math::log((1.0 + edge) / (1.0 - edge)) / (2.0 * largest);
}

// out[f] = sum_j weight[j] units[f * n + j]
void sum_units(const std::int16_t* units, std::size_t n, const float* weight,
               std::array<double, kTogether>& out) {
  out.fill(0.0);
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    std::array<std::array<float, kLanes>, kTogether> sum{};
    // n is a multiple of the lanes: the padding beyond the rados has no weight.
    for (std::size_t j = begin; j < std::min(begin + kBlock, n); j += kLanes) {
      for (std::size_t f = 0; f < kTogether; ++f) {
        const std::int16_t* const unit = units + f * n + j;
        for (std::size_t l = 0; l < kLanes; ++l) {
          sum[f][l] += weight[j + l] * static_cast<float>(unit[l]);
        }
      }
    }
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t f = 0; f < kTogether; ++f) {
        for (std::size_t l = 0; l < half; ++l) sum[f][l] += sum[f][l + half];
      }
    }
    for (std::size_t f = 0; f < kTogether; ++f) out[f] += static_cast<double>(sum[f][0]);
  }
}

// Folds the lanes' numbers into one, in a fixed order.
template <class Fold>
double fold_lanes(std::array<double, kLanes>& lanes, const Fold& fold) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] = fold(lanes[l], lanes[l + half]);
  }
  return lanes[0];
}

double add(double a, double b) { return a + b; }
double lesser(double a, double b) { return b < a ? b : a; }

// In the functions below, n is a multiple of the lanes.

// sum_j weight[j] x[j]
double sum_exactly(const double* x, const double* weight, std::size_t n) {
  std::array<double, kLanes> sum{};
  for (std::size_t j = 0; j < n; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) sum[l] += weight[j + l] * x[j + l];
  }
  return fold_lanes(sum, add);
}

// Weights from margins, relative to that of the least margin; returns their sum.
double find_weights(const double* margins, double least, std::size_t n, double* weights,
                    float* float_weights) {
  std::array<double, kLanes> sum{};
  for (std::size_t j = 0; j < n; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double weight = exp_of_negative(least - margins[j + l]);
      weights[j + l] = weight;
      sum[l] += weight;
      float_weights[j + l] = weight < kLeastWeight ? 0.0F : static_cast<float>(weight);
    }
  }
  return fold_lanes(sum, add);
}

// Moves margins by step x; returns the least.
double move_margins(const double* x, double step, std::size_t n, double* margins) {
  std::array<double, kLanes> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < n; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      margins[j + l] += step * x[j + l];
      least[l] = lesser(least[l], margins[j + l]);
    }
  }
  return fold_lanes(least, lesser);
}

class Booster {
 public:
  Booster(const RadoBoosting& boosting, Team& team)
      : boosting_(boosting),
        team_(team),
        n_((boosting.n_rados + kLanes - 1) / kLanes * kLanes),
        column_blocks_((boosting.features + kTogether - 1) / kTogether),
        largest_(column_blocks_ * kTogether, 0.0),
        edges_(column_blocks_ * kTogether, 0.0),
        columns_(column_blocks_ * kTogether * n_, 0.0),
        units_(column_blocks_ * kTogether * n_, 0),
        margins_(n_, 0.0),
        weights_(n_, 0.0),
        float_weights_(n_, 0.0F),
        parts_((n_ + kBlock - 1) / kBlock) {
    // Padding in the last lanes has no weight.
    std::fill(margins_.begin() + static_cast<std::ptrdiff_t>(boosting.n_rados), margins_.end(),
              std::numeric_limits<double>::infinity());
    team_.for_each(column_blocks_, 3.0 * static_cast<double>(columns_.size()),
                   [&](std::size_t block) { copy(block); });
  }

  std::vector<RadoRound> run(const std::function<void(std::size_t, double)>& progress) {
    std::vector<RadoRound> rounds;
    double penalty = 0.0;
    if (std::none_of(largest_.begin(), largest_.end(), [](double x) { return x > 0.0; })) {
      return rounds;
    }
    weigh();
    while (rounds.size() < boosting_.rounds) {
      const std::optional<RadoRound> round = choose();
      if (!round || !std::isfinite(penalty + round->penalty)) break;
      const auto k = static_cast<std::size_t>(round->feature);
      penalty += round->penalty;
      for (auto& [factor, term] : boosting_.penalty) term->move(k, round->step);
      move(k, round->step);
      rounds.push_back(*round);
      rounds.back().log_loss = math::log(weigh()) - least_margin_ + penalty;
      progress(rounds.size(), rounds.back().log_loss);
    }
    return rounds;
  }

 private:
  struct Part {
    double least_margin = 0.0, weight = 0.0;
  };

  // A block's coordinates, each side by side: as they are, and in units of a share of the largest.
  void copy(std::size_t block) {
    const std::size_t first = block * kTogether;
    const std::size_t size = std::min(kTogether, boosting_.features - first);
    for (std::size_t j = 0; j < boosting_.n_rados; ++j) {
      const double* const rado = boosting_.rados + j * boosting_.features + first;
      for (std::size_t f = 0; f < size; ++f) {
        columns_[(first + f) * n_ + j] = rado[f];
        largest_[first + f] = std::max(largest_[first + f], std::fabs(rado[f]));
      }
    }
    for (std::size_t k = first; k < first + size; ++k) {
      // If not even a step divided by the largest value is finite, the feature cannot be used.
      if (!std::isfinite(find_step(kLargestEdge, largest_[k]))) largest_[k] = 0.0;
      if (largest_[k] == 0.0) continue;
      for (std::size_t j = 0; j < boosting_.n_rados; ++j) {
        const double share = columns_[k * n_ + j] / largest_[k];
        units_[k * n_ + j] = static_cast<std::int16_t>(std::nearbyint(share * kUnits));
      }
    }
  }

  // Weights from margins, relative to that of the least margin; returns their mean.
  double weigh() {
    least_margin_ = std::numeric_limits<double>::infinity();
    for (const Part& part : parts_) least_margin_ = std::min(least_margin_, part.least_margin);
    for_each_part(2.0, [&](std::size_t p, std::size_t begin, std::size_t size) {
      vectorized([&] {
        parts_[p].weight = find_weights(margins_.data() + begin, least_margin_, size,
                                        weights_.data() + begin, float_weights_.data() + begin);
      });
    });
    total_ = 0.0;
    for (const Part& part : parts_) total_ += part.weight;
    return total_ / static_cast<double>(boosting_.n_rados);
  }

  void move(std::size_t k, double step) {
    const double* const x = columns_.data() + k * n_;
    for_each_part(0.5, [&](std::size_t p, std::size_t begin, std::size_t size) {
      vectorized([&] {
        parts_[p].least_margin = move_margins(x + begin, step, size, margins_.data() + begin);
      });
    });
  }

  template <class Task>
  void for_each_part(double nanoseconds, const Task& task) {
    team_.for_each(parts_.size(), nanoseconds * static_cast<double>(n_),
                   [&](std::size_t p) { task(p, p * kBlock, std::min(kBlock, n_ - p * kBlock)); });
  }

  // The round that takes feature k with this edge: the edge after clamping, the step and the
  // penalty.
  RadoRound try_edge(std::size_t k, double edge) const {
    const double most = std::min(boosting_.largest_edge, kLargestEdge);
    edge = std::min(std::max(edge, -most), most);
    const double step = find_step(edge, largest_[k]);
    double penalty = 0.0;
    for (const auto& [factor, term] : boosting_.penalty) penalty += factor * term->change(k, step);
    return {static_cast<std::int32_t>(k), edge, step, penalty, 0.0};
  }

  // The largest error of |r| - delta if the edge is off by kEdgeError.
  double excess_error(std::size_t k, double edge, double step) const {
    double error = kEdgeError;
    if (boosting_.penalty.empty()) return error;
    double apart = 0.0, farthest = 0.0;  // the steps of edges that near
    const double most = std::min(boosting_.largest_edge, kLargestEdge);
    for (const double shift : {-kEdgeError, kEdgeError}) {
      const double other = find_step(std::min(std::max(edge + shift, -most), most), largest_[k]);
      apart = std::max(apart, std::fabs(other - step));
      farthest = std::max(farthest, std::fabs(other));
    }
    for (const auto& [factor, term] : boosting_.penalty) {
      error += factor * term->steepness(k, farthest) * apart;
    }
    return error;
  }

  // Nothing if no feature has a finite |r| - delta.
  std::optional<RadoRound> choose() {
    team_.for_each(
        column_blocks_, 0.04 * static_cast<double>(units_.size()), [&](std::size_t block) {
          std::array<double, kTogether> sums;
          vectorized([&] {
            sum_units(units_.data() + block * kTogether * n_, n_, float_weights_.data(), sums);
          });
          for (std::size_t f = 0; f < kTogether; ++f) {
            edges_[block * kTogether + f] = sums[f] / (kUnits * total_);
          }
        });
    double bar = -std::numeric_limits<double>::infinity();  // a lower bound on the best
    candidates_.clear();
    for (std::size_t k = 0; k < boosting_.features; ++k) {
      if (largest_[k] == 0.0) continue;
      const RadoRound round = try_edge(k, edges_[k]);
      const double excess = std::fabs(edges_[k]) - round.penalty;
      const double error = excess_error(k, edges_[k], round.step);
      candidates_.push_back({k, excess + error, {}});
      bar = std::max(bar, excess - error);
    }
    const auto hopeless = [&](const Candidate& c) { return c.excess < bar - kTie; };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), hopeless),
                      candidates_.end());
    team_.for_each(
        candidates_.size(), 0.5 * static_cast<double>(candidates_.size() * n_), [&](std::size_t c) {
          Candidate& candidate = candidates_[c];
          const std::size_t k = candidate.feature;
          double sum = 0.0;
          vectorized([&] { sum = sum_exactly(columns_.data() + k * n_, weights_.data(), n_); });
          const double edge = sum / (largest_[k] * total_);
          candidate.round = try_edge(k, edge);
          candidate.excess = std::fabs(edge) - candidate.round.penalty;
        });
    double best = -std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates_) {
      if (std::isfinite(c.excess)) best = std::max(best, c.excess);
    }
    for (const Candidate& c : candidates_) {
      if (std::isfinite(c.excess) && c.excess >= best - kTie) return c.round;
    }
    return std::nullopt;
  }

  struct Candidate {
    std::size_t feature;
    double excess;
    RadoRound round;
  };

  const RadoBoosting& boosting_;
  Team& team_;
  std::size_t n_, column_blocks_;        // rados, filled up to whole lanes; blocks of columns
  std::vector<double> largest_, edges_;  // of each coordinate
  Aligned<double> columns_;
  Aligned<std::int16_t> units_;
  Aligned<double> margins_, weights_;
  Aligned<float> float_weights_;
  std::vector<Part> parts_;
  std::vector<Candidate> candidates_;
  double least_margin_ = 0.0, total_ = 0.0;
};

}  // namespace

std::vector<RadoRound> boost_rados(const RadoBoosting& boosting,
                                   const std::function<void(std::size_t, double)>& progress,
                                   Team& team) {
  return Booster(boosting, team).run(progress);
}

}  // namespace properboost
