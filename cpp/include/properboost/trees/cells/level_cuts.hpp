// The costs of cutting a feature's codes in two at all nodes of a level alike: the sum over nodes.
//
// A node is cut only where that lowers its own cost and its limits allow it.  Otherwise its cost
// stays the same: no node can forbid a level's cut.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/vectors.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

template <class Cells>
class LevelCuts {
 public:
  using Unit = typename Cells::Unit;

  // A node's first occupied code and its last one; the same if it has none.
  struct CodeRange {
    std::size_t first = 0, last = 0;
  };
  // Memory that features may use in turn: there are many of few codes.
  struct Memory {
    std::vector<Unit> sums;         // of the level
    std::vector<CodeRange> ranges;  // of each node, as its costs are found
    std::vector<double> reaches;
  };

  // `nodes` are the feature's sums at each node, `size` numbers each.
  LevelCuts(const Cells& cells, const FeatureBins& bins, int direction,
            const std::vector<const Unit*>& nodes, std::size_t size, Memory& memory)
      : cells_(cells),
        bins_(bins),
        direction_(direction),
        nodes_(nodes),
        memory_(memory),
        level_(cells, bins, add_up(nodes, size, memory.sums)),
        cuts_(level_.cuts({}, {}, direction)) {
    memory_.ranges.assign(nodes.size(), {});
  }
  LevelCuts(const LevelCuts&) = delete;
  LevelCuts& operator=(const LevelCuts&) = delete;

  // Categories are ordered by the sums of all nodes.
  bool occupied(std::size_t code) const { return cuts_.occupied(code); }
  std::array<double, kMaxCodes> shares() const { return cuts_.shares(); }

  // See properboost::find_split.
  void find_costs(const CutOrder& order, double* before, double* after) const {
    const std::size_t n = count(order), n_before = count_before(order);
    std::array<double, 2 * kMaxCodes> costs, node_costs;
    std::fill_n(costs.begin(), n, 0.0);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      find_costs_at(k, order, node_costs.data());
      vectorized([n, all = costs.data(), at_node = node_costs.data()] {
        double* const __restrict to = all;
        const double* const __restrict from = at_node;
        const double unsplit = from[0];
        for (std::size_t i = 0; i < n; ++i) to[i] += unsplit - saving(unsplit, from[i]);
      });
    }
    std::copy_n(costs.begin(), n_before, before);
    std::copy_n(costs.begin() + n_before, n - n_before, after);
  }

  // The saving at each node of a cut, by its place among the costs; 0 where the node is not cut.
  std::vector<double> find_savings(std::size_t cut) const {
    const CutOrder order(bins_, *this);
    std::array<double, 2 * kMaxCodes> node_costs;
    std::vector<double> savings(nodes_.size());
    for (std::size_t k = 0; k < savings.size(); ++k) {
      find_costs_at(k, order, node_costs.data());
      savings[k] = saving(node_costs[0], node_costs[cut]);
    }
    return savings;
  }

  // The share of the level's cuts that divide each node's rows, once their costs were found: of
  // ordered codes those inside its range, missing values being the last; of categories all, if
  // there is more than one.
  const std::vector<double>& find_reaches() const {
    std::array<std::size_t, kMaxCodes> places;  // among the level's occupied codes
    std::size_t codes = 0;
    for (std::size_t b = 0; b < width(); ++b) {
      places[b] = codes;
      codes += occupied(b) ? 1 : 0;
    }
    std::vector<double>& reaches = memory_.reaches;
    reaches.assign(nodes_.size(), 0.0);
    for (std::size_t k = 0; k < reaches.size(); ++k) {
      const auto [first, last] = memory_.ranges[k];
      if (first >= last) continue;
      reaches[k] = bins_.ordered() ? static_cast<double>(places[last] - places[first]) /
                                         static_cast<double>(codes - 1)
                                   : 1.0;
    }
    return reaches;
  }

 private:
  // The sums of all nodes; those of a lone node are there already.
  static const Unit* add_up(const std::vector<const Unit*>& nodes, std::size_t size,
                            std::vector<Unit>& sums) {
    if (nodes.size() == 1) return nodes[0];
    sums.assign(size, Unit{});
    for (const Unit* const node : nodes) add_sums(sums.data(), node, size);
    return sums.data();
  }

  static std::size_t count_before(const CutOrder& order) {
    return std::max<std::size_t>(order.size, 1);
  }
  static std::size_t count(const CutOrder& order) {
    return count_before(order) + (order.floating ? order.size : 0);
  }

  static double saving(double unsplit, double cost) {
    return unsplit - cost > kTie * std::abs(cost) ? unsplit - cost : 0.0;
  }

  void find_costs_at(std::size_t k, const CutOrder& order, double* costs) const {
    const auto find = [&](const auto& cuts) {
      cuts.find_costs(order, costs, costs + count_before(order));
      memory_.ranges[k] = find_range(cuts);
    };
    if (nodes_.size() == 1) {
      find(cuts_);
    } else {
      find(typename Cells::Feature(cells_, bins_, nodes_[k]).cuts({}, {}, direction_));
    }
  }

  template <class Cuts>
  CodeRange find_range(const Cuts& cuts) const {
    CodeRange range{0, width() - 1};
    while (range.first < range.last && !cuts.occupied(range.first)) ++range.first;
    while (range.first < range.last && !cuts.occupied(range.last)) --range.last;
    return range;
  }

  std::size_t width() const { return static_cast<std::size_t>(bins_.width()); }

  const Cells& cells_;
  const FeatureBins& bins_;
  int direction_;
  const std::vector<const Unit*>& nodes_;
  Memory& memory_;
  typename Cells::Feature level_;
  decltype(level_.cuts({}, {}, 0)) cuts_;
};

}  // namespace properboost
