// From a policy on one margin to the engine's Loss.  These are the only loops over margins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/losses/loss.hpp"

namespace properboost::losses {

// The members that a policy must have: `bind` names a missing one in one line, instead of a page of
// template errors.
template <class P>
using LossOf = decltype(std::declval<const P&>().loss(1.0F));
template <class P>
using WeightOf = decltype(std::declval<const P&>().weight(1.0F));
template <class P>
using CurvatureOf = decltype(std::declval<const P&>().curvature(1.0F));
template <class P>
using ProbabilityOf = decltype(std::declval<const P&>().probability(1.0F));
template <class P>
using DensityOf = decltype(std::declval<const P&>().density(1.0F));
template <class P>
using LinkOf = decltype(std::declval<const P&>().link(0.5));
template <class P>
using MinimumRiskOf = decltype(std::declval<const P&>().minimum_risk(0.5));
template <class P>
using MostWeightOf = decltype(std::declval<const P&>().most_weight(0.0));
template <class P>
using MostCurvatureOf = decltype(std::declval<const P&>().most_curvature(0.0));

template <template <class> class Member, class P, class = void>
constexpr bool kHas = false;
template <template <class> class Member, class P>
constexpr bool kHas<Member, P, std::void_t<Member<P>>> = true;

template <class Policy>
class Bound : public Loss {
 public:
  explicit Bound(const Policy& policy) : policy_(policy) {}

  const char* name() const noexcept override { return policy_.name; }
  bool convex() const noexcept override { return policy_.convex; }
  bool canonical() const noexcept override { return policy_.canonical; }

  void losses(const float* u, float* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, float x) { return policy.loss(x); });
  }
  void weights(const float* u, float* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, float x) { return policy.weight(x); });
  }
  void curvatures(const float* u, float* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, float x) { return newton_curvature(policy, x); });
  }
  void probabilities(const float* u, float* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, float x) { return policy.probability(x); });
  }
  void evaluate(const float* __restrict u, float* __restrict weights, float* __restrict losses,
                float* __restrict curvatures, std::size_t n) const noexcept override {
    if (curvatures == nullptr) {
      vectorized([=, policy = policy_] {
        for (std::size_t i = 0; i < n; ++i) {
          // All are computed before the first is stored, so that common terms are computed once.
          const float x = u[i];
          const float weight = policy.weight(x);
          const float loss = policy.loss(x);
          weights[i] = weight;
          losses[i] = loss;
        }
      });
    } else {
      vectorized([=, policy = policy_] {
        for (std::size_t i = 0; i < n; ++i) {
          const float x = u[i];
          const float weight = policy.weight(x);
          const float loss = policy.loss(x);
          const float curvature = newton_curvature(policy, x);
          weights[i] = weight;
          losses[i] = loss;
          curvatures[i] = curvature;
        }
      });
    }
  }

  void losses_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, double x) { return policy.loss(x); });
  }
  void weights_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, double x) { return policy.weight(x); });
  }
  void curvatures_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, double x) { return policy.curvature(x); });
  }
  void probabilities_in_double(const double* u, double* out,
                               std::size_t n) const noexcept override {
    map(u, out, n, [](const Policy& policy, double x) { return policy.probability(x); });
  }

  double loss(double u) const noexcept override { return policy_.loss(u); }
  double weight(double u) const noexcept override { return policy_.weight(u); }
  double curvature(double u) const noexcept override { return policy_.curvature(u); }
  double probability(double u) const noexcept override { return policy_.probability(u); }
  double density(double u) const noexcept override { return policy_.density(u); }

  // Both mirrored at 1/2: the link is odd about it and the risk even, and 1 - p is exact above it.
  double link(double p) const noexcept override {
    if (!(p >= 0.0 && p <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
    const double half = std::min(p, 1.0 - p);
    const double size = half > 0.0 ? -policy_.link(half) : policy_.largest_link;
    return p > 0.5 ? size : -size;
  }
  double minimum_risk(double p) const noexcept override {
    if (!(p >= 0.0 && p <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
    const double half = std::min(p, 1.0 - p);
    return half > 0.0 ? policy_.minimum_risk(half) : 0.0;
  }

  // In single precision, where some losses stop growing.
  double most_loss(double least) const noexcept override {
    return static_cast<double>(policy_.loss(static_cast<float>(least)));
  }
  double most_weight(double least) const noexcept override {
    if constexpr (kHas<MostWeightOf, Policy>) {
      return policy_.most_weight(least);
    } else {
      static_assert(Policy::convex, "a loss that is not convex needs: double most_weight(double)");
      return static_cast<double>(policy_.weight(static_cast<float>(least)));
    }
  }
  double most_curvature(double least) const noexcept override {
    return policy_.most_curvature(least);
  }

 private:
  static float newton_curvature(const Policy& policy, float u) {
    if (policy.convex) {
      return policy.curvature(u);
    } else {
      // The derivative of p w(u) = (1 - p) w(-u), which holds at p = probability(u).
      return policy.density(u) * (policy.weight(u) + policy.weight(-u));
    }
  }

  template <class T, class Function>
  void map(const T* __restrict u, T* __restrict out, std::size_t n,
           Function function) const noexcept {
    // The policy is copied: nothing written through `out` can change it.
    vectorized([=, policy = policy_] {
      for (std::size_t i = 0; i < n; ++i) out[i] = function(policy, u[i]);
    });
  }

  Policy policy_;
};

template <class P>
std::unique_ptr<Loss> bind(const P& policy) {
  static_assert(kHas<LossOf, P>, "a loss needs: template <class T> T loss(T u) const");
  static_assert(kHas<WeightOf, P>, "a loss needs: template <class T> T weight(T u) const");
  static_assert(kHas<CurvatureOf, P>, "a loss needs: template <class T> T curvature(T u) const");
  static_assert(kHas<ProbabilityOf, P>,
                "a loss needs: template <class T> T probability(T u) const");
  static_assert(kHas<DensityOf, P>, "a loss needs: template <class T> T density(T u) const");
  static_assert(kHas<LinkOf, P>, "a loss needs: double link(double p) const");
  static_assert(kHas<MinimumRiskOf, P>, "a loss needs: double minimum_risk(double p) const");
  static_assert(kHas<MostCurvatureOf, P>, "a loss needs: double most_curvature(double u) const");
  if constexpr (kHas<LossOf, P> && kHas<WeightOf, P> && kHas<CurvatureOf, P> &&
                kHas<ProbabilityOf, P> && kHas<DensityOf, P> && kHas<LinkOf, P> &&
                kHas<MinimumRiskOf, P> && kHas<MostCurvatureOf, P>) {
    return std::make_unique<Bound<P>>(policy);
  } else {
    return nullptr;
  }
}

}  // namespace properboost::losses
