#include "properboost/data/packed_codes.hpp"

#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

PackedCodes::PackedCodes(const Codes& codes, std::size_t features, Team& team)
    : features_(features), stride_(stride_for(features)), bytes_(codes.rows * stride_) {
  constexpr std::size_t kRows = 512;
  const std::size_t blocks = (codes.rows + kRows - 1) / kRows;
  const double nanoseconds = 0.3 * static_cast<double>(bytes_.size());
  team.for_each(blocks, nanoseconds, [&](std::size_t block) {
    const std::size_t begin = block * kRows;
    const std::size_t end = std::min(begin + kRows, codes.rows);
    for (std::size_t f = 0; f < features; ++f) {
      const std::uint8_t* const code = codes.feature(f);
      std::uint8_t* const out = bytes_.data() + f;
      for (std::size_t i = begin; i < end; ++i) out[i * stride_] = code[i];
    }
  });
}

}  // namespace properboost
