#include "properboost/terms/purify.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace properboost {
namespace {

using Part = std::vector<double>;
using Parts = std::array<Part, 3>;

// Slices' means are below this share of the table's size at the end.
constexpr double kTolerance = 1e-13;
// The recursion's residuals drift, so the search begins anew from the true ones when it has ended.
constexpr std::size_t kMostSteps = 4096;
constexpr std::size_t kMostRestarts = 64;
// Restarts that come no nearer end it: rounding is reached.
constexpr std::size_t kPatience = 3;
// Along a direction of less curvature, of at most 3, only rounding is left.
constexpr double kResolved = 1e-14;
// Sums are in lanes, whose order is the same on any processor.
constexpr std::size_t kLanes = 4;

// The cells with weight, and the normal equations of parts that approximate a table over them.
class Normal {
 public:
  Normal(const TableShape& shape, const double* weights, int exponent) : shape_(shape.extents) {
    const auto [a, b, c] = shape_;
    sizes_ = {shape.is_pair ? 0 : b * c, a * c, a * b};
    for (std::size_t i = 0; i < a; ++i) {
      for (std::size_t j = 0; j < b; ++j) {
        const std::size_t begin = cells_.size();
        for (std::size_t l = 0; l < c; ++l) {
          const double weight = weights[(i * b + j) * c + l];
          if (!(weight > 0.0)) continue;
          cells_.push_back(static_cast<std::uint32_t>(l));
          weights_.push_back(std::ldexp(weight, -exponent));
        }
        if (cells_.size() > begin) lines_.push_back({i, j, begin, cells_.size()});
      }
    }
    roots_ = sum_slices(std::vector<double>(cells_.size(), 1.0));
    for (Part& part : roots_) {
      for (double& w : part) w = w > 0.0 ? 1.0 / std::sqrt(w) : 0.0;
    }
  }

  Parts make() const {
    Parts parts;
    for (std::size_t k = 0; k < 3; ++k) parts[k].assign(sizes_[k], 0.0);
    return parts;
  }

  // The values of the cells with weight, in units of 2^exponent, by which squares neither over-
  // nor underflow.
  Part take(const double* values, int exponent) const {
    Part taken(cells_.size());
    for (const Line& line : lines_) {
      const double* const from = values + (line.i * shape_[1] + line.j) * shape_[2];
      for (std::size_t k = line.begin; k < line.end; ++k) {
        taken[k] = std::ldexp(from[cells_[k]], -exponent);
      }
    }
    return taken;
  }

  // The weighted sums of values, by slice.
  Parts sum_slices(const Part& values) const {
    Parts sums = make();
    for (const Line& line : lines_) {
      double* const first = sums[0].data() + line.j * shape_[2];
      double* const second = sums[1].data() + line.i * shape_[2];
      double third = 0.0;
      for (std::size_t k = line.begin; k < line.end; ++k) {
        const double x = weights_[k] * values[k];
        if (sizes_[0] != 0) first[cells_[k]] += x;
        second[cells_[k]] += x;
        third += x;
      }
      sums[2][line.i * shape_[1] + line.j] += third;
    }
    return sums;
  }

  // The sum of parts in each cell.
  void add_up(const Parts& parts, Part& values) const {
    for (const Line& line : lines_) {
      const double* const first = parts[0].data() + line.j * shape_[2];
      const double* const second = parts[1].data() + line.i * shape_[2];
      const double third = parts[2][line.i * shape_[1] + line.j];
      for (std::size_t k = line.begin; k < line.end; ++k) {
        values[k] = third + second[cells_[k]];
        if (sizes_[0] != 0) values[k] += first[cells_[k]];
      }
    }
  }

  // Subtracts parts from a whole table.
  void subtract(const Parts& parts, double* values) const {
    const auto [a, b, c] = shape_;
    for (std::size_t i = 0; i < a; ++i) {
      for (std::size_t j = 0; j < b; ++j) {
        double* const to = values + (i * b + j) * c;
        for (std::size_t l = 0; l < c; ++l) {
          const double others = sizes_[0] == 0 ? 0.0 : parts[0][j * c + l];
          to[l] -= (parts[2][i * b + j] + parts[1][i * c + l]) + others;
        }
      }
    }
  }

  // The product of the scaled normal equations' matrix with scaled parts.
  Parts multiply(const Parts& scaled, Part& cells) const {
    Parts parts = scaled;
    scale(parts);
    add_up(parts, cells);
    Parts product = sum_slices(cells);
    scale(product);
    return product;
  }

  // Multiplies every slice's number by 1 / sqrt(its weight).
  void scale(Parts& parts) const {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t s = 0; s < sizes_[k]; ++s) parts[k][s] *= roots_[k][s];
    }
  }

  // The largest mean of a slice, from its scaled sum.
  double find_largest_mean(const Parts& scaled) const {
    double largest = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t s = 0; s < sizes_[k]; ++s) {
        largest = std::max(largest, std::abs(scaled[k][s] * roots_[k][s]));
      }
    }
    return largest;
  }

 private:
  // The cells with weight of the first two axes' levels i and j.
  struct Line {
    std::size_t i, j, begin, end;
  };

  std::array<std::size_t, 3> shape_;
  std::array<std::size_t, 3> sizes_{};  // of the parts
  std::vector<Line> lines_;
  std::vector<std::uint32_t> cells_;  // the third axis' level
  std::vector<double> weights_;
  Parts roots_;  // 1 / sqrt(weight), by slice
};

double dot(const Parts& x, const Parts& y) {
  double total = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    std::array<double, kLanes> lanes{};
    const std::size_t n = x[k].size(), whole = n - n % kLanes;
    for (std::size_t s = 0; s < whole; s += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += x[k][s + l] * y[k][s + l];
    }
    for (std::size_t s = whole; s < n; ++s) lanes[s - whole] += x[k][s] * y[k][s];
    total += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
  return total;
}

void add_times(Parts& to, double factor, const Parts& from) {
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t s = 0; s < to[k].size(); ++s) to[k][s] += factor * from[k][s];
  }
}

// Conjugate gradients from 0: the scaled parts whose slices have these scaled sums, about.
Parts solve(const Normal& normal, Parts residual, Part& cells) {
  Parts solution = normal.make(), direction = residual;
  double square = dot(residual, residual);
  for (std::size_t step = 0; step < kMostSteps && square > 0.0; ++step) {
    const Parts product = normal.multiply(direction, cells);
    const double curvature = dot(direction, product);
    if (!(curvature > kResolved * dot(direction, direction))) break;
    const double length = square / curvature;
    add_times(solution, length, direction);
    add_times(residual, -length, product);
    const double next = dot(residual, residual);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t s = 0; s < direction[k].size(); ++s) {
        direction[k][s] = residual[k][s] + next / square * direction[k][s];
      }
    }
    square = next;
    if (normal.find_largest_mean(residual) <= 0.1 * kTolerance) break;
  }
  return solution;
}

}  // namespace

int find_exponent(const double* values, const double* weights, std::size_t cells) {
  double largest = 0.0;
  for (std::size_t c = 0; c < cells; ++c) {
    if (weights[c] > 0.0) largest = std::max(largest, std::abs(values[c]));
  }
  if (largest == 0.0) return kNoExponent;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

std::array<std::vector<double>, 3> purify(const TableShape& shape, const double* weights,
                                          int exponent, double* values) {
  const auto [a, b, c] = shape.extents;
  const std::size_t cells = a * b * c;
  const Normal normal(shape, weights, find_exponent(weights, weights, cells));
  Parts total = normal.make();
  if (exponent == kNoExponent) return total;
  const Part taken = normal.take(values, exponent);
  Part rest = taken, of_cells(taken.size());
  double best = 0.0;
  std::size_t without_progress = 0;
  for (std::size_t restart = 0; restart < kMostRestarts; ++restart) {
    Parts residual = normal.sum_slices(rest);
    normal.scale(residual);
    const double mean = normal.find_largest_mean(residual);
    if (mean <= kTolerance) break;
    if (restart == 0 || mean < 0.5 * best) {
      best = mean;
      without_progress = 0;
    } else if (++without_progress == kPatience) {
      break;
    }
    Parts solution = solve(normal, std::move(residual), of_cells);
    normal.scale(solution);
    add_times(total, 1.0, solution);
    normal.add_up(total, of_cells);
    for (std::size_t k = 0; k < rest.size(); ++k) rest[k] = taken[k] - of_cells[k];
  }
  for (Part& part : total) {
    for (double& x : part) x = std::ldexp(x, exponent);
  }
  normal.subtract(total, values);
  return total;
}

}  // namespace properboost
