#include "properboost/data/packed_codes.hpp"

#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"

namespace properboost {

PackedCodes::PackedCodes(const Codes& codes, std::size_t features, Team& team) {
  for (std::size_t f = 0; codes.sparse.any() && f < features; ++f) {
    (codes.is_sparse(f) ? sparse_ : dense_).push_back(f);
  }
  features_ = features - sparse_.size();
  stride_ = stride_for(features_);
  bytes_.resize(codes.rows * stride_);
  constexpr std::size_t kRows = 512;
  const std::size_t blocks = (codes.rows + kRows - 1) / kRows;
  const double nanoseconds = 0.3 * static_cast<double>(bytes_.size());
  team.for_each(blocks, nanoseconds, [&](std::size_t block) {
    const std::size_t begin = block * kRows;
    const std::size_t end = std::min(begin + kRows, codes.rows);
    for (std::size_t place = 0; place < features_; ++place) {
      const std::uint8_t* const code = codes.feature(feature(place));
      std::uint8_t* const out = bytes_.data() + place;
      for (std::size_t i = begin; i < end; ++i) out[i * stride_] = code[i];
    }
  });
  if (!sparse_.empty()) pack_entries(codes);
}

void PackedCodes::pack_entries(const Codes& codes) {
  starts_.assign(codes.rows + 1, 0);
  // visit(row, feature, code) for all entries, feature by feature
  const auto for_entries = [&](const auto& visit) {
    for (const std::size_t f : sparse_) {
      const CodeEntries entries = codes.entries(f);
      for (std::size_t k = 0; k < entries.size; ++k) {
        visit(static_cast<std::size_t>(entries.rows[k]), f, entries.codes[k]);
      }
    }
  };
  for_entries([&](std::size_t row, std::size_t, std::uint8_t) { ++starts_[row + 1]; });
  for (std::size_t i = 0; i < codes.rows; ++i) starts_[i + 1] += starts_[i];
  entry_features_.resize(starts_.back());
  entry_codes_.resize(starts_.back());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  for_entries([&](std::size_t row, std::size_t f, std::uint8_t code) {
    const std::size_t k = next[row]++;
    entry_features_[k] = static_cast<std::uint32_t>(f);
    entry_codes_[k] = code;
  });
}

std::size_t PackedCodes::bytes(const Codes& codes, std::size_t features) noexcept {
  std::size_t sparse = 0, entries = 0;
  for (std::size_t f = 0; codes.sparse.any() && f < features; ++f) {
    if (!codes.is_sparse(f)) continue;
    ++sparse;
    entries += codes.entries(f).size;
  }
  const std::size_t of_starts = sparse == 0 ? 0 : (codes.rows + 1) * sizeof(std::size_t);
  return codes.rows * stride_for(features - sparse) + of_starts +
         entries * (sizeof(std::uint32_t) + sizeof(std::uint8_t));
}

}  // namespace properboost
