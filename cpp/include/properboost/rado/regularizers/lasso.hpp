// The sum of absolute values, |theta|_1.
#pragma once

#include <cmath>

#include "properboost/rado/regularizers/regularizer.hpp"

namespace properboost::regularizers {

class Lasso final : public Regularizer {
 public:
  static constexpr const char* name = "lasso";

  Lasso(std::size_t features, const double* /*none*/) : theta_(features, 0.0) {}

  double change(std::size_t k, double step) const override {
    return std::fabs(theta_[k] + step) - std::fabs(theta_[k]);
  }
  double steepness(std::size_t /*k*/, double /*step*/) const override { return 1.0; }
  void move(std::size_t k, double step) override { theta_[k] += step; }

 private:
  std::vector<double> theta_;
};

}  // namespace properboost::regularizers
