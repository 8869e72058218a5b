// Several classes in the cells of a tree that they share: the cost is the sum of the classes'.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/cells/cut_scan.hpp"
#include "properboost/trees/cells/joint_adder.hpp"
#include "properboost/trees/cells/joint_units.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {

class JointCells {
 public:
  using Adder = JointAdder;
  using Unit = Adder::Unit;
  using Total = std::vector<Unit>;  // of a node's rows: the numbers of a row; may be empty

  JointCells(const Criterion& criterion, const Regularizers& r, const TreeLimits& limits,
             const JointUnits& units, const std::vector<RowWeights>& classes, const Slots& slots)
      : criterion_(criterion),
        regularizers_(r),
        limits_(limits),
        units_(units),
        classes_(classes),
        slots_(slots) {}

  Total total(const Unit* sums, std::size_t width) const {
    Total total(stride(), 0);
    vectorized([=, size = stride(), to = total.data()] {
      using Numbers = Wholes<JointUnits::kTogether, Unit>;  // which stay in a register
      for (std::size_t j = 0; j < size; j += JointUnits::kTogether) {
        Numbers sum{}, more;
        for (std::size_t b = 0; b < width; ++b) {
          std::memcpy(&more, sums + b * size + j, sizeof more);
          sum += more;
        }
        std::memcpy(to + j, &sum, sizeof sum);
      }
    });
    return total;
  }
  // The code that a feature's j-th number belongs to.
  std::size_t code_at(std::size_t j, std::size_t /*width*/) const { return j / stride(); }
  static void add(Total& to, const Total& rows) {
    add_numbers(to.data(), rows.data(), rows.size());
  }
  // Half the sum over the classes: with two, whose weights are the same, it is that of either.
  double weight(const Total& total) const {
    const auto first = total.begin() + static_cast<std::ptrdiff_t>(units_.classes());
    double sum = 0.0;
    for (auto it = first; it != total.end(); ++it) sum += static_cast<double>(*it);
    return 0.5 * units_.beside_unit() * sum;
  }
  double weight_of_branch(const Total& total) const { return weight(total); }
  double cost(const Total& total) const {
    CutCost cut;
    evaluate(total.data(), total.data(), 1, &cut);  // nothing is on the right
    return cut.cost;
  }
  static bool may_be_split(const Total& /*total*/) { return true; }

  // The squares of the rows' gradients at a node: of each class's own rows, then of the others.
  using Squares = std::vector<std::int64_t>;
  Squares squares(const LeafRows& rows, std::size_t node, Team& team) const {
    if (classes_.front().is_soft()) return squares_by_shares(rows, node, team);
    const std::size_t n = classes_.size();
    const RowSampleWeights weight = classes_.front().sample_weight;
    const auto add = [&](const std::uint32_t* row, std::size_t count, std::size_t s, Squares& to) {
      const std::size_t segment_class = slots_.of_segment[s];
      Squares sums(n, 0);
      vectorized([=, &units = units_, to_sums = sums.data()] {
        std::int64_t* const __restrict sum = to_sums;  // copies, which nothing written could change
        const std::size_t classes = n;
        if (weight.all_ones()) {
          for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t* const __restrict gradient = units.row(row[i]);
            for (std::size_t k = 0; k < classes; ++k) {
              sum[k] += static_cast<std::int64_t>(gradient[k]) * gradient[k];
            }
          }
          return;
        }
        for (std::size_t i = 0; i < count; ++i) {
          const std::int32_t* const __restrict gradient = units.row(row[i]);
          const double once = 1.0 / weight.stored(row[i]);  // a weight of 2 is two such rows
          for (std::size_t k = 0; k < classes; ++k) {
            const auto g = static_cast<double>(gradient[k]);
            sum[k] += std::llround(g * g * once);
          }
        }
      });
      for (std::size_t k = 0; k < n; ++k) to[k == segment_class ? k : n + k] += sums[k];
    };
    return rows.sum(node, Squares(2 * n, 0), 0.5 * static_cast<double>(n), add, team);
  }

  // Whether those of a node are a share of the root's.
  static constexpr bool spreads_squares() noexcept { return false; }
  static Squares spread(const Squares& root, const Total& /*all*/, const Total& /*node*/) {
    return root;
  }

  // Whether the cost bends as much wherever it is, as those that divide by the curvature do.
  bool is_quadratic() const noexcept { return criterion_.needs_curvature(); }
  // The saving by chance of one cut of a node's rows, in all classes.  If all K classes save alike,
  // K - 1 are free.
  ChanceSaving saving_by_chance(const Total& total, const Squares& of_rows,
                                double categories) const {
    const std::size_t n = classes_.size();
    const double unit = units_.gradient_unit() * units_.gradient_unit();
    std::vector<double> positive(n), negative(n), curvature(n);
    unpack(
        1, [sums = total.data()](std::size_t, std::size_t j) { return sums[j]; }, positive.data(),
        negative.data(), curvature.data());
    double sum = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const Cell cell{positive[k], negative[k], curvature[k]};
      const auto value = [&](std::size_t j) { return unit * static_cast<double>(of_rows[j]); };
      const double saving =
          std::max(0.0, properboost::saving_by_chance(criterion_, cell, value(k), value(n + k),
                                                      regularizers_, categories));
      sum += saving;
      squares += saving * saving;
    }
    const double alike = squares > 0.0 ? sum * sum / squares : 0.0;
    return {sum, std::max(1.0, alike * static_cast<double>(n - 1) / static_cast<double>(n))};
  }

  // The cells of a feature's codes.
  class Feature {
   public:
    Feature(const JointCells& cells, const FeatureBins& bins, const Unit* sums)
        : cells_(cells), bins_(bins), sums_(sums) {
      const auto codes = static_cast<std::size_t>(bins.width());
      vectorized([=, size = cells.stride(), to = occupied_.data()] {
        bool* const __restrict occupied = to;  // copies, which nothing written could change
        const Unit* const __restrict numbers = sums;
        const std::size_t stride = size, width = codes;
        for (std::size_t b = 0; b < width; ++b) {
          Unit any = 0;
          for (std::size_t j = 0; j < stride; ++j) any |= numbers[b * stride + j];
          occupied[b] = any != 0;
        }
      });
    }
    Feature(const Feature&) = delete;
    Feature& operator=(const Feature&) = delete;

    // The cuts of its codes, and the other sums of the left branch and of both.
    struct Cuts {
      const Feature& feature;
      Total left, all;

      bool occupied(std::size_t code) const { return feature.occupied_[code]; }
      std::array<double, kMaxCodes> shares() const { return feature.project(); }
      void find_costs(const CutOrder& order, double* before, double* after) const {
        const JointCells& cells = feature.cells_;
        const auto evaluate = [&](const Unit* lefts, std::size_t n, CutCost* out) {
          cells.evaluate(lefts, all.data(), n, out);
        };
        CutScan(feature.sums_, cells.stride(), left, cells.limits_.fields.min_child_weight,
                evaluate)
            .find_costs(order, [&](std::size_t code) { return occupied(code); }, before, after);
      }
    };
    // There are no directions.
    Cuts cuts(const Total& beside_left, const Total& beside_right, int /*direction*/) const {
      Cuts cuts{*this, beside_left, cells_.total(sums_, static_cast<std::size_t>(bins_.width()))};
      cuts.left.resize(cells_.stride(), 0);
      for (const Total* beside : {&beside_left, &beside_right}) {
        if (!beside->empty()) JointCells::add(cuts.all, *beside);
      }
      return cuts;
    }

   private:
    // Orders categories along the first principal component of their mean gradients, as
    // Coppersmith, Hong and Hosking (1999) order theirs along that of class probabilities.  With
    // two classes this is their order by share.
    std::array<double, kMaxCodes> project() const {
      std::array<double, kMaxCodes> shares{};
      const auto width = static_cast<std::size_t>(bins_.width());
      const std::size_t classes = cells_.units_.classes();
      std::vector<double> weight(width, 0.0), point(width * classes, 0.0), mean(classes, 0.0);
      double total = 0.0;
      for (std::size_t b = 0; b < width; ++b) {
        const Unit* const cell = sums_ + b * cells_.stride();
        for (std::size_t k = 0; k < classes; ++k) {
          weight[b] += static_cast<double>(cell[classes + k]);
          mean[k] += static_cast<double>(cell[k]);
        }
        total += weight[b];
        for (std::size_t k = 0; weight[b] > 0.0 && k < classes; ++k) {
          point[b * classes + k] = static_cast<double>(cell[k]) / weight[b];
        }
      }
      if (!(total > 0.0)) return shares;
      std::vector<double> axis(classes, 0.0);
      double farthest = 0.0;
      for (std::size_t b = 0; b < width; ++b) {
        if (!(weight[b] > 0.0)) continue;
        double distance = 0.0;
        for (std::size_t k = 0; k < classes; ++k) {
          double& x = point[b * classes + k];
          x -= mean[k] / total;
          distance += weight[b] * x * x;
        }
        if (distance <= farthest) continue;
        farthest = distance;
        std::copy_n(&point[b * classes], classes, axis.begin());
      }
      const auto project_on_axis = [&] {
        for (std::size_t b = 0; b < width; ++b) {
          shares[b] = 0.0;
          for (std::size_t k = 0; k < classes; ++k) {
            shares[b] += point[b * classes + k] * axis[k];
          }
        }
      };
      constexpr int kSteps = 40;  // of the power method, from the category that is farthest out
      for (int step = 0; step < kSteps; ++step) {
        project_on_axis();
        std::fill(axis.begin(), axis.end(), 0.0);
        double length = 0.0;
        for (std::size_t k = 0; k < classes; ++k) {
          for (std::size_t b = 0; b < width; ++b) {
            axis[k] += weight[b] * shares[b] * point[b * classes + k];
          }
          length += axis[k] * axis[k];
        }
        if (!(length > 0.0)) break;
        for (double& x : axis) x /= std::sqrt(length);
      }
      project_on_axis();
      return shares;
    }

    const JointCells& cells_;
    const FeatureBins& bins_;
    const Unit* sums_;
    std::array<bool, kMaxCodes> occupied_;
  };

 private:
  // The same of rows that are of each class by a share t: the squares of what they would add if
  // they were wholly of the class, 1 - p, or of another, p, weighted by t and by the rest.  A
  // gradient is t - p.
  Squares squares_by_shares(const LeafRows& rows, std::size_t node, Team& team) const {
    const std::size_t n = classes_.size();
    const double unit = units_.gradient_unit(), per_unit = 1.0 / (unit * unit);
    const auto add = [&](const std::uint32_t* row, std::size_t count, std::size_t, Squares& to) {
      vectorized(
          [=, weight = classes_.front().sample_weight, &units = units_, sum = to.data()](auto set) {
            // Copies, which nothing written could change.
            const std::size_t classes = n;
            const double scale_of_one = per_unit, gradient_unit = unit;
            std::int64_t* const __restrict class_sum = sum;
            std::int64_t* const __restrict other_sum = sum + classes;
            for (std::size_t i = 0; i < count; ++i) {
              const std::int32_t* const __restrict gradient = units.row(row[i]);
              const float* const __restrict share = units.shares(row[i]);
              const double s = weight[row[i]];
              const double scale = s * scale_of_one, once = gradient_unit / s;
              for (std::size_t k = 0; k < classes; ++k) {
                const auto t = static_cast<double>(share[k]);
                const double p = t - once * static_cast<double>(gradient[k]);
                const double of_class = scale * t * (1.0 - p) * (1.0 - p);
                const double of_others = scale * (1.0 - t) * p * p;
                class_sum[k] += whole_part(of_class + 0.5, set);
                other_sum[k] += whole_part(of_others + 0.5, set);
              }
            }
          });
    };
    return rows.sum(node, Squares(2 * n, 0), static_cast<double>(n), add, team);
  }
  std::size_t stride() const noexcept { return units_.stride(); }
  static void add_numbers(Unit* to, const Unit* from, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) to[j] += from[j];
  }

  // Computes the costs of n cuts from the sums of their left branches, and those of both.
  void evaluate(const Unit* lefts, const Unit* all, std::size_t n, CutCost* out) const {
    const std::size_t classes = units_.classes();
    const std::size_t together = std::max<std::size_t>(1, kTogether / classes);  // cuts
    static thread_local std::vector<double> memory;
    memory.resize(4 * together * classes);
    double* const positive = memory.data();
    double* const negative = positive + together * classes;
    double* const curvature = negative + together * classes;
    double* const costs = curvature + together * classes;
    for (std::size_t first = 0; first < n; first += together) {
      const std::size_t cuts = std::min(together, n - first);
      for (const bool on_left : {true, false}) {
        const auto unpack_branch = [&](const auto& sum_of) {
          unpack(cuts, sum_of, positive, negative, curvature);
        };
        const Unit* const left = lefts + first * stride();
        const std::size_t row = stride();
        if (on_left) {
          unpack_branch([=](std::size_t i, std::size_t j) { return left[i * row + j]; });
        } else {
          unpack_branch([=](std::size_t i, std::size_t j) { return all[j] - left[i * row + j]; });
        }
        criterion_.costs(positive, negative, curvature, cuts * classes, regularizers_, costs);
        for (std::size_t i = 0; i < cuts; ++i) {
          double cost = 0.0;
          std::int64_t beside = 0;
          const Unit* const left = lefts + (first + i) * stride() + classes;
          for (std::size_t k = 0; k < classes; ++k) {
            cost += costs[i * classes + k];
            beside += on_left ? left[k] : all[classes + k] - left[k];
          }
          const double weight = 0.5 * units_.beside_unit() * static_cast<double>(beside);
          CutCost& cut = out[first + i];
          cut = on_left ? CutCost{cost, weight}
                        : CutCost{cut.cost + cost, std::min(cut.lighter, weight)};
        }
      }
    }
  }

  // The classes' cells of n cuts' branches, of which sum_of(i, j) is the j-th number.  A criterion
  // that uses curvatures needs no more of the weights than their difference.
  template <class SumOf>
  void unpack(std::size_t n, const SumOf& sum_of, double* positive, double* negative,
              double* curvature) const {
    const double unit = units_.gradient_unit();
    if (criterion_.needs_curvature()) {
      vectorized([=, classes = units_.classes(), beside_unit = units_.beside_unit()] {
        for (std::size_t i = 0, to = 0; i < n; ++i) {
          for (std::size_t k = 0; k < classes; ++k, ++to) {
            positive[to] = unit * static_cast<double>(sum_of(i, k));
            negative[to] = 0.0;
            curvature[to] = beside_unit * static_cast<double>(sum_of(i, classes + k));
          }
        }
      });
      return;
    }
    vectorized([=, classes = units_.classes()] {
      for (std::size_t i = 0, to = 0; i < n; ++i) {
        for (std::size_t k = 0; k < classes; ++k, ++to) {
          const auto gradient = static_cast<double>(sum_of(i, k));
          const auto weight = static_cast<double>(sum_of(i, classes + k));
          positive[to] = std::max(0.5 * unit * (weight + gradient), 0.0);
          negative[to] = std::max(0.5 * unit * (weight - gradient), 0.0);
          curvature[to] = 0.0;
        }
      }
    });
  }

  static constexpr std::size_t kTogether = 256;  // cells whose costs are found at once

  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const TreeLimits& limits_;
  const JointUnits& units_;
  const std::vector<RowWeights>& classes_;
  const Slots& slots_;
};

}  // namespace properboost
