#include "properboost/steps/coefficient_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"

namespace properboost {
namespace {

constexpr std::size_t kStrip = 128;    // rows whose columns stay in the cache
constexpr std::size_t kTogether = 16;  // the most blocks whose sums are held at the same time
constexpr std::size_t kMostSums = std::size_t{1} << 20;  // the most numbers in these sums

// As shares of the total weight: an edge that counts as none, and one that is only rounding.
constexpr double kEdge = 1e-10;
constexpr double kRounding = 1e-14;
// As a share of the largest change of a margin: a change that counts as none.
constexpr double kNoChange = 1e-6;

using Strip = std::array<double, kStrip>;

// The terms of rows of margins u that count by this share as rows of the other class.  For a
// canonical loss phi(-u) = phi(u) + u, which makes the rest short.
struct Flipping {
  const Loss& loss;
  double share;
  bool canonical = loss.canonical();

  void risks(const Strip& u, std::size_t n, Strip& out) const {
    loss.losses_in_double(u.data(), out.data(), n);
    if (canonical) {
      for (std::size_t i = 0; i < n; ++i) out[i] += share * u[i];
    } else {
      mix(&Loss::losses_in_double, share, u, n, out);
    }
  }
  // `as_they_are` are the loss's own weights at u.
  void weights(const Strip& u, std::size_t n, const Strip& as_they_are, Strip& out) const {
    out = as_they_are;
    if (canonical) {
      for (std::size_t i = 0; i < n; ++i) out[i] -= share;
    } else {
      mix(&Loss::weights_in_double, -share, u, n, out);
    }
  }
  void curvatures(const Strip& u, std::size_t n, Strip& out) const {
    loss.curvatures_in_double(u.data(), out.data(), n);
    if (!canonical) mix(&Loss::curvatures_in_double, share, u, n, out);
  }

 private:
  using Values = void (Loss::*)(const double*, double*, std::size_t) const noexcept;

  // out = (1 - share) out + by f(-u)
  void mix(Values f, double by, const Strip& u, std::size_t n, Strip& out) const {
    if (share == 0.0) return;
    Strip mirrored;
    Strip other;
    for (std::size_t i = 0; i < n; ++i) mirrored[i] = -u[i];
    (loss.*f)(mirrored.data(), other.data(), n);
    for (std::size_t i = 0; i < n; ++i) out[i] = (1.0 - share) * out[i] + by * other[i];
  }
};

// The sum of x[i] y[i] in a fixed order, so that the compiler may use vectors.
inline double dot(const double* x, const double* y, std::size_t n) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += x[i + k] * y[i + k];
  }
  for (std::size_t k = 0; i + k < n; ++k) sums[k] += x[i + k] * y[i + k];
  return std::accumulate(sums, sums + kSums, 0.0);
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return dot(x.data(), y.data(), x.size());
}

// The position of the first entry of row i of a lower triangle.
constexpr std::size_t row_of(std::size_t i) { return i * (i + 1) / 2; }

// Solves L L' x = b, L a lower triangle.
void solve_triangles(const std::vector<double>& l, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = (x[i] - dot(&l[row_of(i)], x.data(), i)) / l[row_of(i) + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= l[row_of(i) + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= l[row_of(i) + j] * x[i];
  }
}

// L of A = L L'.
void factorise(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &a[row_of(i)];
    for (std::size_t j = 0; j < i; ++j) {
      row[j] = (row[j] - dot(row, &a[row_of(j)], j)) / a[row_of(j) + j];
    }
    row[i] = std::sqrt(row[i] - dot(row, row, i));
  }
}

}  // namespace

// A = L L' with as many columns as its rank, by Cholesky's method with pivots; then the
// pseudo-inverse is L (L'L)^-2 L'.
std::vector<double> solve_least_norm(std::vector<double> a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  const double rounding = 64.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  std::vector<double> left(n), whole(n);  // entries of the diagonal
  for (std::size_t i = 0; i < n; ++i) left[i] = whole[i] = a[row_of(i) + i];
  std::vector<std::vector<double>> columns;  // of L, with all rows
  for (std::size_t r = 0; r < n; ++r) {
    std::size_t pivot = 0;
    double share = 0.0;  // a column that is another's multiple leaves rounding of its own size
    for (std::size_t i = 0; i < n; ++i) {
      if (left[i] > rounding * whole[i] && left[i] > share) {
        pivot = i;
        share = left[i];
      }
    }
    if (!(share > 0.0)) break;
    std::vector<double> column(n);
    const double root = std::sqrt(left[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      column[i] = i >= pivot ? a[row_of(i) + pivot] : a[row_of(pivot) + i];
    }
    vectorized([&] {
      for (const auto& before : columns) {  // column by column, as they lie in memory
        const double by = before[pivot];
        for (std::size_t i = 0; i < n; ++i) column[i] -= before[i] * by;
      }
      for (std::size_t i = 0; i < n; ++i) {
        column[i] /= root;
        left[i] -= column[i] * column[i];
      }
    });
    column[pivot] = root;
    left[pivot] = 0.0;
    columns.push_back(std::move(column));
  }

  const std::size_t rank = columns.size();
  std::vector<double> x(n, 0.0);
  if (rank == n) {
    factorise(a, n);
    x = b;
    solve_triangles(a, x);
    return x;
  }
  std::vector<double> gram(row_of(rank));
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::size_t j = 0; j <= i; ++j) gram[row_of(i) + j] = dot(columns[i], columns[j]);
  }
  factorise(gram, rank);
  std::vector<double> y(rank);
  for (std::size_t i = 0; i < rank; ++i) y[i] = dot(columns[i], b);
  solve_triangles(gram, y);
  solve_triangles(gram, y);
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::size_t j = 0; j < n; ++j) x[j] += y[i] * columns[i][j];
  }
  return x;
}

void CoefficientSolver::Sums::operator+=(const Sums& other) {
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += other.slope[i];
  for (std::size_t i = 0; i < curvature.size(); ++i) curvature[i] += other.curvature[i];
  weight += other.weight;
  risk += other.risk;
}

CoefficientSolver::CoefficientSolver(const TrainingRows& rows, const std::vector<Role>& roles,
                                     const Loss& loss, Solved which, double share_of_errors)
    : roles_(roles),
      sample_weight_(rows.sample_weight),
      loss_(loss),
      which_(which),
      share_of_errors_(share_of_errors),
      risk_(std::numeric_limits<double>::quiet_NaN()),
      u_(rows.codes.rows, 0.0),
      along_(rows.codes.rows, 0.0) {
  for (const RowBlock& block : cut_into_row_blocks(rows.codes.segments)) {
    if (roles[block.segment] != Role::kNone) blocks_.push_back(block);
  }
  const auto held_out = std::stable_partition(
      blocks_.begin(), blocks_.end(), [&](const RowBlock& c) { return learns(roles[c.segment]); });
  training_ = static_cast<std::size_t>(held_out - blocks_.begin());
  for (std::size_t c = 0; c < training_; ++c) {
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) {
      training_weight_ += sample_weight_[i];
    }
  }
}

CoefficientSolver::Outcome CoefficientSolver::add(std::size_t round, const std::uint8_t* codes,
                                                  bool codes_last, const std::vector<double>& table,
                                                  const Progress& progress, Team& team) {
  if (which_ == Solved::kLast) {
    features_.clear();
    flip_ = 0.0;
  }
  const std::vector<double> u = u_;
  std::vector<std::pair<double, double>> solution;
  for (const Feature& f : features_) solution.emplace_back(f.coefficient, f.risk);
  const double flip = flip_;
  const auto forget = [&] {
    u_ = u;
    flip_ = flip;
    features_.pop_back();
    for (std::size_t t = 0; t < features_.size(); ++t) {
      std::tie(features_[t].coefficient, features_[t].risk) = solution[t];
    }
  };

  Feature feature{round, 0.0, 0.0, codes, {}, {}, 0.0};
  std::copy(table.begin(), table.end(), feature.table.begin());
  for (const double entry : table) feature.largest = std::max(feature.largest, std::abs(entry));
  if (which_ == Solved::kAll && !codes_last) {
    feature.copied_codes.assign(codes, codes + u_.size());
    feature.codes = feature.copied_codes.data();
  }
  features_.push_back(std::move(feature));
  const double risk = risk_;
  try {
    const Outcome outcome = solve(progress, team);
    if (outcome.moved) {
      features_.back().risk = risk_;
    } else {
      forget();
      if (!std::isnan(risk)) risk_ = risk;
    }
    return outcome;
  } catch (...) {
    forget();
    risk_ = risk;
    throw;
  }
}

// If the features separate some rows by their class, the risk has no minimum; rounding can also
// hide one.  Then an error of 0 counts as half a row: every row also counts, by that share, as one
// of the other class.  The added risk pulls margins back to the link of that share.
CoefficientSolver::Outcome CoefficientSolver::solve(const Progress& progress, Team& team) {
  solved_ = features_.size();
  if (flip_ > 0.0) return {descend(progress, team) != Descent::kNoEdge, true};
  const std::vector<double> u = u_;
  std::vector<double> coefficients;
  for (const Feature& feature : features_) coefficients.push_back(feature.coefficient);
  const Descent descent = descend(progress, team);
  if (descent == Descent::kNoEdge || descent == Descent::kSolved) {
    return {descent == Descent::kSolved, false};
  }

  u_ = u;
  for (std::size_t t = 0; t < features_.size(); ++t) features_[t].coefficient = coefficients[t];
  const double risk = risk_ahead(0.0, 0.0, team) / training_weight_;
  flip_ = share_of_errors_;
  const bool moved = solve_anew(progress, team);
  if (which_ == Solved::kAll) return {moved, moved};
  // The risk only falls along a feature that hurts no row.  If it rises, the feature is worth less
  // than half a row.
  risk_ = risk_ahead(0.0, 0.0, team) / training_weight_;
  const bool falls = moved && risk_ <= risk;
  if (!falls) risk_ = risk;
  return {falls, falls};
}

// Solves again for the first feature, the first two and so on, because the risk to minimise has
// changed: minima can be compared between rounds only if all are of one risk.  Returns whether the
// last feature is kept.
bool CoefficientSolver::solve_anew(const Progress& progress, Team& team) {
  std::vector<double> back;
  for (Feature& feature : features_) back.push_back(-std::exchange(feature.coefficient, 0.0));
  set_direction(back, team);
  move(1.0);
  Descent last = Descent::kNoEdge;
  for (solved_ = 1; solved_ <= features_.size(); ++solved_) {
    last = descend(progress, team);
    features_[solved_ - 1].risk = risk_;
  }
  solved_ = features_.size();
  return last != Descent::kNoEdge;
}

// Newton's method.  Where there is no minimum its directions end as one that hurts no row.
CoefficientSolver::Descent CoefficientSolver::descend(const Progress& progress, Team& team) {
  constexpr int kMostSteps = 200;
  Sums at = add_up(team);
  risk_ = at.risk / training_weight_;
  double edge = largest_edge(at);
  if (!(edge > kEdge)) return Descent::kNoEdge;
  for (int i = 0; i < kMostSteps && edge > kRounding; ++i) {
    progress();
    const std::vector<double> direction = solve_least_norm(at.curvature, at.slope);
    const Range range = set_direction(direction, team);
    if (flip_ == 0.0 && falls_out_of_reach(range, team)) return Descent::kNoMinimum;
    const double slope = dot(at.slope, direction);
    const double step = find_step(at, slope, progress, team);
    if (step == 0.0) {
      if (i == 0) return Descent::kNoEdge;  // rounding leaves no edge
      break;
    }
    for (std::size_t t = 0; t < solved_; ++t) features_[t].coefficient += step * direction[t];
    move(step);
    at = add_up(team);
    risk_ = at.risk / training_weight_;
    const double before = std::exchange(edge, largest_edge(at));
    // Newton's steps do much better than that unless nothing better can be done.
    if (edge > 0.5 * before && (edge <= kEdge || is_beyond_the_risk(slope, at))) break;
  }
  return edge <= kEdge ? Descent::kSolved : Descent::kStalled;
}

// Along a direction that hurts no row, or hurts one so little that margins pass the half-row bound
// before it matters.
bool CoefficientSolver::falls_out_of_reach(const Range& range, Team& team) const {
  if (range.low < -kNoChange * range.high) return false;
  return range.low >= 0.0 ||
         slope_ahead(loss_.link(1.0 - share_of_errors_) / range.high, team) >= 0.0;
}

void CoefficientSolver::move(double step) {
  for (std::size_t row = 0; row < u_.size(); ++row) u_[row] += step * along_[row];
}

// As a share of the total weight, and for look-up tables with entries of at most 1.
double CoefficientSolver::largest_edge(const Sums& at) const {
  double largest = 0.0;
  for (std::size_t t = 0; t < solved_; ++t) {
    largest = std::max(largest, std::abs(at.slope[t]) / (features_[t].largest * at.weight));
  }
  return largest;
}

CoefficientSolver::Sums CoefficientSolver::add_up(Team& team) const {
  const auto n = static_cast<double>(solved_);
  Sums total(solved_);
  const std::size_t together =
      std::max(std::min(kTogether, kMostSums / total.curvature.size()), team.size());
  for (std::size_t first = 0; first < training_; first += together) {
    const std::size_t n_blocks = std::min(together, training_ - first);
    std::vector<Sums> parts(n_blocks, Sums(solved_));
    const double a_row = 30.0 + n + 0.15 * n * n;
    const double time = a_row * static_cast<double>(n_blocks * RowBlock::kRows);
    team.for_each(n_blocks, time, [&](std::size_t c) {
      const RowBlock& block = blocks_[first + c];
      std::vector<double> columns(solved_ * kStrip);
      for (std::size_t begin = block.begin; begin < block.end; begin += kStrip) {
        const std::size_t size = std::min(kStrip, block.end - begin);
        add_strip(block, begin, size, columns.data(), parts[c]);
      }
    });
    for (const Sums& part : parts) total += part;
  }
  return total;
}

void CoefficientSolver::add_strip(const RowBlock& block, std::size_t begin, std::size_t n,
                                  double* columns, Sums& sums) const {
  const Flipping row{loss_, flip_};
  Strip u;
  Strip unflipped;
  Strip w;
  Strip q;
  Strip risk;
  std::copy_n(&u_[begin], n, u.begin());
  loss_.weights_in_double(u.data(), unflipped.data(), n);
  row.weights(u, n, unflipped, w);
  row.curvatures(u, n, q);
  row.risks(u, n, risk);
  for (std::size_t i = 0; i < n; ++i) {
    const double s = sample_weight_[begin + i];
    sums.weight += s * unflipped[i];
    w[i] *= s;
    q[i] *= s;
    sums.risk += s * risk[i];
  }
  Strip curved;
  const double sign = sign_of(roles_[block.segment]);
  for (std::size_t t = 0; t < solved_; ++t) {
    const Feature& feature = features_[t];
    const std::uint8_t* const code = feature.codes + begin;
    double* const column = columns + t * kStrip;
    for (std::size_t i = 0; i < n; ++i) column[i] = sign * feature.table[code[i]];
    for (std::size_t i = 0; i < n; ++i) curved[i] = q[i] * column[i];
    double* const slope = &sums.slope[t];
    double* const curvature = &sums.curvature[row_of(t)];
    vectorized([&, n, t] {
      *slope += dot(w.data(), column, n);
      for (std::size_t r = 0; r <= t; ++r) {
        curvature[r] += dot(curved.data(), columns + r * kStrip, n);
      }
    });
  }
}

// The sum over the training rows of `terms` of strips of margins u and their changes, after a move
// by t along the direction.
template <class Terms>
double CoefficientSolver::sum_ahead(double t, const Terms& terms, Team& team) const {
  std::vector<double> parts(training_);
  team.for_each(training_, nanoseconds(10.0), [&](std::size_t c) {
    const RowBlock& block = blocks_[c];
    Strip u;
    Strip term;
    for (std::size_t begin = block.begin; begin < block.end; begin += kStrip) {
      const std::size_t n = std::min(kStrip, block.end - begin);
      const double* const along = &along_[begin];
      for (std::size_t i = 0; i < n; ++i) u[i] = u_[begin + i] + t * along[i];
      terms(u, along, n, term);
      for (std::size_t i = 0; i < n; ++i) parts[c] += sample_weight_[begin + i] * term[i];
    }
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double CoefficientSolver::slope_ahead(double t, Team& team) const {
  const Flipping row{loss_, flip_};
  const auto terms = [&](const Strip& u, const double* along, std::size_t n, Strip& out) {
    Strip unflipped;
    loss_.weights_in_double(u.data(), unflipped.data(), n);
    row.weights(u, n, unflipped, out);
    for (std::size_t i = 0; i < n; ++i) out[i] *= along[i];
  };
  return sum_ahead(t, terms, team);
}

double CoefficientSolver::risk_ahead(double t, double flip, Team& team) const {
  const Flipping row{loss_, flip};
  const auto terms = [&](const Strip& u, const double*, std::size_t n, Strip& out) {
    row.risks(u, n, out);
  };
  return sum_ahead(t, terms, team);
}

CoefficientSolver::Range CoefficientSolver::set_direction(const std::vector<double>& direction,
                                                          Team& team) {
  const double time = nanoseconds(1.0 + static_cast<double>(solved_));
  team.for_each(blocks_.size(), time, [&](std::size_t c) {
    const RowBlock& block = blocks_[c];
    const double sign = sign_of(roles_[block.segment]);
    std::fill(&along_[block.begin], &along_[block.begin] + (block.end - block.begin), 0.0);
    for (std::size_t t = 0; t < solved_; ++t) {
      const double by = sign * direction[t];
      const std::uint8_t* const code = features_[t].codes;
      for (std::size_t i = block.begin; i < block.end; ++i) {
        along_[i] += by * features_[t].table[code[i]];
      }
    }
  });
  return find_range(team);
}

CoefficientSolver::Range CoefficientSolver::find_range(Team& team) const {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<Range> parts(training_, Range{kFar, -kFar});
  team.for_each(training_, nanoseconds(1.0), [&](std::size_t c) {
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) {
      parts[c].low = std::min(parts[c].low, along_[i]);
      parts[c].high = std::max(parts[c].high, along_[i]);
    }
  });
  Range range{kFar, -kFar};
  for (const Range& part : parts) {
    range.low = std::min(range.low, part.low);
    range.high = std::max(range.high, part.high);
  }
  return range;
}

// Whether so little slope is left that rounding hides how the risk changes.
bool CoefficientSolver::is_beyond_the_risk(double slope, const Sums& at) {
  return slope <= 1e-11 * at.risk;
}

// The step along the direction: 1, unless that is far beyond the lowest risk; 0 if rounding hides
// whether the risk falls.
double CoefficientSolver::find_step(const Sums& at, double slope, const Progress& progress,
                                    Team& team) const {
  constexpr double kOvershot = 0.9;
  constexpr int kMostSlopes = 60;
  if (!(slope > 0.0)) return 0.0;
  double t = 1.0;
  for (int i = 0; i < kMostSlopes; ++i) {
    if (i > 0) progress();
    const double ahead = slope_ahead(t, team);
    if (ahead >= 0.0) return t;
    if (ahead >= -kOvershot * slope &&
        (is_beyond_the_risk(slope, at) || risk_ahead(t, flip_, team) <= at.risk))
      return t;
    const double crossing = slope / (slope - ahead);
    t *= crossing > 0.1 ? std::min(crossing, 0.5) : 0.1;
  }
  return 0.0;
}

}  // namespace properboost
