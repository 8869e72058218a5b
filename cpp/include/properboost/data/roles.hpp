// Roles: how a model uses the rows of a segment.
#pragma once

#include <cstdint>

namespace properboost {

enum class Role : std::int8_t {
  kNone = 0,
  kPositive = 1,  // training rows
  kNegative = -1,
  kHeldOutPositive = 2,  // held-out rows
  kHeldOutNegative = -2,
};

inline bool learns(Role role) { return role == Role::kPositive || role == Role::kNegative; }
inline bool is_held_out(Role role) {
  return role == Role::kHeldOutPositive || role == Role::kHeldOutNegative;
}

// The role of rows of the other label.
inline Role opposite(Role role) { return static_cast<Role>(-static_cast<std::int8_t>(role)); }

// The signed label of the segment's rows, or 0 if the model ignores it.
inline double sign_of(Role role) {
  const auto value = static_cast<int>(role);
  return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

}  // namespace properboost
