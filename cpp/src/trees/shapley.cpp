#include "properboost/trees/shapley.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "properboost/core/instruction_set.hpp"

namespace properboost {
namespace {

constexpr std::size_t kRows = ShapleyTree::kRows;

// The share of a split's weight that goes left: a half where there is none.
double share_left(const double* weights, std::size_t left) {
  const double both = weights[left] + weights[left + 1];
  return both > 0.0 && std::isfinite(both) ? weights[left] / both : 0.5;
}

CodeSet both_of(const CodeSet& a, const CodeSet& b) {
  CodeSet both;
  for (std::size_t w = 0; w < both.bits.size(); ++w) both.bits[w] = a.bits[w] & b.bits[w];
  return both;
}

CodeSet neither_of(const CodeSet& a, const CodeSet& b) {
  CodeSet neither;
  for (std::size_t w = 0; w < neither.bits.size(); ++w) neither.bits[w] = ~(a.bits[w] | b.bits[w]);
  return neither;
}

bool is_empty(const CodeSet& set) {
  return std::all_of(set.bits.begin(), set.bits.end(),
                     [](std::uint64_t word) { return word == 0; });
}

}  // namespace

ShapleyTree::ShapleyTree(const WeightedTree& tree, const std::vector<std::size_t>& number_of) {
  std::vector<std::size_t> path;
  add_edges(tree, number_of, tree.root, Edge{0}, path);
}

void ShapleyTree::add_edges(const WeightedTree& tree, const std::vector<std::size_t>& number_of,
                            std::size_t node, Edge edge, std::vector<std::size_t>& path) {
  const std::size_t at = edges_.size();
  levels_ = std::max(levels_, edge.level + 1);
  const bool is_leaf = tree.nodes.is_leaf(node);
  if (is_leaf) add_end(tree, number_of, node, edge, path);
  edges_.push_back(edge);
  path.push_back(at);
  if (!is_leaf) {
    const auto f = static_cast<std::size_t>(tree.nodes.feature[node]);
    const std::size_t left = tree.root + static_cast<std::size_t>(tree.nodes.left[node]);
    Edge below{edge.level + 1, number_of[f]};
    below.follows.bits.fill(~std::uint64_t{0});
    for (const std::size_t e : path) {
      if (edges_[e].level == 0 || edges_[e].feature != below.feature) continue;
      below.level_above = edges_[e].level;
      below.known_above = edges_[e].known;
      below.follows = edges_[e].follows;
    }
    const auto make = [&](const CodeSet& codes, double share) {
      Edge made = below;
      made.follows = both_of(below.follows, codes);
      made.share = share;
      made.known = below.known_above * share;
      return made;
    };
    const CodeSet& goes_left = tree.nodes.goes_left[node];
    // Left comes first in Tree::find_node, too.
    const CodeSet goes_right =
        both_of(tree.nodes.goes_right[node], neither_of(goes_left, CodeSet{}));
    const double share = share_left(tree.weights, left);
    add_edges(tree, number_of, left, make(goes_left, share), path);
    add_edges(tree, number_of, left + 1, make(goes_right, 1.0 - share), path);
    Edge stays = make(neither_of(goes_left, goes_right), 0.0);
    if (!is_empty(stays.follows)) {
      levels_ = std::max(levels_, stays.level + 1);
      edges_.push_back(stays);
      path.push_back(edges_.size() - 1);
      add_end(tree, number_of, node, edges_.back(), path);
      path.pop_back();
      edges_.back().next = edges_.size();
    }
  }
  path.pop_back();
  edges_[at].next = edges_.size();
}

// The path has the edges above an end, and perhaps its own.
void ShapleyTree::add_end(const WeightedTree& tree, const std::vector<std::size_t>& number_of,
                          std::size_t node, Edge& edge, const std::vector<std::size_t>& path) {
  std::vector<Edge> way;
  for (const std::size_t e : path) way.push_back(edges_[e]);
  if (way.empty() || way.back().level < edge.level) way.push_back(edge);
  // The features of the way: the last edge on each.
  std::vector<Edge> last;
  double weight = 1.0;
  for (const Edge& on_way : way) {
    weight *= on_way.share;
    if (on_way.level == 0) continue;
    const auto same = std::find_if(last.begin(), last.end(), [&](const Edge& other) {
      return other.feature == on_way.feature;
    });
    if (same == last.end()) {
      last.push_back(on_way);
    } else {
      *same = on_way;
    }
  }
  std::size_t players = last.size();
  edge.is_end = true;
  edge.constant = tree.values[node];
  edge.first_term = edge.last_term = terms_.size();
  if (!tree.lines.empty()) {
    for (std::size_t t = tree.lines.begin(node); t < tree.lines.end(node); ++t) {
      const std::size_t feature = number_of[static_cast<std::size_t>(tree.lines.feature[t])];
      const double slope = tree.lines.slope[t], mean = tree.lines.mean[t];
      const double part = slope * (mean - tree.lines.center[t]);
      Term term{feature, kNone, 1.0, slope, mean, -part};
      for (const Edge& on_way : last) {
        if (on_way.feature != feature) continue;
        term.level = on_way.level;
        term.known = on_way.known;
      }
      edge.constant += part;
      terms_.push_back(term);
      players += term.level == kNone ? 1 : 0;
    }
    edge.last_term = terms_.size();
  }
  players_ = std::max(players_, players);
  baseline_ += weight * edge.constant;
}

void ShapleyTree::set_points(const Quadrature& quadrature) {
  point_ = quadrature.points;
  weight_ = quadrature.weights;
  edge_points_.clear();
  for (const Edge& edge : edges_) {
    const double p = edge.known, above = edge.known_above;
    for (const double t : point_) {
      const double without = p * (1.0 - t), with = without + t;
      const double part_with = (1.0 - p) / with, part_without = -1.0 / (1.0 - t);
      if (edge.level_above == kNone) {
        edge_points_.push_back({without, 0.0, t, part_without, 0.0, part_with - part_without});
        continue;
      }
      const double with_above = above * (1.0 - t) + t;
      const double ratio_above = without / with_above - edge.share;
      edge_points_.push_back({edge.share, ratio_above, t / with_above, 0.0,
                              part_without - (1.0 - above) / with_above, part_with - part_without});
    }
  }
  term_points_.clear();
  for (const Term& term : terms_) {
    for (const double t : point_) {
      const double inverse = term.level == kNone ? 1.0 : 1.0 / (term.known * (1.0 - t) + t);
      term_points_.push_back({inverse, term.known * inverse * inverse});
    }
  }
}

double ShapleyTree::nanoseconds() const noexcept {
  return 1.5 * static_cast<double>(edges_.size() * (1 + point_.size()));
}

// Whether an edge is of no use: no row follows it, and no weight does.
bool ShapleyTree::is_skipped(const Edge& edge, const Rows& rows) const {
  if (edge.known > 0.0 || edge.level == 0) return false;
  return is_empty(both_of(edge.follows, rows.present[edge.feature]));
}

void ShapleyTree::descend(std::size_t e, const Rows& rows, double* products, double* sums,
                          double* follows) const {
  const Edge& edge = edges_[e];
  const std::size_t points = point_.size(), size = points * kRows;
  double* const product = products + edge.level * size;
  if (edge.level == 0) {
    for (std::size_t q = 0; q < points; ++q) std::fill_n(product + q * kRows, kRows, weight_[q]);
  } else {
    double* __restrict const here = follows + edge.level * kRows;
    const std::uint8_t* const code = rows.codes[edge.feature].data();
    for (std::size_t i = 0; i < kRows; ++i) here[i] = edge.follows.has(code[i]) ? 1.0 : 0.0;
    const double* const before = product - size;
    const EdgePoint* const at = &edge_points_[e * points];
    const bool is_first = edge.level_above == kNone;
    const double* const above = is_first ? here : follows + edge.level_above * kRows;
    for (std::size_t q = 0; q < points; ++q) {
      double* __restrict const to = product + q * kRows;
      const double* const from = before + q * kRows;
      const EdgePoint point = at[q];
      if (is_first) {
        for (std::size_t i = 0; i < kRows; ++i) {
          to[i] = from[i] * (point.ratio + here[i] * point.ratio_here);
        }
      } else {
        for (std::size_t i = 0; i < kRows; ++i) {
          to[i] =
              from[i] * (point.ratio + (above[i] * point.ratio_above + here[i] * point.ratio_here));
        }
      }
    }
  }
  if (edge.is_end) {
    rest(edge, rows, product, sums + edge.level * size, follows);
  } else {
    std::fill_n(sums + edge.level * size, size, 0.0);
  }
}

void ShapleyTree::rest(const Edge& edge, const Rows& rows, const double* product, double* sum,
                       const double* follows) const {
  const std::size_t points = point_.size();
  if (edge.first_term == edge.last_term) {
    for (std::size_t k = 0; k < points * kRows; ++k) sum[k] = product[k] * edge.constant;
    return;
  }
  // First the sums over the terms, then the sums of the ends.
  std::fill_n(sum, points * kRows, 0.0);
  for (std::size_t k = edge.first_term; k < edge.last_term; ++k) {
    const Term& term = terms_[k];
    const TermPoint* const at = &term_points_[k * points];
    const double* const z = rows.positions[term.feature].data();
    double* __restrict const to = rows.contributions[term.feature].data();
    alignas(64) Numbers added;
    for (std::size_t i = 0; i < kRows; ++i) {
      added[i] = z[i] == z[i] ? term.slope * (z[i] - term.mean) : term.missing;
    }
    if (term.level != kNone) {
      const double* const here = follows + term.level * kRows;
      for (std::size_t i = 0; i < kRows; ++i) added[i] *= here[i];
    }
    for (std::size_t q = 0; q < points; ++q) {
      double* __restrict const all = sum + q * kRows;
      const double* const from = product + q * kRows;
      const TermPoint point = at[q];
      for (std::size_t i = 0; i < kRows; ++i) {
        to[i] += from[i] * (added[i] * point.for_term);
        all[i] += added[i] * point.inverse;
      }
    }
  }
  for (std::size_t q = 0; q < points; ++q) {
    double* __restrict const all = sum + q * kRows;
    const double* const from = product + q * kRows;
    const double t = point_[q], constant = edge.constant;
    for (std::size_t i = 0; i < kRows; ++i) all[i] = from[i] * (constant + t * all[i]);
  }
}

void ShapleyTree::ascend(std::size_t e, const Rows& rows, double* sums,
                         const double* follows) const {
  const Edge& edge = edges_[e];
  if (edge.level == 0) return;
  const std::size_t points = point_.size(), size = points * kRows;
  const double* const sum = sums + edge.level * size;
  double* const before = sums + (edge.level - 1) * size;
  const double* const here = follows + edge.level * kRows;
  const EdgePoint* const at = &edge_points_[e * points];
  double* __restrict const to = rows.contributions[edge.feature].data();
  const bool is_first = edge.level_above == kNone;
  const double* const above = is_first ? here : follows + edge.level_above * kRows;
  for (std::size_t q = 0; q < points; ++q) {
    const double* const from = sum + q * kRows;
    double* __restrict const all = before + q * kRows;
    const EdgePoint point = at[q];
    if (is_first) {
      for (std::size_t i = 0; i < kRows; ++i) {
        to[i] += from[i] * (point.part + here[i] * point.part_here);
        all[i] += from[i];
      }
    } else {
      for (std::size_t i = 0; i < kRows; ++i) {
        to[i] += from[i] * (above[i] * point.part_above + here[i] * point.part_here);
        all[i] += from[i];
      }
    }
  }
}

void ShapleyTree::explain(const Rows& rows, Scratch& scratch) const {
  const std::size_t size = point_.size() * kRows;
  const auto reserve = [](Aligned<double>& memory, std::size_t n) {
    if (memory.size() < n) memory.resize(n);
    return memory.data();
  };
  double* const products = reserve(scratch.products, levels_ * size);
  double* const sums = reserve(scratch.sums, levels_ * size);
  double* const follows = reserve(scratch.follows, levels_ * kRows);
  std::vector<std::size_t> open(levels_);  // the edges from the root to here
  vectorized([this, &rows, products, sums, follows, way = open.data()] {
    std::size_t depth = 0;
    for (std::size_t e = 0; e < edges_.size();) {
      for (; depth > edges_[e].level; --depth) ascend(way[depth - 1], rows, sums, follows);
      if (is_skipped(edges_[e], rows)) {
        e = edges_[e].next;
        continue;
      }
      descend(e, rows, products, sums, follows);
      way[depth++] = e++;
    }
    for (; depth > 0; --depth) ascend(way[depth - 1], rows, sums, follows);
  });
}

}  // namespace properboost
