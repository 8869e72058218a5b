// Shapley values of a tree: how much each feature adds to a row's prediction.
//
// A set T of features is worth the tree's prediction where only they are known.  Splits on features
// of T follow the row's code, and other splits go both ways, in proportion to the training weight
// of their children.  So an end of the tree, where a row may come to rest, is worth
//
//   v(T) = prod_k (k in T ? q_k : p_k) (c + sum_{j in T} a_j),
//
// over the features k of its path.  q_k is 1 if the row's code passes all splits on k, else 0, and
// p_k is the product of the shares of weight there.  The ends are the leaves, and the splits whose
// sets lack a code: a row with it stays there, and no weight goes there, so that p is 0.
//
// A term of a leaf's line adds b (z - m).  With the mean z of the leaf's training rows, mu, its
// part b (mu - m) in the constant c is known without the row, and a_j is b (z - mu).  A row without
// a value of j gets nothing from the term: its a_j takes the part in c away, -b (mu - m).  So the
// value of all features is the prediction of any row.
//
// Shapley values are integrals (Owen 1972): v is the corner of a function that is linear in each of
// the t_k, the probability that k is known, and
//
//   phi_i = int_0^1 dv/dt_i (t, ..., t) dt.
//
// The integrand is a polynomial, of a lower degree than there are features of the path and the
// line, so that a few points of Gauss's rule give the integral exactly.  At a point t, a feature's
// factor is f = p (1 - t) + q t.  A walk from the root carries the product P of the factors down,
// and the sum U of the ends' P (c + t sum_j a_j q_j / f_j) up (Yu et al. 2022).  An edge whose
// split is the last on i of some path adds U (q_i - p_i) / f_i to phi_i, and takes away what the
// edge above on i added for the same ends.  A term, whose feature is in its own factor, adds
// P a_j q_j p_j / f_j^2.  No quotient is large: it is at most 1 / t or 1 / (1 - t).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/gauss_legendre.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost {

// Nodes of a tree among those of others, with their values and training weights.
struct WeightedTree {
  const Tree& nodes;
  const NodeLines& lines;  // or none
  const double* values;
  const double* weights;
  std::size_t root, end;  // children are counted from the root
};

// A tree, made ready for any number of rows.
class ShapleyTree {
 public:
  static constexpr std::size_t kRows = 32;  // at a time
  using Numbers = std::array<double, kRows>;

  // Rows as a walk reads them, by the number of the feature.
  struct Rows {
    const std::array<std::uint8_t, kRows>* codes;
    const CodeSet* present;    // the codes that these rows have
    const Numbers* positions;  // NaN where there is none
    Numbers* contributions;    // are added to
  };
  // Memory of walks, which any tree may use.
  struct Scratch {
    Aligned<double> products, sums, follows;
  };

  // `number_of` has the number of each feature in Rows.
  ShapleyTree(const WeightedTree& tree, const std::vector<std::size_t>& number_of);

  // How many points the integrals need.
  std::size_t points() const noexcept { return (players_ + 1) / 2; }
  // To be called with so many points, before rows are explained.
  void set_points(const Quadrature& quadrature);
  // The value of no features.
  double baseline() const noexcept { return baseline_; }
  // An estimate of the time for a row.
  double nanoseconds() const noexcept;

  void explain(const Rows& rows, Scratch& scratch) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // An edge to a node, or to the end of rows that stay at a split.
  struct Edge {
    std::size_t level;                // from the root, whose edge is at 0 and has no feature
    std::size_t feature = 0;          // its number
    std::size_t level_above = kNone;  // the last edge on the way whose split is on the same feature
    CodeSet follows = {};             // codes that pass all splits on the feature
    double share = 1.0;               // of the weight, at this split
    double known = 1.0;               // the product of shares at all splits on the feature
    double known_above = 1.0;         // the same down to the level above
    bool is_end = false;
    double constant = 0.0;  // of an end
    std::size_t first_term = 0, last_term = 0;
    std::size_t next = 0;  // the edge after all that are below
  };
  struct Term {
    std::size_t feature;
    std::size_t level;  // of the last edge on the feature; kNone if the path has none
    double known, slope, mean, missing;
  };
  // A factor f over that of the level above is `none` where the row is not known to follow there,
  // and changes by the others where it follows above, and here.  Likewise an edge's share of a sum.
  struct EdgePoint {
    double ratio, ratio_above, ratio_here;
    double part, part_above, part_here;
  };
  struct TermPoint {
    double inverse, for_term;  // 1 / f, and p / f^2, where the row follows
  };

  void add_edges(const WeightedTree& tree, const std::vector<std::size_t>& number_of,
                 std::size_t node, Edge edge, std::vector<std::size_t>& path);
  void add_end(const WeightedTree& tree, const std::vector<std::size_t>& number_of,
               std::size_t node, Edge& edge, const std::vector<std::size_t>& path);
  bool is_skipped(const Edge& edge, const Rows& rows) const;
  void descend(std::size_t e, const Rows& rows, double* products, double* sums,
               double* follows) const;
  void rest(const Edge& edge, const Rows& rows, const double* products, double* sums,
            const double* follows) const;
  void ascend(std::size_t e, const Rows& rows, double* sums, const double* follows) const;

  std::vector<Edge> edges_;  // in the order of a walk
  std::vector<Term> terms_;
  std::vector<double> point_;
  std::vector<double> weight_;
  std::vector<EdgePoint> edge_points_;  // [edge][point]
  std::vector<TermPoint> term_points_;  // [term][point]
  std::size_t players_ = 0;             // the most features of a path and its line
  std::size_t levels_ = 0;
  double baseline_ = 0.0;
};

}  // namespace properboost
