#include "properboost/histogram/joint_cells.hpp"

#include "properboost/core/instruction_set.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

void find_joint_cells(const Bundle& bundle, const Bins& bins, const Codes& codes, std::size_t begin,
                      std::size_t n, std::uint16_t* joint) {
  const auto code = [&](std::size_t k) { return codes.feature(bundle.features[k]) + begin; };
  const auto width = [&](std::size_t k) {
    return static_cast<std::uint16_t>(bins[bundle.features[k]].width());
  };
  vectorized([=, first = code(0), second = code(1), second_width = width(1)] {
    std::uint16_t* const __restrict to = joint;
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = static_cast<std::uint16_t>(first[i] * second_width + second[i]);
    }
  });
  for (std::size_t k = 2; k < bundle.features.size(); ++k) {
    vectorized([=, next = code(k), its_width = width(k)] {
      std::uint16_t* const __restrict to = joint;
      for (std::size_t i = 0; i < n; ++i) {
        to[i] = static_cast<std::uint16_t>(to[i] * its_width + next[i]);
      }
    });
  }
}

}  // namespace properboost
