// The canonical joint form solves two equations for each row: one for its shift, one for its loss.
//
// A row has a score z_k in each of K classes; z_1 is the largest, and y is the row's class.  The
// margin loss phi has the weight w = -phi' and the inverse link c = 1 - w, and c(-u) = 1 - c(u).
//
// (1) The shift tau makes the probabilities p_k = c(z_k - tau) add up to 1.  The other classes have
// then together the mass that the top class lacks:
//
//     S(tau) = T(tau),  with S = sum over k > 1 of w(tau - z_k) and T = w(z_1 - tau).
//
// S falls in tau and T rises, so h = log S - log T has a single zero.  The zero is at least halfway
// between the two largest scores, where one class alone has T.  It is at most z_1 - link(1 / K),
// where the top class has 1 / K, and no class more.  Blondel, Martins and Niculae (2020) find the
// shift of any separable regulariser by bisection; here Newton's and Halley's methods are faster.
//
// (2) The loss is L = phi(z_y - tau) + sum over k != y of phi(tau - z_k).  Its slope in tau is
// T - S, so L is the least over all shifts.  An error of tau therefore changes it by its square.
//
// The equations are solved on three paths, whose errors tests/losses/test_joint_losses.py bounds:
//
// | path | method | weights, or log p | losses | curvatures |
// |---|---|---|---|---|
// | `evaluate`, built-in losses | Halley's, float | 2e-6, relatively 3e-5 | 6e-6 | 1e-2 |
// | `evaluate`, custom losses | Newton's, float | 1e-7, relatively 2e-5 | 5e-6 | 1e-2 |
// | `log_probabilities`, `losses` | Newton's, double | 1e-12, relatively 1e-12 | 1e-11 | |
//
// Errors of losses and curvatures are relative; for custom losses they are compared with built-in
// twins.  Weights keep their digits down to 1e-25.  In double a custom loss's log p errs by a
// relative 5e-3 where its table has underflowed, as a parabola goes on there.
//
// The last step of a float path is short, and follows local models of S and T: by 2^-7 of S / T at
// most along parabolas (Halley), by 2^-10 along tangents (Newton).
#include "properboost/joint/canonical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/joint/differences.hpp"
#include "properboost/losses/bound.hpp"
#include "properboost/losses/registry.hpp"

namespace properboost::joint {

// [class][row] arrays of the rows of a strip.
struct ClassesOfStrip {
  std::size_t classes, n, true_class;
  const float* scores;
  std::size_t stride;
  float* weights;
  std::size_t weight_stride;
  float* curvatures;
  std::size_t curvature_stride;
  float tolerance;
  // With the stride of the scores, or null.
  const float* shares = nullptr;
  float* tails = nullptr;
};

// Some classes of a strip are evaluated at shift - (z - top).  Weights, curvatures and how fast
// these grow are added up over the rows whose top class is another, losses, unless that is null,
// over those of another class.
struct PartOfStrip {
  std::size_t first, last;
  const float *top, *shift;
  const float* which;  // the top class of each row
  float *weight_sum, *curvature_sum, *growth_sum, *loss_sum;
};

// The step that is left of each row's way.
struct StepsOfStrip {
  const float *top, *shift, *step;
  bool with_curvatures;
};

namespace {

// The block of any loss.
void call_blocks(const Loss& loss, const ClassesOfStrip& rows, const PartOfStrip& part) {
  alignas(64) float u[kStrip];
  alignas(64) float losses[kStrip];
  const std::size_t n = rows.n;
  for (std::size_t k = part.first; k < part.last; ++k) {
    const float* const z = rows.scores + k * rows.stride;
    float* const w = rows.weights + k * rows.weight_stride;
    float* const c = rows.curvatures + k * rows.curvature_stride;
    vectorized([=, &u] {
      for (std::size_t i = 0; i < n; ++i) u[i] = part.shift[i] - below(z[i], part.top[i]);
    });
    if (part.loss_sum != nullptr && k != rows.true_class) {
      loss.evaluate(u, w, losses, c, n);
      vectorized([=, &losses] {
        for (std::size_t i = 0; i < n; ++i) part.loss_sum[i] += losses[i];
      });
    } else {
      loss.weights(u, w, n);
      loss.curvatures(u, c, n);
    }
    vectorized([=, number = static_cast<float>(k)] {
      const float* const __restrict which = part.which;
      float* const __restrict weight_sum = part.weight_sum;
      float* const __restrict curvature_sum = part.curvature_sum;
      for (std::size_t i = 0; i < n; ++i) {
        const float weight = w[i];
        const float curvature = c[i];
        const bool counts = which[i] != number;
        weight_sum[i] += counts ? weight : 0.0F;
        curvature_sum[i] += counts ? curvature : 0.0F;
      }
    });
  }
}

// A class of a built-in loss, in one loop.  GCC vectorises it only if the pointers cannot alias,
// which it assumes of `__restrict` parameters.
template <bool with_losses, class Policy>
void run_class(Policy policy, std::size_t n, const float* __restrict z, const float* __restrict top,
               const float* __restrict shift, const float* __restrict which, float number,
               float* __restrict weights, float* __restrict curvatures,
               float* __restrict weight_sum, float* __restrict curvature_sum,
               float* __restrict growth_sum, float* __restrict joined_areas) {
  for (std::size_t i = 0; i < n; ++i) {
    const float u = shift[i] - below(z[i], top[i]);
    const bool counts = which[i] != number;
    float weight;
    float curvature;
    float joined = with_losses ? joined_areas[i] : 0.0F;
    policy.find_weight_and_curvature(u, weight, curvature, joined);
    const float counted = counts ? curvature : 0.0F;
    if constexpr (with_losses) joined_areas[i] = joined;
    weights[i] = weight;
    curvatures[i] = curvature;
    weight_sum[i] += counts ? weight : 0.0F;
    curvature_sum[i] += counted;
    growth_sum[i] += counted * policy.bend(u, weight);
  }
}

// Completes the losses of the other classes: only the top one's margin may be below 0.
template <class Policy>
void finish_losses(Policy policy, std::size_t n, const float* __restrict shift,
                   const float* __restrict which, float true_class, bool first,
                   float* __restrict loss_sum) {
  for (std::size_t i = 0; i < n; ++i) {
    const float below_zero = math::at_least(-shift[i], 0.0F);
    const float linear = which[i] != true_class ? below_zero : 0.0F;
    loss_sum[i] = policy.sum_of_areas(loss_sum[i]) + (first ? linear : 0.0F);
  }
}

// The block of a built-in loss.
template <class Policy>
void run_block(const Loss& /*loss*/, const ClassesOfStrip& rows, const PartOfStrip& part) {
  vectorized([rows, part] {
    const auto run = [&](auto with_losses, std::size_t k) {
      run_class<decltype(with_losses)::value>(
          Policy{}, rows.n, rows.scores + k * rows.stride, part.top, part.shift, part.which,
          static_cast<float>(k), rows.weights + k * rows.weight_stride,
          rows.curvatures + k * rows.curvature_stride, part.weight_sum, part.curvature_sum,
          part.growth_sum, part.loss_sum);
    };
    for (std::size_t k = part.first; k < part.last; ++k) {
      if (part.loss_sum != nullptr && k != rows.true_class) {
        run(std::true_type{}, k);
      } else {
        run(std::false_type{}, k);
      }
    }
    if (part.loss_sum == nullptr) return;
    finish_losses(Policy{}, rows.n, part.shift, part.which, static_cast<float>(rows.true_class),
                  part.first == 0, part.loss_sum);
  });
}

// Takes a class the rest of the way to the zero, along tangents.
void follow_tangents(std::size_t n, const float* __restrict step, float* __restrict weights,
                     float* __restrict curvatures) {
  for (std::size_t i = 0; i < n; ++i) {
    const float change = math::zero_outside(1e-28F, 1.0F, curvatures[i]) * step[i];
    weights[i] = math::at_least(weights[i] - change, 0.0F);
  }
}

// The same along the parabola, for a built-in loss; curvatures along their tangent.
template <bool with_curvatures, class Policy>
void follow_parabola(Policy policy, std::size_t n, const float* __restrict z,
                     const float* __restrict top, const float* __restrict shift,
                     const float* __restrict step, float* __restrict weights,
                     float* __restrict curvatures) {
  for (std::size_t i = 0; i < n; ++i) {
    const float u = shift[i] - below(z[i], top[i]);
    const float weight = weights[i];
    const float curvature = math::zero_outside(1e-28F, 1.0F, curvatures[i]);
    // Steps are short, but where curvatures underflow.
    const float growth =
        math::at_most(math::at_least(step[i] * policy.bend(u, weight), -1.0F), 1.0F);
    const float change = curvature * (step[i] * (1.0F + 0.5F * growth));
    weights[i] = math::at_least(weight - change, 0.0F);
    if constexpr (with_curvatures) curvatures[i] += curvature * growth;
  }
}

template <class Policy>
void follow_parabolas(const ClassesOfStrip& rows, const StepsOfStrip& strip) {
  vectorized([rows, strip] {
    for (std::size_t k = 0; k < rows.classes; ++k) {
      const auto follow = [&](auto with_curvatures) {
        follow_parabola<decltype(with_curvatures)::value>(
            Policy{}, rows.n, rows.scores + k * rows.stride, strip.top, strip.shift, strip.step,
            rows.weights + k * rows.weight_stride, rows.curvatures + k * rows.curvature_stride);
      };
      if (strip.with_curvatures) {
        follow(std::true_type{});
      } else {
        follow(std::false_type{});
      }
    }
  });
}
void follow_tangents_of_all(const ClassesOfStrip& rows, const StepsOfStrip& strip) {
  vectorized([rows, strip] {
    for (std::size_t k = 0; k < rows.classes; ++k) {
      follow_tangents(rows.n, strip.step, rows.weights + k * rows.weight_stride,
                      rows.curvatures + k * rows.curvature_stride);
    }
  });
}

template <class Kernels, class... Policies>
Kernels find_kernels(Registry<std::tuple<Policies...>> /*builtins*/, const Loss& loss) {
  Kernels kernels{call_blocks, follow_tangents_of_all, false};
  const auto try_one = [&](auto* policy) {
    using Policy = std::remove_pointer_t<decltype(policy)>;
    if constexpr (Policy::canonical) {
      if (dynamic_cast<const losses::Bound<Policy>*>(&loss) != nullptr) {
        kernels = {run_block<Policy>, follow_parabolas<Policy>, true};
      }
    }
  };
  (try_one(static_cast<Policies*>(nullptr)), ...);
  return kernels;
}

// log(1 - inverse link) at t >= 0.  Where that has underflowed, the parabola through its last half
// goes on: tables end there.  A table may make the classes certain at any margin; its tail is then
// as good as the least.
double extend_log_tail(const Loss& loss, double t) {
  constexpr double kLeast = 1e-280;
  const double tail = loss.weight(t);
  if (tail >= kLeast) return math::log(tail);
  double low = 0.0;
  double high = t;
  for (double middle = 0.5 * t; middle > low && middle < high; middle = 0.5 * (low + high)) {
    (loss.weight(middle) >= kLeast ? low : high) = middle;
  }
  const auto log_weight = [&](double u) {
    return math::log(math::at_least(loss.weight(u), kLeast));
  };
  const double y0 = log_weight(low);
  if (low == 0.0) return y0;
  const double y1 = log_weight(0.75 * low);
  const double y2 = log_weight(0.5 * low);
  const double bend = math::at_most((y0 - y1) - (y1 - y2), 0.0);
  const double x = math::at_most((t - low) / (0.25 * low), 1e140);
  return y0 + x * ((y0 - y1) + 0.5 * (x + 1.0) * bend);
}

template <class P>
using LogTailOf = decltype(std::declval<const P&>().log_tail(1.0));

// A built-in loss may be more precise: `double log_tail(double t) const` in its policy.
template <class LogTail, class... Policies>
LogTail find_log_tail(Registry<std::tuple<Policies...>> /*builtins*/, const Loss& loss) {
  LogTail log_tail = extend_log_tail;
  const auto try_one = [&](auto* policy) {
    using Policy = std::remove_pointer_t<decltype(policy)>;
    if constexpr (losses::kHas<LogTailOf, Policy>) {
      if (dynamic_cast<const losses::Bound<Policy>*>(&loss) == nullptr) return;
      log_tail = [](const Loss&, double t) { return Policy{}.log_tail(t); };
    }
  };
  (try_one(static_cast<Policies*>(nullptr)), ...);
  return log_tail;
}

// Between the ends of a bracket; by ratio where they are far from 0.
template <class T>
T between(T low, T high) {
  const T ratio = -(std::sqrt(math::at_least(-low, T(0))) * std::sqrt(math::at_least(-high, T(1))));
  return low < T(-4) ? ratio : T(0.5) * (low + high);
}

// Newton's method finds the zero of log S - log T, with T the top class's 1 - p and S the mass of
// the others.  It ends where the next step would change both by less than this share: that step is
// then taken along the tangents, which errs by the share's square.  Curvatures have no tangents,
// and err by the share.
constexpr float kTolerance = 0x1p-10F;
constexpr float kCurvatureTolerance = 0x1p-14F;
// Where the growth of curvatures is known, Halley's method finds it.  The last step is then taken
// along parabolas, which err by the share's cube; curvatures have tangents.  Not across 0, where a
// density may have a kink.
constexpr float kBentTolerance = 0x1p-7F;
constexpr float kTiny = 1e-34F;
constexpr int kMostPasses = 80;

}  // namespace

// The state of each row of a strip.  Shifts are relative to the largest score.
struct Canonical::Strip {
  alignas(64) float top[kStrip];
  alignas(64) float which[kStrip];  // the first class of that score
  alignas(64) float low[kStrip];
  alignas(64) float high[kStrip];
  alignas(64) float shift[kStrip];
  alignas(64) float step[kStrip];   // the rest of the way to the zero
  alignas(64) float moves[kStrip];  // 1 while it has not converged, else 0
  // At the shift:
  alignas(64) float tail[kStrip];       // T
  alignas(64) float others[kStrip];     // S
  alignas(64) float curvature[kStrip];  // of the top class
  alignas(64) float total[kStrip];      // of all curvatures
  // How fast the curvatures of the top class and the others' grow as their margins do.
  alignas(64) float growth[kStrip];
  alignas(64) float others_growth[kStrip];
  alignas(64) float loss[kStrip];

  using Field = float (Strip::*)[kStrip];
  static constexpr Field kInputs[] = {&Strip::top, &Strip::which, &Strip::low, &Strip::high,
                                      &Strip::shift};
  static constexpr Field kOutputs[] = {&Strip::shift,  &Strip::step,          &Strip::tail,
                                       &Strip::others, &Strip::curvature,     &Strip::total,
                                       &Strip::growth, &Strip::others_growth, &Strip::loss};

  std::size_t count_moving(std::size_t n) const {
    float count = 0.0F;
    for (std::size_t i = 0; i < n; ++i) count += moves[i];
    return static_cast<std::size_t>(count);
  }

  // The step to a row's solution.  It is no part of the strip, whose rows fit the first cache.
  struct Step {
    alignas(64) float ratio[kStrip];  // h = log(S / T)
    alignas(64) float way[kStrip];    // to its zero
    alignas(64) float tolerance[kStrip];
  };
  void find_newton(std::size_t n, float tolerance, Step& to) const;
  void bend(std::size_t n, Step& to) const;
  void take(std::size_t n, const Step& to);
};

// Each of the loops below does so little that GCC makes vectors of it: loads come first, and no
// condition joins three.

// Newton's step.  The derivative of h has kTiny and all: without it steps would creep where S and T
// have nearly underflowed.  The last step goes along the tangents of S and T themselves.
void Canonical::Strip::find_newton(std::size_t n, float tolerance, Step& to) const {
  vectorized([this, &to, n, tolerance] {
    for (std::size_t i = 0; i < n; ++i) {
      // Where both have underflowed, any shift will do.
      const float quotient = (others[i] + kTiny) / (tail[i] + kTiny);
      to.ratio[i] = math::log(quotient);
      to.tolerance[i] = tolerance;
    }
    for (std::size_t i = 0; i < n; ++i) {
      to.way[i] = to.ratio[i] / (total[i] / (others[i] + kTiny) + curvature[i] / (tail[i] + kTiny));
    }
  });
}

// Makes Newton's step Halley's.
void Canonical::Strip::bend(std::size_t n, Step& to) const {
  vectorized([this, &to, n] {
    for (std::size_t i = 0; i < n; ++i) {
      const float from = shift[i];
      const float T = tail[i];
      const float per_S = 1.0F / (others[i] + kTiny);
      const float per_T = 1.0F / (T + kTiny);
      const float s = total[i] * per_S;
      const float t = curvature[i] * per_T;
      const float newton = to.way[i];
      // Whether the step stays on one side of 0, and nothing nearly underflows.
      const float smooth = math::at_most(from * (from + newton), T - 1e-25F);
      const float bend = (t * t - s * s) + (growth[i] * per_T - others_growth[i] * per_S);
      const float rest = 1.0F - 0.5F * (newton * (bend / (s + t)));
      to.way[i] = newton / math::at_most(math::at_least(rest, 0.5F), 2.0F);
      const float strict = to.tolerance[i];
      to.tolerance[i] = smooth > 0.0F ? kBentTolerance : strict;
    }
  });
}

// Moves the rows that have not converged, to the middle of their bracket where the step leaves it.
// For the others the step is the rest of the way.
void Canonical::Strip::take(std::size_t n, const Step& to) {
  vectorized([this, &to, n] {
    for (std::size_t i = 0; i < n; ++i) {
      const float from = shift[i];
      const float old_low = low[i];
      const float old_high = high[i];
      const float S = others[i];
      const float new_low = to.ratio[i] > 0.0F ? from : old_low;
      const float new_high = to.ratio[i] > 0.0F ? old_high : from;
      const float newton = from + to.way[i];
      const bool inside = (newton > new_low) & (newton < new_high);
      const float middle = between(new_low, new_high);
      const float next = inside ? newton : middle;
      const float room = math::at_most(next - new_low, new_high - next);
      const float off = room > 0.0F ? std::fabs(to.ratio[i]) : 0.0F;
      const bool goes_on = off > to.tolerance[i];
      const float along = to.way[i] * (S / (S + kTiny));
      total[i] += curvature[i];
      step[i] = (inside & (std::fabs(along) > 1e-9F)) ? along : 0.0F;
      moves[i] = goes_on ? 1.0F : 0.0F;
      shift[i] = goes_on ? next : from;
      low[i] = goes_on ? new_low : old_low;
      high[i] = goes_on ? new_high : old_high;
    }
  });
}

Canonical::Canonical(const Loss& loss)
    : loss_(loss),
      kernels_(find_kernels<Kernels>(losses::Builtins{}, loss)),
      log_tail_(find_log_tail<LogTail>(losses::Builtins{}, loss)) {
  if (!loss.canonical()) {
    throw std::invalid_argument(
        "joint loss 'canonical' needs a canonical loss, whose weight is 1 - inverse link; got '" +
        std::string(loss.name()) + "'");
  }
  double share = 1.0;
  for (float& highest : highest_) {
    highest = static_cast<float>(-loss.link(share));
    if (!(highest >= 0.0F)) highest = 0.0F;
    share *= 0.5;
  }
}

void Canonical::start(const JointRows& rows, std::size_t begin, Strip& strip) const {
  const std::size_t size = std::min(kStrip, rows.n - begin);
  std::size_t bits = 0;
  while ((rows.classes - 1) >> bits != 0) ++bits;
  const float highest = highest_[bits];
  vectorized([=, &strip] {
    const float* const scores = rows.scores + begin;
    for (std::size_t i = 0; i < size; ++i) {
      strip.top[i] = scores[i];
      strip.which[i] = 0.0F;
      strip.low[i] = -std::numeric_limits<float>::max();  // the second largest
    }
    for (std::size_t k = 1; k < rows.classes; ++k) {
      const float* const __restrict z = scores + k * rows.n;
      const auto number = static_cast<float>(k);
      for (std::size_t i = 0; i < size; ++i) {
        const float top = strip.top[i];
        const float which = strip.which[i];
        const float second = strip.low[i];
        const float score = z[i];
        // Numbers grow.  Where an old value is chosen, GCC may store the others under a mask, which
        // takes many times as long: hence maxima.
        const bool above = score > top;
        const float lower = above ? top : score;
        const float higher = above ? score : top;
        const float least = above ? number : 0.0F;
        strip.low[i] = lower > second ? lower : second;
        strip.which[i] = least > which ? least : which;
        strip.top[i] = higher;
      }
    }
    for (std::size_t i = 0; i < size; ++i) strip.low[i] = 0.5F * below(strip.low[i], strip.top[i]);
    const bool known = rows.shift != nullptr && rows.classes > 2;  // of two, `low` is the solution
    const float* const shift = known ? rows.shift + begin : strip.low;
    for (std::size_t i = 0; i < size; ++i) {
      const float low = strip.low[i];
      const float last = known ? shift[i] - strip.top[i] : low;
      strip.shift[i] = last > low ? math::at_most(last, highest) : low;  // NaN: low
      // A little wider, so that rounding does not keep Newton's method from solutions at an end.
      strip.low[i] = 1.001F * low - 0.01F;
      strip.high[i] = 1.001F * highest + 0.01F;
    }
  });
}

// Makes one step of Newton's or Halley's method, from S and T at the shift.
void Canonical::pass(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const {
  sum_top(rows.n, strip);
  sum_others(rows, with_losses, strip);
  Strip::Step step;
  strip.find_newton(rows.n, rows.tolerance, step);
  if (kernels_.bends) strip.bend(rows.n, step);
  strip.take(rows.n, step);
}

// T, the top class's 1 - p, where nothing cancels: as one more class, of margins -shift.
void Canonical::sum_top(std::size_t n, Strip& strip) const {
  alignas(64) const float zero[kStrip] = {};
  alignas(64) float mirrored[kStrip];
  alignas(64) float ones[kStrip];  // another class than 0
  alignas(64) float weight[kStrip];
  alignas(64) float curvature[kStrip];
  for (float* sum : {strip.tail, strip.curvature, strip.growth}) std::fill_n(sum, n, 0.0F);
  vectorized([&strip, &mirrored, &ones, n] {
    for (std::size_t i = 0; i < n; ++i) {
      mirrored[i] = -strip.shift[i];
      ones[i] = 1.0F;
    }
  });
  const ClassesOfStrip top_class{1, n, 1, zero, n, weight, n, curvature, n, 0.0F};
  kernels_.evaluate(
      loss_, top_class,
      {0, 1, zero, mirrored, ones, strip.tail, strip.curvature, strip.growth, nullptr});
}

// Computes S, the mass of the other classes, and the other sums over classes.
void Canonical::sum_others(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const {
  alignas(64) float weight[kStrip];  // a part's sums
  alignas(64) float curvature[kStrip];
  alignas(64) float growth[kStrip];
  alignas(64) float loss[kStrip];
  const std::size_t n = rows.n;
  for (float* sum : {strip.others, strip.total, strip.others_growth, strip.loss}) {
    std::fill_n(sum, n, 0.0F);
  }
  for (std::size_t first = 0; first < rows.classes; first += kPart) {
    const std::size_t last = std::min(first + kPart, rows.classes);
    for (float* sum : {weight, curvature, growth, loss}) std::fill_n(sum, n, 0.0F);
    kernels_.evaluate(loss_, rows,
                      {first, last, strip.top, strip.shift, strip.which, weight, curvature, growth,
                       with_losses ? loss : nullptr});
    vectorized([&strip, &weight, &curvature, &growth, &loss, n] {
      for (std::size_t i = 0; i < n; ++i) {
        strip.others[i] += weight[i];
        strip.total[i] += curvature[i];
        strip.others_growth[i] += growth[i];
        strip.loss[i] += loss[i];
      }
    });
  }
}

// Passes over the rows that still move alone, side by side.
void Canonical::finish_moving(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const {
  thread_local std::vector<float> scratch;
  std::array<std::size_t, kStrip> from;
  std::size_t n = 0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    if (strip.moves[i] > 0.0F) from[n++] = i;
  }
  if (n == 0) return;
  // Copies of the last one fill a vector, which is faster than a few rows one by one.
  for (; n % 16 != 0; ++n) from[n] = from[n - 1];
  scratch.resize(std::max(scratch.size(), 3 * rows.classes * n));
  float* const scores = scratch.data();
  const ClassesOfStrip moving{rows.classes,
                              n,
                              rows.true_class,
                              scores,
                              n,
                              scores + rows.classes * n,
                              n,
                              scores + 2 * rows.classes * n,
                              n,
                              rows.tolerance};
  Strip moving_strip;
  for (auto field : Strip::kInputs) {
    for (std::size_t i = 0; i < n; ++i) (moving_strip.*field)[i] = (strip.*field)[from[i]];
  }
  for (std::size_t k = 0; k < rows.classes; ++k) {
    for (std::size_t i = 0; i < n; ++i) scores[k * n + i] = rows.scores[k * rows.stride + from[i]];
  }
  int passes = 0;
  do {
    pass(moving, with_losses, moving_strip);
  } while (moving_strip.count_moving(n) > 0 && ++passes < kMostPasses);
  for (auto field : Strip::kOutputs) {
    for (std::size_t i = 0; i < n; ++i) (strip.*field)[from[i]] = (moving_strip.*field)[i];
  }
  for (std::size_t k = 0; k < rows.classes; ++k) {
    float* const weights = rows.weights + k * rows.weight_stride;
    float* const curvatures = rows.curvatures + k * rows.curvature_stride;
    for (std::size_t i = 0; i < n; ++i) {
      weights[from[i]] = moving.weights[k * n + i];
      curvatures[from[i]] = moving.curvatures[k * n + i];
    }
  }
}

void Canonical::evaluate(const JointRows& all) const {
  thread_local std::vector<float> scratch;
  Strip strip;
  bool settles = false;  // whether most rows of the last strip were done at once
  if (all.curvatures == nullptr) {
    scratch.resize(std::max(scratch.size(), all.classes * std::min(kStrip, all.n)));
  }
  for (std::size_t begin = 0; begin < all.n; begin += kStrip) {
    const std::size_t n = std::min(kStrip, all.n - begin);
    const bool curvatures_in_scratch = all.curvatures == nullptr;
    const ClassesOfStrip rows{all.classes,
                              n,
                              all.true_class,
                              all.scores + begin,
                              all.n,
                              all.weights + begin,
                              all.n,
                              curvatures_in_scratch ? scratch.data() : all.curvatures + begin,
                              curvatures_in_scratch ? n : all.n,
                              curvatures_in_scratch ? kTolerance : kCurvatureTolerance,
                              all.shares == nullptr ? nullptr : all.shares + begin,
                              all.tails == nullptr ? nullptr : all.tails + begin};
    start(all, begin, strip);
    const bool with_losses = all.losses != nullptr;
    const bool early = with_losses && settles;
    pass(rows, early, strip);
    const std::size_t moving = strip.count_moving(n);
    // Few are picked out at once, unless the others' losses are still to be found.
    if (with_losses != early || 3 * moving > n) pass(rows, with_losses, strip);
    settles = 2 * moving < n;
    finish_moving(rows, with_losses, strip);
    finish(rows, !curvatures_in_scratch, strip);
    if (with_losses) find_losses(rows, strip, all.losses + begin);
    if (all.shift != nullptr) {
      float* const shift = all.shift + begin;
      vectorized([&strip, shift, n] {
        for (std::size_t i = 0; i < n; ++i) {
          shift[i] = strip.top[i] + (strip.shift[i] + strip.step[i]);
        }
      });
    }
  }
}

// Makes the rest of the way.
void Canonical::finish(const ClassesOfStrip& rows, bool wants_curvatures, Strip& strip) const {
  const std::size_t n = rows.n;
  kernels_.follow(rows, {strip.top, strip.shift, strip.step, wants_curvatures});
  const float factor = static_cast<float>(rows.classes) / static_cast<float>(rows.classes - 1);
  vectorized([&strip, rows, wants_curvatures, factor, n] {
    alignas(64) float inverse_total[kStrip];
    for (std::size_t i = 0; i < n; ++i) {
      const float step = strip.step[i];
      const float tail = strip.tail[i];
      const float curvature = math::zero_outside(1e-28F, 1.0F, strip.curvature[i]);
      const float growth = strip.growth[i];
      // Each class's loss is finite, but not the sum of those of many classes.
      const float left = 0.5F * (step * (tail - strip.others[i]));
      strip.loss[i] = math::bounded(strip.loss[i]) + left;
      strip.tail[i] = tail + step * (curvature - 0.5F * (growth * step));
      const float total = strip.total[i] + step * (strip.others_growth[i] - growth);
      strip.total[i] = total;
      inverse_total[i] = 1.0F / math::at_least(total, 1e-37F);
    }
    const auto find_tails = [&](const float* weights, float* tails) {
      for (std::size_t i = 0; i < n; ++i) {
        const float weight = weights[i];  // above 1/2 it is the top class
        tails[i] = weight > 0.5F ? strip.tail[i] : 1.0F - weight;
      }
    };
    if (rows.tails == nullptr) {
      float* const true_weights = rows.weights + rows.true_class * rows.weight_stride;
      find_tails(true_weights, true_weights);
    }
    for (std::size_t k = 0; rows.tails != nullptr && k < rows.classes; ++k) {
      find_tails(rows.weights + k * rows.weight_stride, rows.tails + k * rows.stride);
    }
    for (std::size_t k = 0; wants_curvatures && k < rows.classes; ++k) {
      float* const __restrict curvatures = rows.curvatures + k * rows.curvature_stride;
      for (std::size_t i = 0; i < n; ++i) {
        const float curvature = curvatures[i];
        const float rest = (strip.total[i] - curvature) * inverse_total[i];
        curvatures[i] = factor * curvature * math::at_least(rest, 0.0F);
      }
    }
  });
}

// Adds the loss of the rows' class to those of the others.  Where classes have shares, all are
// among the others: a class's loss is that as another, less its margin.
void Canonical::find_losses(const ClassesOfStrip& rows, const Strip& strip, float* losses) const {
  if (rows.shares != nullptr) {
    return vectorized([&strip, rows, losses] {
      std::copy_n(strip.loss, rows.n, losses);
      for (std::size_t k = 0; k < rows.classes; ++k) {
        const float* const z = rows.scores + k * rows.stride;
        const float* const share = rows.shares + k * rows.stride;
        for (std::size_t i = 0; i < rows.n; ++i) {
          losses[i] -= share[i] * (below(z[i], strip.top[i]) - strip.shift[i]);
        }
      }
      for (std::size_t i = 0; i < rows.n; ++i) {
        losses[i] = math::bounded(math::at_least(losses[i], 0.0F));
      }
    });
  }
  alignas(64) float u[kStrip];
  const std::size_t n = rows.n;
  const float* const z = rows.scores + rows.true_class * rows.stride;
  vectorized([&strip, &u, z, n] {
    for (std::size_t i = 0; i < n; ++i) u[i] = below(z[i], strip.top[i]) - strip.shift[i];
  });
  loss_.losses(u, losses, n);
  vectorized([&strip, losses, n] {  // the rest of the way may round to below 0
    for (std::size_t i = 0; i < n; ++i) {
      losses[i] = math::bounded(math::at_least(losses[i] + strip.loss[i], 0.0F));
    }
  });
}

// A row in double: its scores below the largest, classes a chunk at a time.
class Canonical::Row {
 public:
  Row(const Canonical& form, const double* scores, std::size_t classes)
      : form_(form), scores_(scores), classes_(classes) {
    for (std::size_t k = 1; k < classes; ++k) {
      if (scores[k] > scores[top_]) top_ = k;
    }
    double second = -kFarthest<double>;
    for (std::size_t k = 0; k < classes; ++k) {
      if (k != top_) second = math::at_least(second, below(scores[k], scores[top_]));
    }
    const double lowest = 0.5 * second;
    const double highest = -form.loss_.link(1.0 / static_cast<double>(classes));
    shift_ = classes == 2 ? lowest : solve(lowest, highest);
  }

  void log_probabilities(double* out) const {
    for (std::size_t k = 0; k < classes_; ++k) {
      const double u = shift_ - difference(k);
      if (u < 0.0) {  // of the top class; log1p takes no negative number
        const double tail = form_.loss_.weight(-u);
        out[k] = -math::log1p(tail / (1.0 - tail));
      } else {
        out[k] = form_.log_tail_(form_.loss_, u);
      }
    }
  }

  double loss(std::size_t true_class) const {
    double u[kChunk];
    double losses[kChunk];
    double sum = 0.0;
    for (std::size_t first = 0; first < classes_; first += kChunk) {
      const std::size_t n = std::min(kChunk, classes_ - first);
      for (std::size_t k = 0; k < n; ++k) {
        const double d = difference(first + k);
        u[k] = first + k == true_class ? d - shift_ : shift_ - d;
      }
      form_.loss_.losses_in_double(u, losses, n);
      for (std::size_t k = 0; k < n; ++k) sum += losses[k];
    }
    return sum;
  }

 private:
  static constexpr std::size_t kChunk = 64;
  static constexpr double kUnderflow = 1e-270;

  double difference(std::size_t k) const { return below(scores_[k], scores_[top_]); }

  double solve(double low, double high) const {
    double shift = low;
    low = 1.001 * low - 0.01;
    high = 1.001 * high + 0.01;
    for (int pass = 0; pass < 200; ++pass) {
      const double T = form_.loss_.weight(-shift);
      double S = 0.0;
      double slope = 0.0;
      add_others(shift, S, slope);
      double h;
      double step;
      double tolerance = 1e-9;  // the last step squares the error
      if (S >= kUnderflow && T >= kUnderflow) {
        h = math::log(S / T);
        step = h * S / (slope + form_.loss_.curvature(shift) * (S / T));
      } else {
        const double log_T = log_weight(-shift);
        h = log_others(shift) - log_T;
        step = h / far_slope(shift);
        tolerance = 1e-13 + 1e-15 * std::fabs(log_T);
      }
      const double next = shift + step;
      if (std::fabs(h) <= tolerance) return next > low && next < high ? next : shift;
      (h > 0.0 ? low : high) = shift;
      const double middle = between(low, high);
      const double better = next > low && next < high ? next : middle;
      if (!(better > low && better < high)) return shift;
      shift = better;
    }
    return shift;
  }

  // The sums of the probabilities and the densities of all classes but the top one.
  void add_others(double shift, double& weight, double& curvature) const {
    double u[kChunk];
    double weights[kChunk];
    double curvatures[kChunk];
    for (std::size_t first = 0; first < classes_; first += kChunk) {
      const std::size_t n = std::min(kChunk, classes_ - first);
      for (std::size_t k = 0; k < n; ++k) u[k] = shift - difference(first + k);
      form_.loss_.weights_in_double(u, weights, n);
      form_.loss_.curvatures_in_double(u, curvatures, n);
      for (std::size_t k = 0; k < n; ++k) {
        if (first + k == top_) continue;
        weight += weights[k];
        curvature += curvatures[k];
      }
    }
  }

  // log(weight(u)) of any u.
  double log_weight(double u) const {
    return u < 0.0 ? math::log(form_.loss_.weight(u)) : form_.log_tail_(form_.loss_, u);
  }
  double log_others(double shift) const {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < classes_; ++k) {
      if (k != top_) largest = std::max(largest, log_weight(shift - difference(k)));
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < classes_; ++k) {
      if (k != top_) sum += math::exp(log_weight(shift - difference(k)) - largest);
    }
    return largest + math::log(sum);
  }
  // The slope of log T - log S.
  double far_slope(double shift) const {
    const double e = 1e-5 * (1.0 + std::fabs(shift));
    const auto h = [this](double at) { return log_weight(-at) - log_others(at); };
    return (h(shift + e) - h(shift - e)) / (2.0 * e);
  }

  const Canonical& form_;
  const double* scores_;
  std::size_t classes_;
  std::size_t top_ = 0;
  double shift_ = 0.0;  // relative to the top score
};

void Canonical::log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                                  double* out) const noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    Row(*this, scores + i * classes, classes).log_probabilities(out + i * classes);
  }
}

void Canonical::losses(const double* scores, std::size_t classes, std::size_t n,
                       std::size_t true_class, double* out) const noexcept {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = Row(*this, scores + i * classes, classes).loss(true_class);
}

}  // namespace properboost::joint
