// The quadratic form theta' Gamma theta of a symmetric positive definite Gamma.
#pragma once

#include <cmath>

#include "properboost/rado/regularizers/regularizer.hpp"

namespace properboost::regularizers {

class Ridge final : public Regularizer {
 public:
  static constexpr const char* name = "ridge";

  // Gamma is borrowed, features x features; null is the identity.
  Ridge(std::size_t features, const double* gamma) : gamma_(gamma), product_(features, 0.0) {}

  double change(std::size_t k, double step) const override {
    return step * (2.0 * product_[k] + step * entry(k, k));
  }
  double steepness(std::size_t k, double step) const override {
    return 2.0 * (std::fabs(product_[k]) + std::fabs(step) * entry(k, k));
  }
  void move(std::size_t k, double step) override {
    if (gamma_ == nullptr) {
      product_[k] += step;
      return;
    }
    for (std::size_t l = 0; l < product_.size(); ++l) product_[l] += step * entry(k, l);
  }

 private:
  double entry(std::size_t k, std::size_t l) const {
    return gamma_ == nullptr ? (k == l ? 1.0 : 0.0) : gamma_[k * product_.size() + l];
  }

  const double* gamma_;
  std::vector<double> product_;  // Gamma theta
};

}  // namespace properboost::regularizers
