// One Newton step on the cell's risk (LogitBoost's, Friedman, Hastie and Tibshirani 2000).
#pragma once

#include <algorithm>

#include "properboost/responses/response.hpp"

namespace properboost::responses {

struct Newton : ResponseDefaults {
  static constexpr const char* name = "newton";
  static constexpr bool needs_curvature = true;
  static constexpr bool larger_is_better = true;
  static double cost(const Cell& c, const Regularizers& r) {
    const double curvature = c.curvature + r.l2;
    return curvature > 0.0 ? -r.gain * c.gradient() * c.gradient() / curvature : 0.0;
  }
  static double value(const Cell& c, const Regularizers& r) {
    const double step = c.gradient() / (c.curvature + r.l2);  // 0 / 0 in a cell without rows
    return c.gradient() == 0.0 ? 0.0 : r.gain * std::clamp(step, -r.largest, r.largest);
  }
  static constexpr bool fits_lines = true;
  static LineTwin line_twin(double /*value*/, const Regularizers& r) { return {1.0, 1.0, r.gain}; }
};

}  // namespace properboost::responses
