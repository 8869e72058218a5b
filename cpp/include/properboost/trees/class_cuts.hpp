// The costs of cutting a feature's codes in two, by a criterion of two classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "properboost/histogram/cells.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

class ClassCuts {
 public:
  // Each branch weighs at least `least` (or has that curvature, if the criterion needs it), and the
  // share of the positive class rises from left to right (direction 1) or falls (-1).  Rows other
  // than those of the codes may belong to the branches as well.
  ClassCuts(const FeatureCells& feature, const Criterion& criterion, const Regularizers& r,
            double least = 0.0, int direction = 0, const Cell& beside_left = {},
            const Cell& beside_right = {})
      : feature_(feature),
        criterion_(criterion),
        regularizers_(r),
        curved_(criterion.needs_curvature()),
        least_(least),
        direction_(direction),
        beside_left_(beside_left),
        beside_right_(beside_right) {}

  bool occupied(std::size_t code) const { return feature_.occupied[code] != 0; }
  std::array<double, kMaxCodes> shares() const {
    std::array<double, kMaxCodes> shares{};
    for (std::size_t b = 0; b < feature_.width(); ++b) shares[b] = share(feature_.cells[b]);
    return shares;
  }

  // A code whose cell has no weight makes the same branches as the code before it.  (Where tables
  // are smoothed, codes without rows have some.)
  void find_costs(const CutOrder& order, double* before, double* after) const {
    std::array<std::uint16_t, kMaxCodes> cut_after;  // the number of each code's cut
    CellOfCode codes;                                // that have weight
    std::size_t cuts = 0;
    for (std::size_t i = 0; i < order.size; ++i) {
      codes[cuts] = order.codes[i];
      cuts += has_weight(feature_.cells[order.codes[i]]) ? 1 : 0;
      cut_after[i] = static_cast<std::uint16_t>(cuts);
    }
    const Cell none{};
    const Cell& missing = order.floating ? feature_.cells[order.missing] : none;
    std::array<double, kMaxCodes + 1> costs;
    before[0] = find_costs(codes.data(), cuts, missing, none, costs.data());
    for (std::size_t i = 1; i < order.size; ++i) before[i] = costs[cut_after[i - 1]];
    if (!order.floating) return;
    find_costs(codes.data(), cuts, none, missing, costs.data());
    for (std::size_t i = 0; i < order.size; ++i) after[i] = costs[cut_after[i]];
  }

 private:
  // The cells of both branches of so many cuts, the left ones first.
  class Branches {
   public:
    explicit Branches(std::size_t cuts) : cuts_(cuts) {}

    void set_left(std::size_t cut, const Cell& a, const Cell& b) { set(cut, a, b); }
    void set_right(std::size_t cut, const Cell& a, const Cell& b) { set(cuts_ + cut, a, b); }
    Cell left(std::size_t cut) const { return cell(cut); }
    Cell right(std::size_t cut) const { return cell(cuts_ + cut); }
    void find_costs(const Criterion& criterion, const Regularizers& r, double* costs) const {
      std::array<double, kMost> each;
      criterion.costs(positive_.data(), negative_.data(), curvature_.data(), 2 * cuts_, r,
                      each.data());
      for (std::size_t i = 0; i < cuts_; ++i) costs[i] = each[i] + each[cuts_ + i];
    }

   private:
    static constexpr std::size_t kMost = 2 * (kMaxCodes + 1);

    void set(std::size_t i, const Cell& a, const Cell& b) {
      positive_[i] = a.positive + b.positive;
      negative_[i] = a.negative + b.negative;
      curvature_[i] = a.curvature + b.curvature;
    }
    Cell cell(std::size_t i) const { return {positive_[i], negative_[i], curvature_[i]}; }

    const std::size_t cuts_;
    std::array<double, kMost> positive_, negative_, curvature_;
  };

  // costs[i] is what the cut after the first i codes costs, infinite where it is not allowed, and
  // the missing values belong to one of its branches.  Returns the cost of all codes on the left.
  double find_costs(const std::uint8_t* codes, std::size_t n, const Cell& missing_left,
                    const Cell& missing_right, double* costs) const {
    Branches branches(n + 1);
    Cell sum = beside_left_;
    for (std::size_t i = 0; i < n; ++i) {
      branches.set_left(i, sum, missing_left);
      sum += feature_.cells[codes[i]];
    }
    branches.set_left(n, sum, missing_left);
    sum = beside_right_;
    for (std::size_t i = n; i > 0; --i) {
      branches.set_right(i, sum, missing_right);
      sum += feature_.cells[codes[i - 1]];
    }
    branches.set_right(0, sum, missing_right);
    branches.find_costs(criterion_, regularizers_, costs);
    const double unsplit = costs[n];
    if (least_ > 0.0 || direction_ != 0) {
      for (std::size_t i = 0; i <= n; ++i) {
        if (!allows(branches.left(i), branches.right(i))) {
          costs[i] = std::numeric_limits<double>::infinity();
        }
      }
    }
    return unsplit;
  }

  // Without a branch, which would be mispredicted.
  static bool has_weight(const Cell& c) { return !(c.positive + c.negative + c.curvature == 0.0); }

  bool allows(const Cell& left, const Cell& right) const {
    if (least_ > 0.0 && !(weight(left) >= least_ && weight(right) >= least_)) return false;
    return direction_ == 0 || !(direction_ * (share(right) - share(left)) < 0.0);
  }

  // The share of the positive class, or the ratio of gradient to curvature.
  double share(const Cell& c) const {
    const double numerator = curved_ ? c.gradient() : c.positive;
    const double denominator = weight(c);
    return denominator > 0.0 ? numerator / denominator : 0.0;
  }

  double weight(const Cell& c) const { return curved_ ? c.curvature : c.weight(); }

  const FeatureCells& feature_;
  const Criterion& criterion_;
  const Regularizers& regularizers_;
  const bool curved_;
  double least_;
  int direction_;
  Cell beside_left_, beside_right_;
};

}  // namespace properboost
