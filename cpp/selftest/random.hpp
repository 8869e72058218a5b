// Numbers for tests, the same on every machine.
#pragma once

#include <cstdint>

namespace properboost::selftest {

// Numbers in [0, 1).
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}

  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace properboost::selftest
