// SLOPE: absolute values in descending order, times coefficients in descending order (Bogdan et al.
// 2015).  A change moves one value to another place, and those in between one place up or down.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "properboost/rado/regularizers/regularizer.hpp"

namespace properboost::regularizers {

class Slope final : public Regularizer {
 public:
  static constexpr const char* name = "slope";

  // xi is borrowed: as many as there are features, descending and above 0.
  Slope(std::size_t features, const double* xi)
      : xi_(xi),
        theta_(features, 0.0),
        sorted_(features, 0.0),
        stay_(features + 1, 0.0),
        up_(features + 1, 0.0),
        down_(features + 1, 0.0) {}

  double change(std::size_t k, double step) const override {
    const double from = std::fabs(theta_[k]), to = std::fabs(theta_[k] + step);
    if (to > from) {
      // Among equals the first place is the value's, so that the others stay.
      const std::size_t old_place = count_above(from), place = count_from(to);
      return xi_[place] * to + (down_[old_place] - down_[place]) -
             (stay_[old_place + 1] - stay_[place]);
    }
    if (to < from) {
      const std::size_t old_place = count_from(from) - 1, place = count_above(to) - 1;
      return xi_[place] * to + (up_[place + 1] - up_[old_place + 1]) -
             (stay_[place + 1] - stay_[old_place]);
    }
    return 0.0;
  }
  double steepness(std::size_t /*k*/, double /*step*/) const override { return xi_[0]; }
  void move(std::size_t k, double step) override {
    sorted_.erase(sorted_.begin() + static_cast<std::ptrdiff_t>(count_above(std::fabs(theta_[k]))));
    theta_[k] += step;
    const double value = std::fabs(theta_[k]);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value, std::greater<>()),
                   value);
    for (std::size_t l = 0; l < sorted_.size(); ++l) {
      stay_[l + 1] = stay_[l] + xi_[l] * sorted_[l];
      up_[l + 1] = up_[l] + (l > 0 ? xi_[l - 1] * sorted_[l] : 0.0);
      down_[l + 1] = down_[l] + (l + 1 < sorted_.size() ? xi_[l + 1] * sorted_[l] : 0.0);
    }
  }

 private:
  std::size_t count_above(double value) const {
    return static_cast<std::size_t>(
        std::lower_bound(sorted_.begin(), sorted_.end(), value, std::greater<>()) -
        sorted_.begin());
  }
  std::size_t count_from(double value) const {
    return static_cast<std::size_t>(
        std::upper_bound(sorted_.begin(), sorted_.end(), value, std::greater<>()) -
        sorted_.begin());
  }

  const double* xi_;
  std::vector<double> theta_;
  std::vector<double> sorted_;  // |theta|, descending
  // The sums that the first l of the sorted values add in their own places, one place up and one
  // place down.
  std::vector<double> stay_, up_, down_;
};

}  // namespace properboost::regularizers
