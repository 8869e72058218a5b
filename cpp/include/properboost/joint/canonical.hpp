// A canonical loss on the simplex: its one-vs-rest loss with the row's shift minimised out.
//
// With c the inverse link and phi the loss, p_k = c(z_k - tau), where the shift tau makes them add
// up to 1, and the loss of a row of class y is phi(z_y - tau) + sum over j != y of phi(tau - z_j).
// Its gradient is p less the indicator of y, its Hessian diag w - w w' / sum w with w = c'(z -
// tau). It is the Fenchel-Young loss of sum h(p_k), h' = link (Blondel, Martins and Niculae 2020).
#pragma once

#include <array>
#include <cstddef>

#include "properboost/joint/joint_loss.hpp"

namespace properboost::joint {

struct ClassesOfStrip;
struct PartOfStrip;
struct StepsOfStrip;

class Canonical {
 public:
  static constexpr const char* name = "canonical";
  static constexpr bool remembers_shifts = true;

  explicit Canonical(const Loss& loss);  // a canonical loss; borrowed

  void evaluate(const JointRows& rows) const;
  void log_probabilities(const double* scores, std::size_t classes, std::size_t n,
                         double* out) const noexcept;
  void losses(const double* scores, std::size_t classes, std::size_t n, std::size_t true_class,
              double* out) const noexcept;

 private:
  // The loops over rows, for a loss.
  struct Kernels {
    void (*evaluate)(const Loss& loss, const ClassesOfStrip& rows, const PartOfStrip& part);
    void (*follow)(const ClassesOfStrip& rows, const StepsOfStrip& steps);
    bool bends;  // whether it is known how fast curvatures grow
  };
  using LogTail = double (*)(const Loss& loss, double t);
  class Row;
  struct Strip;

  void start(const JointRows& rows, std::size_t begin, Strip& strip) const;
  void pass(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const;
  void sum_top(std::size_t n, Strip& strip) const;
  void sum_others(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const;
  void finish_moving(const ClassesOfStrip& rows, bool with_losses, Strip& strip) const;
  void finish(const ClassesOfStrip& rows, bool wants_curvatures, Strip& strip) const;
  void find_losses(const ClassesOfStrip& rows, const Strip& strip, float* losses) const;

  const Loss& loss_;
  Kernels kernels_;
  LogTail log_tail_;               // log(1 - inverse link) at t >= 0
  std::array<float, 64> highest_;  // shift - top with up to 2^i classes
};

}  // namespace properboost::joint
