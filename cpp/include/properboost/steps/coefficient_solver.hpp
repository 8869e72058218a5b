// The coefficient solver: the coefficients of features that have been chosen, found in double.
//
// Under the weights that the solution leaves, no feature solved for has an edge:
// sum_i s_i w_i y_i h(x_i) = 0 (Nock and Nielsen 2009, eq. 35).  This is the minimum of a convex
// risk, which Newton's method finds; with the float32 margins of the other steps it would stop at
// 1e-7.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "properboost/data/roles.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/steps/step.hpp"

namespace properboost {

class Team;

// One lane's rows, and the features whose coefficients are solved for together.
class CoefficientSolver {
 public:
  // A look-up table over codes, one code per row.  Scaled margins move by the coefficient times the
  // look-up table.
  struct Feature {
    std::size_t round;
    double coefficient;
    double risk;  // the minimum with it and those before it
    const std::uint8_t* codes;
    std::vector<std::uint8_t> copied_codes;  // unless `codes` outlive it
    std::array<double, kMaxCodes> table;
    double largest;  // entry
  };

  struct Outcome {
    bool moved = false;      // the feature is kept
    bool separated = false;  // no finite coefficients are best
  };

  // All arguments must outlive it.  If no finite coefficients are best, every row also counts, by
  // this share, as one of the other class.
  CoefficientSolver(const TrainingRows& rows, const std::vector<Role>& roles, const Loss& loss,
                    Solved which, double share_of_errors);

  // The bytes of `rows` rows.
  static std::size_t bytes(std::size_t rows) noexcept { return rows * 2 * sizeof(double); }

  double& u(std::size_t row) noexcept { return u_[row]; }
  double u(std::size_t row) const noexcept { return u_[row]; }

  // Adds a feature and solves for it alone or for all; codes that do not last are copied.  A
  // feature that has no edge is not kept.  `progress` is called from time to time and may throw;
  // then the feature is not kept.
  Outcome add(std::size_t round, const std::uint8_t* codes, bool codes_last,
              const std::vector<double>& table, const std::function<void()>& progress, Team& team);

  // The minimised risk, at gain 1, per unit of training weight.  For features solved for together
  // it is the flipped risk, once rows are flipped.
  double risk() const noexcept { return risk_; }
  // The features that were solved for last.
  const std::vector<Feature>& features() const noexcept { return features_; }

 private:
  // Sums over the training rows at the margins as they are: for each feature the slope (how fast
  // the risk falls along it), and for each two the curvature (the lower triangle, row by row).
  struct Sums {
    std::vector<double> slope, curvature;
    double weight = 0.0;
    double risk = 0.0;

    explicit Sums(std::size_t features)
        : slope(features, 0.0), curvature(features * (features + 1) / 2, 0.0) {}
    void operator+=(const Sums& other);
  };
  // How margins change along a direction: the least and the largest change among the training rows.
  struct Range {
    double low, high;
  };

  // How a descent ended; it stalled if rounding ended it before the edges were gone.
  enum class Descent { kNoEdge, kSolved, kStalled, kNoMinimum };
  using Progress = std::function<void()>;

  Outcome solve(const Progress& progress, Team& team);
  bool solve_anew(const Progress& progress, Team& team);
  Descent descend(const Progress& progress, Team& team);
  Sums add_up(Team& team) const;
  template <class Terms>
  double sum_ahead(double t, const Terms& terms, Team& team) const;
  double slope_ahead(double t, Team& team) const;
  double risk_ahead(double t, double flip, Team& team) const;
  void move(double step);
  Range set_direction(const std::vector<double>& direction, Team& team);
  Range find_range(Team& team) const;
  static bool is_beyond_the_risk(double slope, const Sums& at);
  bool falls_out_of_reach(const Range& range, Team& team) const;
  double find_step(const Sums& at, double slope, const Progress& progress, Team& team) const;
  double largest_edge(const Sums& at) const;
  void add_strip(const RowBlock& block, std::size_t begin, std::size_t n, double* columns,
                 Sums& sums) const;
  double nanoseconds(double a_row) const { return a_row * static_cast<double>(u_.size()); }

  const std::vector<Role>& roles_;
  const RowSampleWeights sample_weight_;
  const Loss& loss_;
  const Solved which_;
  std::vector<RowBlock> blocks_;  // of the segments with a role, training segments first
  std::size_t training_ = 0;      // the number of blocks with training rows
  double training_weight_ = 0.0;
  double share_of_errors_;
  double flip_ = 0.0;  // the share by which rows count as ones of the other class
  double risk_;
  std::vector<Feature> features_;
  std::size_t solved_ = 0;     // the number of them that are solved for, from the first
  std::vector<double> u_;      // scaled margins
  std::vector<double> along_;  // how they change along the direction set
};

// The solution x of A x = b of least norm, A symmetric and positive semidefinite (its lower
// triangle, row by row), b in its range up to rounding.
std::vector<double> solve_least_norm(std::vector<double> a, const std::vector<double>& b);

}  // namespace properboost
