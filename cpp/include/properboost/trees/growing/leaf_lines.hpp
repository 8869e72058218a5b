// Lines in leaves: in each leaf of a tree a small ridge model in the numeric features of its path.
//
// A row at a leaf gets the leaf's value v and, for each term (f, b, m) of its line, b (z - m),
// where z in [0, 1] is the place of its bin's mean of feature f (FeatureBins::positions) and m the
// mean of z over the leaf's rows.  Where the row has no value of f it gets v alone: it counts as
// one at m. So v stays the mean of the leaf, and nothing extrapolates beyond the means of the outer
// bins.
//
// The slopes are one Newton step about v.  With a row's slope g and curvature h of the risk, and
// the features' z - m divided by their deviations s in the leaf (by h), as the columns of X, they
// are
//
//   s b = (X' diag(h) X + k I)^-1 X' g,
//
// in which v has no part, as columns have a mean of 0.  The penalty k is l2 rows of mean curvature:
// l2 sum(h^2) / sum(h), so that n rows of equal weight keep n / (n + l2) of a lone slope.  (Rows
// that are few in effect, sum(h)^2 / sum(h^2), are shrunk as the few that they are.)
//
// The response defines h and g (Response::line_twin).  For `newton` they are those of the loss.
// For `real` they are those of the exponential loss about v, which v minimises: the weights w of
// the leaf's rows become h = w e^(-y v), by which both classes weigh the same, and g = y h.  The
// slopes of `real` are therefore a least squares fit of the labels y, by weights for which v is 0.
// Where the classes in a leaf are Gaussian of one covariance S, half their log-ratio is linear with
// slopes S^-1 (mu+ - mu-) / 2; this step has the same direction, and is 1 + D^2 / 4 times shorter
// at a distance D^2 = (mu+ - mu-)' S^-1 (mu+ - mu-).
//
// Lines make no move that a cell's value may not make: the most that a line adds to its leaf's
// value, over the codes that can come there, is cut to the largest scaled margin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/packed_codes.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/trees/cells/row_units.hpp"
#include "properboost/trees/growing/leaf_rows.hpp"
#include "properboost/trees/limits.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/slots.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

class AllReduce;
class Team;

// The lines fitted to a tree.
struct FittedLines {
  NodeLines lines;
  double slope = 0.0;    // of the risk along all lines: the sum of weight, label and line
  double largest = 0.0;  // size of a row's sum of its leaf's value and line
};

// Fits the lines of one tree, whose rows these are, for one class or for several in turn.
class LeafLines {
 public:
  // All arguments but the tree must outlive it.  `total` is the sample weight of all rows, by which
  // the tree's cells are weighed.
  LeafLines(const Tree& tree, const LeafRows& rows, const PackedCodes& packed, const Bins& bins,
            const TreeLimits& limits, RowSampleWeights sample_weight, double total, Team& team);

  // The bytes for `rows` rows.
  static std::size_t bytes(std::size_t rows) noexcept {
    return rows * kMost * (sizeof(std::uint8_t) + sizeof(double));
  }

  // The tree has the same nodes, weighed by the two classes of the slots; `values` has the value of
  // each node.
  FittedLines fit(const Tree& tree, const Slots& slots, const RowWeights& weights,
                  const Response& response, const Regularizers& r,
                  const std::vector<double>& values) const;

  // Writes the values of fitted lines for all rows, which are at these nodes.
  void evaluate(const NodeLines& lines, const std::uint8_t* nodes, std::size_t rows,
                float* out) const;

 private:
  static constexpr std::size_t kMost = 4;     // features in a leaf's line
  static constexpr double kLeastRows = 10.0;  // effective rows of a leaf that has a line
  static constexpr std::size_t kProducts = kMost * (kMost + 1) / 2;

  // A leaf whose path has numeric features: the candidate terms.
  struct Leaf {
    std::size_t node;
    std::size_t terms = 0;
    std::array<std::size_t, kMost> feature{};
    std::array<double, kMost> low{}, high{};  // positions that can come here
    std::array<bool, kMost> may_miss{};
  };
  // A row block of a leaf.
  struct Task {
    std::size_t leaf, segment, begin, end;
  };
  // The units of the sums; curvatures are the rows' own, or their weights.
  struct Units {
    TermUnits curvature, squares, gradient;
  };
  // Sums by sample weight.
  struct Samples {
    std::array<std::int64_t, kMost> present{}, position{};

    void operator+=(const Samples& other);
  };
  struct Means {
    std::int64_t weight = 0, squares = 0;
    std::array<std::int64_t, kMost> present{}, position{};
    Samples sample;

    void operator+=(const Means& other);
    void add_to(AllReduce& all_reduce);
  };
  struct Products {
    std::array<std::int64_t, kMost> gradient{};
    std::array<std::int64_t, kProducts> curvature{};

    void operator+=(const Products& other);
    void add_to(AllReduce& all_reduce);
  };
  // Those of the negative class, and of the positive.
  template <class Sums>
  using OfClasses = std::array<Sums, 2>;
  // A leaf's rows, those of both classes as the twin has them: how much they weigh, the sum of
  // their squares, and the mean of each term.
  struct Balance {
    LineTwin twin;
    double weight = 0.0, squares = 0.0;
    std::array<double, kMost> center{};
    std::array<double, kMost> mean{};  // by sample weight, where rows without a value are at center
  };
  // The equations of a leaf's slopes.
  struct Equations {
    std::array<double, kMost> slope{}, gradient{};  // of the twin, and of the risk
    std::array<double, kProducts> curvature{};
  };
  // The slopes of the terms that vary in a leaf, which ascend; none if it has no line.
  struct Line {
    std::size_t terms = 0;
    std::array<std::size_t, kMost> term{};
    std::array<double, kMost> slope{};
  };

  void find_leaves(const Tree& tree);
  void gather();
  void add_up_samples(RowSampleWeights sample_weight);
  // The tasks, of which neighbours in a leaf are one if their segments are alike: few if a leaf's
  // rows are of many segments.
  template <class AreAlike>
  std::vector<Task> join_tasks(const AreAlike& are_alike) const;
  Means sum_means(const Task& task, const RowWeights& weights, bool needs_curvature,
                  const Units& units) const;
  Products sum_products(const Task& task, const RowWeights& weights, bool needs_curvature,
                        const Units& units, const std::array<double, kMost>& centers) const;
  template <class WeightOf>
  static void read_strip(const std::uint32_t* row, std::size_t n, const WeightOf& weight_of,
                         double* to);
  static std::size_t class_of(const Slots& slots, std::size_t segment);
  // The sums of each leaf: those of its tasks, sum_task(task, weights), added up.  Rows with soft
  // labels have those of both labels.
  template <class Sums, class SumTask>
  std::vector<OfClasses<Sums>> sum_by_leaf(const std::vector<Task>& tasks, const Slots& slots,
                                           const RowWeights& weights, double ns_a_row,
                                           const SumTask& sum_task) const;
  // Adds those of peers.
  template <class Sums>
  void all_reduce(std::vector<OfClasses<Sums>>& leaves) const;
  // The units that no sum over all processes' rows exceeds.
  Units find_units(const RowWeights& weights, bool needs_curvature) const;
  // `sample` is the leaf's sample weight.
  Balance balance(const Leaf& leaf, const LineTwin& twin, const OfClasses<Means>& means,
                  double sample, const Units& units) const;
  static Equations set_up(const Leaf& leaf, const LineTwin& twin,
                          const OfClasses<Products>& products, const Units& units);
  Line solve_ridge(const Leaf& leaf, const Balance& balance, const Equations& equations) const;
  // Adds a leaf's line, if it has one, cut to the range of a cell's value.
  void add_line(const Leaf& leaf, const Balance& balance, const Equations& equations,
                const Regularizers& r, double value, FittedLines& fitted) const;
  const std::uint8_t* codes(const Task& task) const { return codes_.data() + task.begin * kMost; }
  // The positions of rows of a term, by their places.
  const double* positions(std::size_t place, std::size_t term) const {
    return positions_.data() + term * (positions_.size() / kMost) + place;
  }
  double* positions(std::size_t place, std::size_t term) {
    return positions_.data() + term * (positions_.size() / kMost) + place;
  }

  const LeafRows& rows_;
  const PackedCodes& packed_;
  const Bins& bins_;
  const TreeLimits& limits_;
  Team& team_;
  std::vector<Leaf> leaves_;
  std::vector<Task> tasks_;
  FixedPoint sample_units_;
  std::vector<Samples> samples_;  // of each task
  Aligned<std::uint8_t> codes_;   // [place of a row][term]
  Aligned<double> positions_;     // [term][place of a row]; NaN if it is missing
};

}  // namespace properboost
