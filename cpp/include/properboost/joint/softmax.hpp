// Softmax and the multinomial logistic loss: p = softmax(z / 2), 2 log(sum of e^(z / 2)) - z_y.
//
// The 2 makes two classes the logistic loss at the same gain.
#pragma once

#include <cstddef>

#include "properboost/joint/joint_loss.hpp"

namespace properboost::joint {

class Softmax {
 public:
  static constexpr const char* name = "softmax";
  static constexpr bool remembers_shifts = false;

  explicit Softmax(const Loss& loss);  // the logistic loss

  void evaluate(const JointRows& rows) const;
  void log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                         double* out) const noexcept;
  void losses(const double* scores, std::size_t classes, std::size_t n, std::size_t true_class,
              double* out) const noexcept;
};

}  // namespace properboost::joint
