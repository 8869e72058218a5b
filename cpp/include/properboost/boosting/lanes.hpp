// Lanes: models trained together over the same codes.
//
// The numbers that a row or cell has in all lanes lie side by side ([row][lane], [code][lane]), so
// that one vector operation serves all of them.  A model batch has 1, 4, 8 or 16 lanes; the last
// ones may be unused.  A batch of width 1 holds a single model.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "properboost/data/roles.hpp"

namespace properboost {

constexpr std::size_t kMostLanes = 16;  // a 64-byte vector of float32

inline std::size_t width_for(std::size_t lanes) noexcept {
  return lanes <= 1 ? 1 : lanes <= 4 ? 4 : lanes <= 8 ? 8 : kMostLanes;
}

// visitor(std::integral_constant<std::size_t, width>{})
template <class Visitor>
decltype(auto) visit_width(std::size_t width, Visitor&& visitor) {
  switch (width) {
    case 1: return visitor(std::integral_constant<std::size_t, 1>{});
    case 4: return visitor(std::integral_constant<std::size_t, 4>{});
    case 8: return visitor(std::integral_constant<std::size_t, 8>{});
    default: return visitor(std::integral_constant<std::size_t, kMostLanes>{});
  }
}

// The roles of a segment in the lanes of a batch, as factors: its sums are made for all lanes, and
// a factor of 0 drops them.
struct SegmentRoles {
  // The signed label of the segment's rows, or 0 if the lane ignores it.
  alignas(64) std::array<float, kMostLanes> sign{};
  std::array<double, kMostLanes> positive{}, negative{}, held_out{};  // 0 or 1
  std::array<bool, kMostLanes> trained{};                             // by each lane
  bool trains = false, holds_out = false;                             // any lane

  void set(std::size_t lane, Role role) {
    sign[lane] = static_cast<float>(sign_of(role));
    positive[lane] = role == Role::kPositive ? 1.0 : 0.0;
    negative[lane] = role == Role::kNegative ? 1.0 : 0.0;
    held_out[lane] = is_held_out(role) ? 1.0 : 0.0;
    trained[lane] = learns(role);
    trains = trains || learns(role);
    holds_out = holds_out || is_held_out(role);
  }
  double train(std::size_t lane) const { return positive[lane] + negative[lane]; }
  bool same_training(const SegmentRoles& other) const {
    return positive == other.positive && negative == other.negative;
  }
  bool same(const SegmentRoles& other) const {
    return same_training(other) && held_out == other.held_out && sign == other.sign;
  }
};

}  // namespace properboost
