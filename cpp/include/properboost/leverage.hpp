// Leverages: the coefficients of features that have been chosen, solved for in double.
//
// Under the weights that the solution leaves, no feature solved for has an edge:
// sum_i s_i w_i y_i h(x_i) = 0 (Nock and Nielsen 2009, eq. 35).  This is the minimum of a convex
// risk, which Newton's method finds; the float32 margins of everything else would end at 1e-7.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/codes.hpp"
#include "properboost/lanes.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/parallel.hpp"
#include "properboost/steps/step.hpp"

namespace properboost {

// One lane's rows, and the features whose coefficients are solved for together.
class Leverage {
 public:
  // A table over codes, one a row.  Scaled margins move by coefficient times table.
  struct Feature {
    std::size_t round;
    double coefficient;
    const std::uint8_t* codes;
    std::vector<std::uint8_t> own_codes;  // unless `codes` outlive it
    std::array<double, kMaxCodes> table;
    double largest;  // entry
  };

  struct Found {
    bool moved = false;
    bool separated = false;  // no finite coefficients are best: some rows are told apart for good
  };

  // All arguments must outlive it; `sample_weight` may be null, for ones.  Where no finite
  // coefficients are best, every row counts by this share as one of the other class.
  Leverage(const Codes& codes, const std::vector<Role>& roles, const double* sample_weight,
           const Loss& loss, Solved which, double share_of_errors);

  double& u(std::size_t row) noexcept { return u_[row]; }
  double u(std::size_t row) const noexcept { return u_[row]; }

  // Adds a feature, of whose codes a copy is kept if they do not last, and solves for it alone or
  // for all; a feature that has no edge is not kept.
  Found add(std::size_t round, const std::uint8_t* codes, bool codes_last,
            const std::vector<double>& table, Team& team);

  // At gain 1, per unit of training weight; of the last solution.
  double risk() const noexcept { return risk_; }
  // Those that were solved for last.
  const std::vector<Feature>& features() const noexcept { return features_; }

 private:
  // Sums over the training rows at the margins as they are: of each feature the slope, how fast the
  // risk falls along it, and of each two the curvature (the lower triangle, row by row).
  struct Sums {
    std::vector<double> slope, curvature;
    double weight = 0.0;
    double risk = 0.0;

    explicit Sums(std::size_t features)
        : slope(features, 0.0), curvature(features * (features + 1) / 2, 0.0) {}
    void operator+=(const Sums& other);
  };
  // And along the direction in which margins are about to move.
  struct Ahead {
    double slope = 0.0;
    double risk = 0.0;
  };
  // How margins change along a direction: the least and the most of the training rows.
  struct Range {
    double low, high;
  };

  // How a descent ended.
  enum class Descent { kNoEdge, kSolved, kNoMinimum };

  Found solve(Team& team);
  Descent descend(Team& team);
  Sums look(Team& team) const;
  Ahead look_ahead(double t, double flip, Team& team) const;
  Range face(const std::vector<double>& direction, Team& team);
  Range find_range(Team& team) const;
  static bool is_beyond_the_risk(double slope, const Sums& at);
  double find_step(const Sums& at, double slope, Team& team) const;
  double largest_edge(const Sums& at) const;
  void add_block(const Chunk& chunk, std::size_t begin, std::size_t n, double* columns,
                 Sums& sums) const;
  double weight(std::size_t row) const {
    return sample_weight_ == nullptr ? 1.0 : sample_weight_[row];
  }
  double nanoseconds(double a_row) const { return a_row * static_cast<double>(u_.size()); }

  const std::vector<Role>& roles_;
  const double* sample_weight_;
  const Loss& loss_;
  const Solved which_;
  std::vector<Chunk> chunks_;  // of the segments with a role, those learnt from first
  std::size_t training_ = 0;   // chunks that are learnt from
  double training_weight_ = 0.0;
  double share_of_errors_;
  double flip_ = 0.0;  // the share by which rows count as ones of the other class
  double risk_;
  std::vector<Feature> features_;
  std::vector<double> u_;      // scaled margins
  std::vector<double> along_;  // how they change along the direction faced
};

// The solution x of A x = b of least norm, A symmetric and positive semidefinite (its lower
// triangle, row by row), b in its range up to rounding.
std::vector<double> solve_least_norm(std::vector<double> a, const std::vector<double>& b);

}  // namespace properboost
