// The engine's view of a loss: one virtual call per block of rows.
//
// u = margin / gain everywhere: a loss does not depend on its gain.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace properboost {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual const char* name() const noexcept = 0;
  virtual bool convex() const noexcept = 0;
  virtual bool canonical() const noexcept = 0;

  // The engine's float32 blocks; `out` must not overlap `u`.  Every result is finite for finite u,
  // or, for a loss that calls custom functions, an exception is thrown.
  virtual void losses(const float* u, float* out, std::size_t n) const = 0;   // phi(u)
  virtual void weights(const float* u, float* out, std::size_t n) const = 0;  // -phi'(u)
  // The divisor of a Newton step: phi''(u) where the loss is convex, else its expectation
  // p phi''(u) + (1 - p) phi''(-u), where p is the probability of u.
  virtual void curvatures(const float* u, float* out, std::size_t n) const = 0;
  virtual void probabilities(const float* u, float* out, std::size_t n) const = 0;
  // Loss, weight and curvature at once, sharing their exponentials; `curvatures` may be null.
  virtual void evaluate(const float* u, float* weights, float* losses, float* curvatures,
                        std::size_t n) const = 0;

  // Blocks in double, for steps that are solved for, phi, -phi' and phi'', and for predictions.
  virtual void losses_in_double(const double* u, double* out, std::size_t n) const noexcept = 0;
  virtual void weights_in_double(const double* u, double* out, std::size_t n) const noexcept = 0;
  virtual void curvatures_in_double(const double* u, double* out, std::size_t n) const noexcept = 0;
  virtual void probabilities_in_double(const double* u, double* out,
                                       std::size_t n) const noexcept = 0;

  // The same and the rest of one margin, for Python and for values that a fit computes once.
  virtual double loss(double u) const noexcept = 0;
  virtual double weight(double u) const noexcept = 0;
  virtual double curvature(double u) const noexcept = 0;    // phi''(u), negative where it is
  virtual double probability(double u) const noexcept = 0;  // inverse link
  virtual double density(double u) const noexcept = 0;      // its derivative
  virtual double link(double p) const noexcept = 0;         // -inf at 0, inf at 1, NaN outside
  virtual double minimum_risk(double p) const noexcept = 0;

  // Upper bounds of losses, weights and Newton curvatures at margins from `least` on, up to
  // rounding: the units of their sums follow from these.
  virtual double most_loss(double least) const noexcept = 0;
  virtual double most_weight(double least) const noexcept = 0;
  virtual double most_curvature(double least) const noexcept = 0;
};

// The loss called `name`; std::invalid_argument if the name or a parameter is wrong.
std::unique_ptr<Loss> make_loss(const std::string& name,
                                const std::map<std::string, double>& parameters = {});
std::vector<std::string> loss_names();

// A loss known at the knots of `loss_knots`: weights -phi'(u) and their derivatives by |u| / scale,
// at |u| = scale * knot, on the right (u >= 0) and on the left.  `beyond` is the loss at the last
// knot.  The rest follows from the weights; std::invalid_argument if they are wrong.
struct LossTable {
  double scale;
  double beyond;
  std::vector<double> right, right_slope, left, left_slope;
};
std::vector<double> loss_knots();
std::unique_ptr<Loss> make_tabulated_loss(const std::string& name, const LossTable& table);

// A custom function of one margin: out[i] = f(u[i]).  It may throw.
class MarginFunction {
 public:
  virtual ~MarginFunction() = default;
  virtual void operator()(const float* u, float* out, std::size_t n) const = 0;
};

// `base`, except that its weights and, if given, losses come from the functions in every block.
// Their results are checked: std::invalid_argument names the loss and the margin.
std::unique_ptr<Loss> make_called_loss(std::shared_ptr<const Loss> base,
                                       std::shared_ptr<const MarginFunction> weight,
                                       std::shared_ptr<const MarginFunction> loss);

}  // namespace properboost
