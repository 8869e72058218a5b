// Lanes: models trained together over the same codes.
//
// The numbers that a row or cell has in all lanes lie side by side ([row][lane], [code][lane]), so
// that one vector operation serves all of them.  A model batch has 1, 2, 4, 8 or 16 lanes; the last
// ones may be unused.  A batch of width 1 holds a single model.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "properboost/data/roles.hpp"

namespace properboost {

constexpr std::size_t kMostLanes = 16;  // a 64-byte vector of float32

inline std::size_t width_for(std::size_t lanes) noexcept {
  return lanes <= 1 ? 1 : lanes <= 2 ? 2 : lanes <= 4 ? 4 : lanes <= 8 ? 8 : kMostLanes;
}

// visitor(std::integral_constant<std::size_t, width>{})
template <class Visitor>
decltype(auto) visit_width(std::size_t width, Visitor&& visitor) {
  switch (width) {
    case 1: return visitor(std::integral_constant<std::size_t, 1>{});
    case 2: return visitor(std::integral_constant<std::size_t, 2>{});
    case 4: return visitor(std::integral_constant<std::size_t, 4>{});
    case 8: return visitor(std::integral_constant<std::size_t, 8>{});
    default: return visitor(std::integral_constant<std::size_t, kMostLanes>{});
  }
}

// The roles of a segment in the lanes of a batch.  Its sums are made for all lanes; those of lanes
// without the role are dropped.  Hundreds of classes have hundreds of segments and batches each.
struct SegmentRoles {
  // The signed label of the segment's rows, or 0 if the lane ignores it.
  alignas(64) std::array<float, kMostLanes> sign{};
  std::array<bool, kMostLanes> trained{}, held_out{};
  bool trains = false, holds_out = false;  // any lane

  void set(std::size_t lane, Role role) {
    sign[lane] = static_cast<float>(sign_of(role));
    trained[lane] = learns(role);
    held_out[lane] = is_held_out(role);
    trains = trains || learns(role);
    holds_out = holds_out || is_held_out(role);
  }
  bool positive(std::size_t lane) const { return trained[lane] && sign[lane] > 0.0F; }
  bool negative(std::size_t lane) const { return trained[lane] && sign[lane] < 0.0F; }
  bool same_training(const SegmentRoles& other) const {
    for (std::size_t k = 0; k < kMostLanes; ++k) {
      if (positive(k) != other.positive(k) || negative(k) != other.negative(k)) return false;
    }
    return true;
  }
  // Whether rows of both can be summed together, where a lane's sum leaves out those that it does
  // not train on.
  bool may_join(const SegmentRoles& other) const {
    for (std::size_t k = 0; k < kMostLanes; ++k) {
      if (trained[k] && other.trained[k] && sign[k] != other.sign[k]) return false;
    }
    return true;
  }
  void join(const SegmentRoles& other) {
    for (std::size_t k = 0; k < kMostLanes; ++k) {
      if (!other.trained[k]) continue;
      trained[k] = true;
      sign[k] = other.sign[k];
    }
    trains = trains || other.trains;
  }
  bool same(const SegmentRoles& other) const {
    return sign == other.sign && trained == other.trained && held_out == other.held_out;
  }
};

// Lanes of the further numbers that a lane's rows add to cells: the weights against its class, and
// the curvatures.  They are so many lanes after it, or there are none: 0.
//
// Rows with soft labels count for and against each class.  As lanes, all their numbers are one add.
// An independent model's lane against its class has the margins of the other label, and curvatures
// of its own.
struct FurtherLanes {
  std::size_t against = 0, curvature = 0;

  static FurtherLanes of(std::size_t models, bool has_curvature) noexcept {
    return {models, has_curvature ? 2 * models : 0};
  }
  bool any() const noexcept { return against > 0; }
  // How many lanes so many models have.
  std::size_t all(std::size_t models) const noexcept {
    return models + (any() ? models : 0) + (curvature > 0 ? models : 0);
  }
};

}  // namespace properboost
