// Lanes: models trained together over the same codes.
//
// What each row or cell has for every lane lies side by side ([row][lane], [code][lane]), so that
// one vector operation serves all of them.  A pack has a width of 1, 4, 8 or 16 lanes, of which the
// last may be unused; width 1 is the model on its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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

// What a segment of rows is to a model.
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
inline double side_of(Role role) {
  const auto value = static_cast<int>(role);
  return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0;
}

// What a segment of rows is to the lanes of a pack, as factors: sums over its rows are made for all
// lanes and then count or not.
struct SegmentRoles {
  alignas(64)
      std::array<float, kMostLanes> side{};  // 1, -1, or 0 where the segment is nothing to the lane
  std::array<double, kMostLanes> positive{}, negative{}, held_out{};  // 0 or 1
  bool trains = false;                                                // any lane
  bool judges = false;

  void set(std::size_t lane, Role role) {
    side[lane] = static_cast<float>(side_of(role));
    positive[lane] = role == Role::kPositive ? 1.0 : 0.0;
    negative[lane] = role == Role::kNegative ? 1.0 : 0.0;
    held_out[lane] = properboost::judges(role) ? 1.0 : 0.0;
    trains = trains || learns(role);
    judges = judges || properboost::judges(role);
  }
  double train(std::size_t lane) const { return positive[lane] + negative[lane]; }
  bool same_training(const SegmentRoles& other) const {
    return positive == other.positive && negative == other.negative;
  }
};

// N floats side by side.  Spelt as a vector where the compiler knows them: left to itself it would
// find others, across rows.
template <std::size_t N>
struct alignas(N < 16 ? 4 * N : 64) Floats {
#if defined(__GNUC__)
  typedef float Data __attribute__((vector_size(4 * N)));
  Data data;

  void operator+=(const Floats& other) noexcept { data += other.data; }
  void operator*=(const Floats& other) noexcept { data *= other.data; }
#else
  float data[N];

  void operator+=(const Floats& other) noexcept {
    for (std::size_t k = 0; k < N; ++k) data[k] += other.data[k];
  }
  void operator*=(const Floats& other) noexcept {
    for (std::size_t k = 0; k < N; ++k) data[k] *= other.data[k];
  }
#endif
};

// Two numbers side by side.
template <class Real>
struct alignas(2 * sizeof(Real)) Pair {
#if defined(__GNUC__)
  typedef Real Data __attribute__((vector_size(2 * sizeof(Real))));
  Data data;

  void operator+=(const Pair& other) noexcept { data += other.data; }
  void operator-=(const Pair& other) noexcept { data -= other.data; }
#else
  Real data[2];

  void operator+=(const Pair& other) noexcept {
    data[0] += other.data[0];
    data[1] += other.data[1];
  }
  void operator-=(const Pair& other) noexcept {
    data[0] -= other.data[0];
    data[1] -= other.data[1];
  }
#endif
};

// What is added to a cell in every lane: W weights, then their curvatures if there are any.
template <std::size_t W, bool kCurvature>
struct LaneSums {
  using Number = float;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  Floats<W> weights{};
  Floats<W> curvatures{};

  void operator+=(const LaneSums& other) noexcept {
    weights += other.weights;
    curvatures += other.curvatures;
  }
  double weight(std::size_t lane) const noexcept { return static_cast<double>(weights.data[lane]); }
  double curvature(std::size_t lane) const noexcept {
    return static_cast<double>(curvatures.data[lane]);
  }
};
template <std::size_t W>
struct LaneSums<W, false> {
  using Number = float;
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = false;

  Floats<W> weights{};

  void operator+=(const LaneSums& other) noexcept { weights += other.weights; }
  double weight(std::size_t lane) const noexcept { return static_cast<double>(weights.data[lane]); }
};

// The same for one lane, in float or double: weight and curvature are one vector add.
template <class Real, bool kCurvature>
struct RowSums {
  using Number = Real;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = true;

  Pair<Real> both{};

  RowSums() = default;
  RowSums(Real weight, Real curvature) : both{{weight, curvature}} {}
  void operator+=(const RowSums& other) noexcept { both += other.both; }
  double weight(std::size_t) const noexcept { return static_cast<double>(both.data[0]); }
  double curvature(std::size_t) const noexcept { return static_cast<double>(both.data[1]); }
};
template <class Real>
struct RowSums<Real, false> {
  using Number = Real;
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kHasCurvature = false;

  Real sum = 0;

  RowSums() = default;
  explicit RowSums(Real weight) : sum(weight) {}
  void operator+=(const RowSums& other) noexcept { sum += other.sum; }
  double weight(std::size_t) const noexcept { return static_cast<double>(sum); }
};

// And in double for every lane.
template <std::size_t W, bool kCurvature>
struct DoubleSums {
  static constexpr std::size_t kLanes = W;
  static constexpr bool kHasCurvature = kCurvature;

  double sums[kCurvature ? 2 * W : W];

  double weight(std::size_t lane) const noexcept { return sums[lane]; }
  double curvature(std::size_t lane) const noexcept { return sums[W + lane]; }
};

// Memory that vectors of every width may be loaded from without crossing cache lines; large blocks
// ask for large pages, which a pass over all rows notices.
template <class T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    void* const memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__)
    if (n * sizeof(T) >= kLargePage) madvise(memory, n * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t n) noexcept { ::operator delete(p, alignment(n)); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const CacheLineAllocator<U>&) const noexcept {
    return false;
  }

 private:
  static constexpr std::size_t kLargePage = 1u << 21;

  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= kLargePage ? kLargePage : 64};
  }
};

template <class T>
using Aligned = std::vector<T, CacheLineAllocator<T>>;

}  // namespace properboost
