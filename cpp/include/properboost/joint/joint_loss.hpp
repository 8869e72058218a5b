// Joint losses: the loss of a row over all its classes at once.
//
// Scores are raw predictions / gain.  A joint loss, like a margin loss, does not depend on its
// gain.  With two classes it is the margin loss at u = +-(F_1 - F_2) / (2 gain), counted twice.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "properboost/losses/loss.hpp"

namespace properboost {

// n rows of one class, or of all classes by their shares.  Entry k * n + i of a [class][row] array
// is class k's of row i.
struct JointRows {
  std::size_t classes, n, true_class;  // the class of these rows; `classes` if they have shares
  const float* scores;                 // [class][row]; finite
  // [row]: on entry the shifts of these rows' last evaluation, or NaN; updated.  May be null.
  float* shift;
  // [class][row]: how fast the loss falls as that class's margin grows, which is 1 - p for the
  // rows' true class and p for the others.
  float* weights;
  // [class][row], or null: the divisor of a Newton step of that class alone, the Hessian's diagonal
  // times classes / (classes - 1).
  float* curvatures;
  float* losses;  // [row], or null
  // [class][row], or null: the shares of the classes in a row, and how fast the loss of each class
  // falls as its margin grows, 1 - p.  The weights are p of every class then.
  const float* shares = nullptr;
  float* tails = nullptr;
};

class JointLoss {
 public:
  virtual ~JointLoss() = default;
  virtual const char* name() const noexcept = 0;
  virtual bool remembers_shifts() const noexcept = 0;  // whether `shift` is of use
  // No row's results depend on other rows.  All are finite, or, for a loss that calls custom
  // functions, an exception is thrown.
  virtual void evaluate(const JointRows& rows) const = 0;
  // In double, for predictions: log p, [row][class], of n rows of scores.
  virtual void log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                                 double* out) const noexcept = 0;
  // In double: the losses of n rows of one class, from their scores, [row][class].
  virtual void losses(const double* scores, std::size_t classes, std::size_t n,
                      std::size_t true_class, double* out) const noexcept = 0;
};

// The joint form called `name` of a margin loss, which must outlive it.  std::invalid_argument if
// the name is unknown or the loss has no such form.
std::shared_ptr<JointLoss> make_joint_loss(const std::string& name, const Loss& loss);
std::vector<std::string> joint_loss_names();

}  // namespace properboost
