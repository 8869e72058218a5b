// The largest absolute value, |theta|_infinity.
#pragma once

#include <algorithm>
#include <cmath>

#include "properboost/rado/regularizers/regularizer.hpp"

namespace properboost::regularizers {

class Linf final : public Regularizer {
 public:
  static constexpr const char* name = "linf";

  Linf(std::size_t features, const double* /*none*/) : theta_(features, 0.0) {}

  double change(std::size_t k, double step) const override {
    const double of_others = k == largest_ ? second_ : norm();
    return std::max(std::fabs(theta_[k] + step), of_others) - norm();
  }
  double steepness(std::size_t /*k*/, double /*step*/) const override { return 1.0; }
  void move(std::size_t k, double step) override {
    theta_[k] += step;
    largest_ = 0;
    for (std::size_t l = 1; l < theta_.size(); ++l) {
      if (std::fabs(theta_[l]) > norm()) largest_ = l;
    }
    second_ = 0.0;
    for (std::size_t l = 0; l < theta_.size(); ++l) {
      if (l != largest_) second_ = std::max(second_, std::fabs(theta_[l]));
    }
  }

 private:
  double norm() const { return std::fabs(theta_[largest_]); }

  std::vector<double> theta_;
  std::size_t largest_ = 0;
  double second_ = 0.0;  // the norm without the largest
};

}  // namespace properboost::regularizers
