#include "properboost/joint/softmax.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "properboost/core/instruction_set.hpp"
#include "properboost/joint/differences.hpp"
#include "properboost/losses/bound.hpp"
#include "properboost/losses/glog.hpp"

namespace properboost::joint {
namespace {

// Numbers of each row of a strip.  The functions below are compiled into the kernel of `evaluate`.
struct Strip {
  alignas(64) float top[kStrip];    // the largest score
  alignas(64) float ones[kStrip];   // how many e^((z - top) / 2) are 1
  alignas(64) float rest[kStrip];   // the sum of those below 1
  alignas(64) float part[kStrip];   // of it, of a few classes
  alignas(64) float share[kStrip];  // 1 / the sum of all
  alignas(64) float tail[kStrip];   // 1 - p of the largest
};

// [class][row] arrays of the rows of a strip; `stride` is from one class to the next.
struct RowsOfStrip {
  std::size_t classes, n, label, stride;
  const float* scores;
  float* weights;
  float* curvatures;    // or null
  const float* shares;  // or null
  float* tails;         // or null
};

void find_top(const RowsOfStrip& rows, Strip& strip) {
  for (std::size_t i = 0; i < rows.n; ++i) strip.top[i] = rows.scores[i];
  for (std::size_t k = 1; k < rows.classes; ++k) {
    const float* const z = rows.scores + k * rows.stride;
    for (std::size_t i = 0; i < rows.n; ++i) strip.top[i] = math::at_least(z[i], strip.top[i]);
  }
}

// Leaves the exponentials where the weights will be.
void sum_exponentials(const RowsOfStrip& rows, Strip& strip) {
  const std::size_t size = rows.n;
  for (std::size_t i = 0; i < size; ++i) strip.ones[i] = strip.rest[i] = 0.0F;
  for (std::size_t first = 0; first < rows.classes; first += kPart) {
    const std::size_t last = std::min(first + kPart, rows.classes);
    for (std::size_t i = 0; i < size; ++i) strip.part[i] = 0.0F;
    for (std::size_t k = first; k < last; ++k) {
      const float* const __restrict z = rows.scores + k * rows.stride;
      float* const __restrict weight = rows.weights + k * rows.stride;
      for (std::size_t i = 0; i < size; ++i) {
        const float e = math::exp(0.5F * below(z[i], strip.top[i]));
        const float one = e < 1.0F ? 0.0F : 1.0F;
        weight[i] = e;
        strip.part[i] += e - one;
        strip.ones[i] += one;
      }
    }
    for (std::size_t i = 0; i < size; ++i) strip.rest[i] += strip.part[i];
  }
  for (std::size_t i = 0; i < size; ++i) {
    strip.share[i] = 1.0F / (strip.ones[i] + strip.rest[i]);
    strip.tail[i] = strip.rest[i] * strip.share[i];
  }
}

// The mean loss of the rows' classes, weighted by their shares.
void find_mean_losses(const RowsOfStrip& rows, const Strip& strip, float* __restrict loss) {
  for (std::size_t i = 0; i < rows.n; ++i) {
    const float beyond_one = (strip.ones[i] - 1.0F) + strip.rest[i];
    loss[i] = 2.0F * math::log_one_more(beyond_one);
  }
  for (std::size_t k = 0; k < rows.classes; ++k) {
    const float* const __restrict z = rows.scores + k * rows.stride;
    const float* const __restrict share = rows.shares + k * rows.stride;
    for (std::size_t i = 0; i < rows.n; ++i) loss[i] -= share[i] * below(z[i], strip.top[i]);
  }
}

void find_losses(const RowsOfStrip& rows, const Strip& strip, float* __restrict loss) {
  if (rows.shares != nullptr) return find_mean_losses(rows, strip, loss);
  const float* const __restrict z = rows.scores + rows.label * rows.stride;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const float beyond_one = (strip.ones[i] - 1.0F) + strip.rest[i];
    loss[i] = 2.0F * math::log_one_more(beyond_one) - below(z[i], strip.top[i]);
  }
}

// Turns a class's exponentials into weights: p, or 1 - p where it is the rows' label.
template <bool is_label>
void finish_class(const RowsOfStrip& rows, const Strip& strip, float factor,
                  float* __restrict weight, float* __restrict curvature) {
  for (std::size_t i = 0; i < rows.n; ++i) {
    // Above 1/2 it is the only one that is 1.
    const float p = weight[i] * strip.share[i];
    const float tail = p > 0.5F ? strip.tail[i] : 1.0F - p;
    weight[i] = is_label ? tail : p;
    if (curvature != nullptr) curvature[i] = factor * p * tail;
  }
}

// 1 - p of a class whose exponentials are still in place of its weights.
void find_tails(const RowsOfStrip& rows, const Strip& strip, const float* __restrict weight,
                float* __restrict tail) {
  for (std::size_t i = 0; i < rows.n; ++i) {
    const float p = weight[i] * strip.share[i];
    tail[i] = p > 0.5F ? strip.tail[i] : 1.0F - p;
  }
}

void finish(const RowsOfStrip& rows, const Strip& strip) {
  const float factor =
      0.5F * static_cast<float>(rows.classes) / static_cast<float>(rows.classes - 1);
  for (std::size_t k = 0; k < rows.classes; ++k) {
    float* const weight = rows.weights + k * rows.stride;
    float* const curvature =
        rows.curvatures == nullptr ? nullptr : rows.curvatures + k * rows.stride;
    if (rows.tails != nullptr) find_tails(rows, strip, weight, rows.tails + k * rows.stride);
    if (k == rows.label) {
      finish_class<true>(rows, strip, factor, weight, curvature);
    } else {
      finish_class<false>(rows, strip, factor, weight, curvature);
    }
  }
}

}  // namespace

Softmax::Softmax(const Loss& loss) {
  if (dynamic_cast<const losses::Bound<losses::GLog>*>(&loss) == nullptr) {
    throw std::invalid_argument("joint loss 'softmax' belongs to the loss 'glog' alone; got '" +
                                std::string(loss.name()) + "'");
  }
}

void Softmax::evaluate(const JointRows& all) const {
  Strip strip;
  for (std::size_t begin = 0; begin < all.n; begin += kStrip) {
    const RowsOfStrip rows{all.classes,
                           std::min(kStrip, all.n - begin),
                           all.true_class,
                           all.n,
                           all.scores + begin,
                           all.weights + begin,
                           all.curvatures == nullptr ? nullptr : all.curvatures + begin,
                           all.shares == nullptr ? nullptr : all.shares + begin,
                           all.tails == nullptr ? nullptr : all.tails + begin};
    float* const losses = all.losses == nullptr ? nullptr : all.losses + begin;
    vectorized([rows, losses, &strip] {
      find_top(rows, strip);
      sum_exponentials(rows, strip);
      if (losses != nullptr) find_losses(rows, strip, losses);
      finish(rows, strip);
    });
  }
}

void Softmax::log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                                double* out) const noexcept {
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) {
      const double* const z = scores + i * classes;
      double* const log_p = out + i * classes;
      const std::size_t top = static_cast<std::size_t>(std::max_element(z, z + classes) - z);
      double others = 0.0;
      for (std::size_t k = 0; k < classes; ++k) {
        log_p[k] = 0.5 * below(z[k], z[top]);
        if (k != top) others += math::exp(log_p[k]);
      }
      const double log_sum = math::log_one_more(others);
      for (std::size_t k = 0; k < classes; ++k) log_p[k] -= log_sum;
    }
  });
}

void Softmax::losses(const double* scores, std::size_t classes, std::size_t n,
                     std::size_t true_class, double* out) const noexcept {
  vectorized([=] {
    for (std::size_t i = 0; i < n; ++i) {
      const double* const z = scores + i * classes;
      const std::size_t top = static_cast<std::size_t>(std::max_element(z, z + classes) - z);
      double others = 0.0;
      for (std::size_t k = 0; k < classes; ++k) {
        if (k != top) others += math::exp(0.5 * below(z[k], z[top]));
      }
      out[i] = 2.0 * math::log_one_more(others) - below(z[true_class], z[top]);
    }
  });
}

}  // namespace properboost::joint
