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

#include "properboost/data/binning.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/trees/split.hpp"

namespace properboost {

template <class Cells>
class LevelCuts {
 public:
  using Unit = typename Cells::Unit;

  // `nodes` are the feature's sums at each node.
  LevelCuts(const Cells& cells, const FeatureBins& bins, int direction,
            const std::vector<const Unit*>& nodes, std::size_t size)
      : cells_(cells),
        bins_(bins),
        direction_(direction),
        nodes_(nodes),
        sums_(add_up(nodes, size)),
        level_(cells, bins, sums_.data()),
        cuts_(level_.cuts({}, {}, direction)) {}
  LevelCuts(const LevelCuts&) = delete;
  LevelCuts& operator=(const LevelCuts&) = delete;

  // Categories are ordered by the sums of all nodes.
  bool occupied(std::size_t code) const { return cuts_.occupied(code); }
  std::array<double, kMaxCodes> shares() const { return cuts_.shares(); }

  // See properboost::find_split.
  void find_costs(const CutOrder& order, double* before, double* after) const {
    const std::size_t n = count(order), n_before = count_before(order);
    std::array<double, 2 * kMaxCodes> costs{}, node_costs;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      find_costs_at(k, order, node_costs.data());
      const double unsplit = node_costs[0];
      for (std::size_t i = 0; i < n; ++i) costs[i] += unsplit - saving(unsplit, node_costs[i]);
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

  // The share of the level's cuts that divide each node's rows: of ordered codes those inside its
  // range, missing values being the last; of categories all, if there is more than one.
  std::vector<double> find_reaches() const {
    std::vector<double> reaches(nodes_.size());
    const auto width = static_cast<std::size_t>(bins_.width());
    for (std::size_t k = 0; k < reaches.size(); ++k) {
      const typename Cells::Feature feature(cells_, bins_, nodes_[k]);
      const auto cuts = feature.cuts({}, {}, direction_);
      std::size_t codes = 0, first = 0, last = 0;  // places among the level's occupied codes
      bool any = false;
      for (std::size_t b = 0; b < width; ++b) {
        if (!occupied(b)) continue;
        if (cuts.occupied(b)) {
          if (!any) first = codes;
          any = true;
          last = codes;
        }
        ++codes;
      }
      if (first == last) continue;
      reaches[k] = bins_.ordered()
                       ? static_cast<double>(last - first) / static_cast<double>(codes - 1)
                       : 1.0;
    }
    return reaches;
  }

 private:
  static std::vector<Unit> add_up(const std::vector<const Unit*>& nodes, std::size_t size) {
    std::vector<Unit> sums(size, Unit{});
    for (const Unit* const node : nodes) {
      for (std::size_t i = 0; i < size; ++i) sums[i] += node[i];
    }
    return sums;
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
    const typename Cells::Feature feature(cells_, bins_, nodes_[k]);
    feature.cuts({}, {}, direction_).find_costs(order, costs, costs + count_before(order));
  }

  const Cells& cells_;
  const FeatureBins& bins_;
  int direction_;
  const std::vector<const Unit*>& nodes_;
  std::vector<Unit> sums_;  // of the level
  typename Cells::Feature level_;
  decltype(level_.cuts({}, {}, 0)) cuts_;
};

}  // namespace properboost
