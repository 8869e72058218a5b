// The order of cells: where a feature has a direction, cells in the wrong order are made one.
//
// These are pools of adjacent violators (Ayer et al. 1955).  Along one axis the shares of the
// pools, by weight, are the isotonic regression of the cells' shares, whose risk is least among all
// look-up tables in that order, whatever the loss (Barlow and Brunk 1972).  Cells that are ordered
// along two axes are added one after the other, each to the worst violator before it (Burdakov et
// al. 2006): in order too, if not always the best.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "properboost/data/axes.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/learners/partition.hpp"

namespace properboost {

class CellOrder {
 public:
  CellOrder() = default;

  // The order of a feature's codes along the axes that have a direction.
  explicit CellOrder(const FeatureCells& feature) {
    if (!feature.are_in_order()) return;
    const std::array<Axis, 2> axes = find_axes(*feature.bins);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const Axis& axis = axes[a];
      for (std::size_t line = 0; feature.directions[a] != 0 && line < axis.lines; ++line) {
        for (std::size_t i = 1; i < axis.length; ++i) {
          const std::size_t code = line * axis.next + i * axis.stride;
          add(code - axis.stride, code, feature.directions[a]);
        }
      }
    }
    // Whatever a code must not be below comes before it.
    const bool grid = !feature.bins->ordered();
    const Axis& along = axes[0];
    const auto columns =
        grid ? static_cast<std::size_t>(feature.bins->grid().columns) : along.length;
    for (std::size_t i = 0; i < along.lines; ++i) {
      const std::size_t row = feature.directions[1] < 0 ? along.lines - 1 - i : i;
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t column = feature.directions[0] < 0 ? columns - 1 - j : j;
        sequence_.push_back(static_cast<std::uint8_t>(row * columns + column));
      }
    }
  }

  bool empty() const noexcept { return pairs_.empty(); }

  // From a code to another the values must not fall (1) or not rise (-1).
  void add(std::size_t from, std::size_t to, int direction) {
    const auto first = static_cast<std::uint8_t>(from), second = static_cast<std::uint8_t>(to);
    pairs_.push_back(direction > 0 ? Pair{first, second} : Pair{second, first});
  }

  // Makes cells one until the shares of the positive class, or the ratios of gradient to curvature,
  // are in order.
  void pool_by_share(Partition& partition, bool curved) const {
    if (empty()) return;
    const auto share = [&](const Cell& c) {
      const double whole = curved ? c.curvature : c.weight();
      if (!(whole > 0.0)) return curved ? 0.0 : 0.5;
      return (curved ? c.gradient() : c.positive) / whole;
    };
    Pools pools(partition);
    for (const Pair& pair : pairs_) {
      pools.add_below(partition.cell_of[pair.high], partition.cell_of[pair.low]);
    }
    for (const std::uint8_t code : sequence_) pools.place(partition.cell_of[code], share);
    pools.merge(partition);
    std::vector<double> shares;
    do {
      shares.clear();
      for (const Cell& cell : partition.cells) shares.push_back(share(cell));
    } while (pool_by_value(partition, shares));
  }

  // Makes neighbouring cells one whose values are in the wrong order; returns whether any were.
  bool pool_by_value(Partition& partition, const std::vector<double>& values) const {
    if (empty()) return false;
    Pools pools(partition);
    bool any = false;
    for (const Pair& pair : pairs_) {
      const std::uint8_t low = partition.cell_of[pair.low], high = partition.cell_of[pair.high];
      if (!(values[low] > values[high])) continue;
      pools.unite(pools.find(high), pools.find(low));
      any = true;
    }
    if (any) pools.merge(partition);
    return any;
  }

 private:
  // Codes whose values must be in this order.
  struct Pair {
    std::uint8_t low, high;
  };

  // Cells of a partition that are made one.
  class Pools {
   public:
    explicit Pools(const Partition& partition) : sum_(partition.cells), last_(sum_.size(), kNone) {
      first_ = last_;
      placed_.assign(sum_.size(), 0);
      parent_.resize(sum_.size());
      std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }

    std::size_t find(std::size_t cell) {
      while (parent_[cell] != cell) cell = parent_[cell] = parent_[parent_[cell]];
      return cell;
    }

    void unite(std::size_t pool, std::size_t other) {
      if (pool == other) return;
      parent_[other] = pool;
      sum_[pool] += sum_[other];
      if (first_[other] == kNone) return;
      (first_[pool] == kNone ? first_[pool] : below_[last_[pool]].next) = first_[other];
      last_[pool] = last_[other];
    }

    // Requires that a cell is not below another.
    void add_below(std::size_t cell, std::size_t low) {
      if (cell == low) return;
      (first_[cell] == kNone ? first_[cell] : below_[last_[cell]].next) = below_.size();
      last_[cell] = below_.size();
      below_.push_back({low, kNone});
    }

    // Places a cell after those that are placed: its pool takes the highest one that is above it
    // and must not be, until there is none.
    template <class Share>
    void place(std::size_t cell, const Share& share) {
      if (placed_[cell] != 0) return;
      placed_[cell] = 1;
      while (true) {
        const std::size_t pool = find(cell);
        std::size_t worst = pool;
        double most = share(sum_[pool]);
        std::size_t* place = &first_[pool];
        std::size_t before = kNone;
        while (*place != kNone) {
          Below& entry = below_[*place];
          const std::size_t other = find(entry.low);
          if (other == pool) {  // it has become a part: forget it
            *place = entry.next;
            continue;
          }
          if (placed_[entry.low] != 0 && share(sum_[other]) > most) {
            worst = other;
            most = share(sum_[other]);
          }
          before = *place;
          place = &entry.next;
        }
        last_[pool] = before;
        if (worst == pool) return;
        unite(pool, worst);
      }
    }

    void merge(Partition& partition) {
      CellOfCode pool_of;
      std::iota(pool_of.begin(), pool_of.end(), std::uint8_t{0});
      std::vector<std::size_t> number(sum_.size(), kNone);
      std::size_t n = 0;
      for (std::size_t cell = 0; cell < sum_.size(); ++cell) {
        std::size_t& pool = number[find(cell)];
        if (pool == kNone) pool = n++;
        pool_of[cell] = static_cast<std::uint8_t>(pool);
      }
      partition.merge(pool_of, n);
    }

   private:
    static constexpr std::size_t kNone = ~std::size_t{0};
    // Cells that a pool must not be below, in a list of its own.
    struct Below {
      std::size_t low, next;
    };

    std::vector<Cell> sum_;
    std::vector<std::size_t> last_, first_, parent_;
    std::vector<std::uint8_t> placed_;
    std::vector<Below> below_;
  };

  std::vector<Pair> pairs_;
  std::vector<std::uint8_t> sequence_;  // the codes, lower ones first
};

}  // namespace properboost
