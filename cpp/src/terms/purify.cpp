#include "properboost/terms/purify.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
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
// Sums are in lanes, whose order is the same on any processor.
constexpr std::size_t kLanes = 4;

class Normal {
 public:
  Normal(const TableShape& shape, const double* weights)
      : shape_(shape.extents), weights_(weights) {
    const auto [a, b, c] = shape_;
    sizes_ = {shape.is_pair ? 0 : b * c, a * c, a * b};
    sum_slices(nullptr, roots_);
    for (Part& part : roots_) {
      for (double& w : part) w = w > 0.0 ? 1.0 / std::sqrt(w) : 0.0;
    }
  }

  Parts make() const {
    Parts parts;
    for (std::size_t k = 0; k < 3; ++k) parts[k].assign(sizes_[k], 0.0);
    return parts;
  }

  // sums[k][s] = the weighted sum of values in slice s; of ones without values.
  void sum_slices(const double* values, Parts& sums) const {
    sums = make();
    const auto [a, b, c] = shape_;
    for (std::size_t i = 0; i < a; ++i) {
      double* const second = sums[1].data() + i * c;
      for (std::size_t j = 0; j < b; ++j) {
        const std::size_t begin = (i * b + j) * c;
        double* const first = sizes_[0] == 0 ? nullptr : sums[0].data() + j * c;
        sums[2][i * b + j] = add(begin, values, first, second);
      }
    }
  }

  // values -= the sum of parts, cell by cell.
  void subtract(const Parts& parts, double* values) const {
    const auto [a, b, c] = shape_;
    for (std::size_t i = 0; i < a; ++i) {
      const double* const second = parts[1].data() + i * c;
      for (std::size_t j = 0; j < b; ++j) {
        const double third = parts[2][i * b + j];
        double* const to = values + (i * b + j) * c;
        if (sizes_[0] == 0) {
          for (std::size_t l = 0; l < c; ++l) to[l] -= third + second[l];
        } else {
          const double* const first = parts[0].data() + j * c;
          for (std::size_t l = 0; l < c; ++l) to[l] -= (third + second[l]) + first[l];
        }
      }
    }
  }

  // The product of the scaled normal equations' matrix with scaled parts.
  void multiply(const Parts& scaled, Part& cells, Parts& product) const {
    Parts parts = scaled;
    scale(parts);
    std::fill(cells.begin(), cells.end(), 0.0);
    subtract(parts, cells.data());
    sum_slices(cells.data(), product);
    scale(product);
    for (Part& part : product) {
      for (double& x : part) x = -x;
    }
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

  static double dot(const Parts& x, const Parts& y) {
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

  static void add_times(Parts& to, double factor, const Parts& from) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t s = 0; s < to[k].size(); ++s) to[k][s] += factor * from[k][s];
    }
  }

 private:
  // Adds weighted values to the slices of the other two axes, and returns their sum.
  double add(std::size_t begin, const double* values, double* first, double* second) const {
    const std::size_t n = shape_[2];
    const double* const w = weights_ + begin;
    const double* const v = values == nullptr ? nullptr : values + begin;
    std::array<double, kLanes> lanes{};
    const std::size_t whole = n - n % kLanes;
    const auto take = [&](std::size_t l) {
      const double x = v == nullptr ? w[l] : w[l] * v[l];
      if (first != nullptr) first[l] += x;
      second[l] += x;
      return x;
    };
    for (std::size_t l = 0; l < whole; l += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += take(l + k);
    }
    for (std::size_t l = whole; l < n; ++l) lanes[l - whole] += take(l);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }

  std::array<std::size_t, 3> shape_;
  const double* weights_;
  std::array<std::size_t, 3> sizes_{};  // of the parts
  Parts roots_;                         // 1 / sqrt(weight), by slice
};

// The binary exponent of the largest size, by which squares neither over- nor underflow.
int find_exponent(const double* values, const double* weights, std::size_t cells) {
  double largest = 0.0;
  for (std::size_t c = 0; c < cells; ++c) {
    if (weights[c] > 0.0) largest = std::max(largest, std::abs(values[c]));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

void scale_by(int exponent, double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = std::ldexp(values[i], exponent);
}

}  // namespace

std::array<std::vector<double>, 3> purify(const TableShape& shape, const double* weights,
                                          double* values) {
  const auto [a, b, c] = shape.extents;
  const std::size_t cells = a * b * c;
  Part relative(weights, weights + cells);
  scale_by(-find_exponent(weights, weights, cells), relative.data(), cells);
  const int size = find_exponent(values, relative.data(), cells);
  scale_by(-size, values, cells);
  const Normal normal(shape, relative.data());
  Parts total = normal.make();
  Part products(cells);
  Parts residual, product;
  double best = 0.0;
  std::size_t without_progress = 0;
  for (std::size_t restart = 0; restart < kMostRestarts; ++restart) {
    normal.sum_slices(values, residual);
    normal.scale(residual);
    const double mean = normal.find_largest_mean(residual);
    if (mean <= kTolerance) break;
    if (restart == 0 || mean < 0.5 * best) {
      best = mean;
      without_progress = 0;
    } else if (++without_progress == kPatience) {
      break;
    }
    Parts solution = normal.make(), direction = residual;
    double square = Normal::dot(residual, residual);
    for (std::size_t step = 0; step < kMostSteps && square > 0.0; ++step) {
      normal.multiply(direction, products, product);
      const double curvature = Normal::dot(direction, product);
      if (!(curvature > 0.0)) break;
      const double length = square / curvature;
      Normal::add_times(solution, length, direction);
      Normal::add_times(residual, -length, product);
      const double next = Normal::dot(residual, residual);
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t s = 0; s < direction[k].size(); ++s) {
          direction[k][s] = residual[k][s] + next / square * direction[k][s];
        }
      }
      square = next;
      if (normal.find_largest_mean(residual) <= 0.1 * kTolerance) break;
    }
    normal.scale(solution);
    normal.subtract(solution, values);
    Normal::add_times(total, 1.0, solution);
  }
  scale_by(size, values, cells);
  for (Part& part : total) scale_by(size, part.data(), part.size());
  return total;
}

}  // namespace properboost
