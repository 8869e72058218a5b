// Regularisers Omega(theta) of a linear classifier: their common interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace properboost {

// Omega is convex, the same for theta and -theta, and 0 at 0.
class Regularizer {
 public:
  virtual ~Regularizer() = default;

  // Omega(theta + step 1_k) - Omega(theta)
  virtual double change(std::size_t k, double step) const = 0;
  // A lower bound on how fast Omega changes anywhere between there and theta.
  virtual double steepness(std::size_t k, double step) const = 0;
  // theta <- theta + step 1_k; theta starts at 0.
  virtual void move(std::size_t k, double step) = 0;
};

// `parameter` has an entry per feature, or per two, or is null, as the regulariser takes it.
std::unique_ptr<Regularizer> make_regularizer(const std::string& name, std::size_t features,
                                              const double* parameter);
std::vector<std::string> regularizer_names();

// A linear combination of regularisers, each with its factor.
using Penalty = std::vector<std::pair<double, std::unique_ptr<Regularizer>>>;

}  // namespace properboost
