// Roles: what the rows of a segment are to a model.
#pragma once

#include <cstdint>

namespace properboost {

enum class Role : std::int8_t {
  kNone = 0,
  kPositive = 1,  // rows to learn from
  kNegative = -1,
  kHeldOutPositive = 2,  // rows to be judged by
  kHeldOutNegative = -2,
};

inline bool learns(Role role) { return role == Role::kPositive || role == Role::kNegative; }
inline bool judges(Role role) {
  return role == Role::kHeldOutPositive || role == Role::kHeldOutNegative;
}

// 1, -1, or 0 where the segment is nothing to the model.
inline double sign_of(Role role) {
  const auto value = static_cast<int>(role);
  return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

}  // namespace properboost
