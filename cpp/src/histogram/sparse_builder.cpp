#include "properboost/histogram/sparse_builder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/data/codes.hpp"
#include "properboost/data/training_rows.hpp"

namespace properboost {
namespace {

constexpr std::size_t kTogether = 512;  // rows whose numbers are gathered, at most
constexpr std::size_t kNumbers = 4'096;

// Sets the cells of the common code: all rows less those of the other codes, lane by lane.
void set_rest(const std::int64_t* all, std::size_t lanes, std::size_t width, std::size_t common,
              std::int64_t* cells) {
  std::int64_t* const to = cells + common * lanes;
  std::copy_n(all, lanes, to);
  for (std::size_t b = 0; b < width; ++b) {
    if (b == common) continue;
    for (std::size_t k = 0; k < lanes; ++k) to[k] -= cells[b * lanes + k];
  }
}

}  // namespace

SparseBuilder::SparseBuilder(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
                             std::vector<std::size_t> features, std::size_t lanes,
                             bool has_curvature)
    : codes_(rows.codes),
      bins_(rows.bins),
      sample_weight_(rows.sample_weight),
      blocks_(blocks),
      features_(std::move(features)),
      lanes_(lanes),
      has_curvature_(has_curvature),
      one_({FeatureBins(1)}),
      all_(one_, lanes, has_curvature) {
  for (const AccumulationBlock& block : blocks_) {
    if (stretches_.empty() || !stretches_.back().roles.may_join(*block.roles)) {
      stretches_.push_back({});
    }
    stretches_.back().roles.join(*block.roles);
    stretches_.back().blocks.push_back(&block);
  }
  for (const std::size_t f : features_) entries_ += codes_.entries(f).size;
}

void SparseBuilder::fill(const float* weight, const float* curvature, const LaneUnits& units,
                         Histogram& histogram, Team& team) {
  if (features_.empty()) return;
  const Numbers numbers{weight, curvature, units};
  sum_all(numbers, team);
  // Neighbouring features make a task: they share its memory.
  constexpr std::size_t kFeatures = 64;
  const double nanoseconds = (3.0 + static_cast<double>(lanes_)) * static_cast<double>(entries_);
  team.for_each((features_.size() + kFeatures - 1) / kFeatures, nanoseconds, [&](std::size_t t) {
    Aligned<unsigned char> memory;
    const std::size_t end = std::min((t + 1) * kFeatures, features_.size());
    for (std::size_t i = t * kFeatures; i < end; ++i) {
      sum_feature(features_[i], numbers, histogram, memory);
      set_common(features_[i], histogram);
    }
  });
}

std::unique_ptr<CodeSums> SparseBuilder::make_sums(std::size_t codes, const LaneUnits& units,
                                                   Aligned<unsigned char>& memory) const {
  const std::size_t bytes = code_sum_bytes(codes, lanes_, has_curvature_);
  if (memory.size() < bytes) memory.resize(bytes);
  return make_code_sums(codes, lanes_, has_curvature_, !sample_weight_.all_ones(), units,
                        memory.data());
}

void SparseBuilder::sum_all(const Numbers& numbers, Team& team) {
  constexpr std::array<std::uint8_t, kTogether> kOneCode{};
  std::vector<Aligned<unsigned char>> memory(blocks_.size());
  std::vector<std::unique_ptr<CodeSums>> sums(blocks_.size());
  const double nanoseconds = static_cast<double>(count_rows(blocks_) * lanes_);
  team.for_each(blocks_.size(), nanoseconds, [&](std::size_t b) {
    sums[b] = make_sums(1, numbers.units, memory[b]);
    sums[b]->set_roles(*blocks_[b].roles);
    visit_chunks(blocks_[b], kTogether, [&](std::size_t begin, std::size_t end) {
      const float* const curvature =
          numbers.curvature == nullptr ? nullptr : numbers.curvature + begin * lanes_;
      sums[b]->add(numbers.weight + begin * lanes_, curvature, sample_weight_.from(begin),
                   kOneCode.data(), end - begin);
    });
  });
  all_.clear(0);
  for (std::size_t b = 0; b < blocks_.size(); ++b) sums[b]->flush(*blocks_[b].roles, all_, 0);
}

void SparseBuilder::sum_feature(std::size_t f, const Numbers& numbers, Histogram& histogram,
                                Aligned<unsigned char>& memory) const {
  histogram.clear(f);
  const auto width = static_cast<std::size_t>(bins_[f].width());
  const std::unique_ptr<CodeSums> sums = make_sums(width, numbers.units, memory);
  for (const Stretch& stretch : stretches_) {
    for (const AccumulationBlock* const block : stretch.blocks) {
      sums->set_roles(*block->roles);
      for (const auto& [begin, end] : block->ranges) {
        add_entries(codes_.entries(f, begin, end), numbers, *sums);
      }
    }
    sums->flush(stretch.roles, histogram, f);
  }
}

void SparseBuilder::add_entries(const CodeEntries& entries, const Numbers& numbers,
                                CodeSums& sums) const {
  alignas(64) std::array<float, kNumbers> weight, curvature;
  std::array<double, kTogether> sample_weight;
  const std::size_t together = std::min(kTogether, kNumbers / lanes_);
  for (std::size_t first = 0; first < entries.size; first += together) {
    const std::size_t n = std::min(together, entries.size - first);
    const std::int32_t* const rows = entries.rows + first;
    const auto gather = [&](const float* from, float* to) {
      visit_width(lanes_, [&](auto width) {
        constexpr std::size_t kLanes = width;
        for (std::size_t i = 0; i < n; ++i) {
          std::memcpy(to + i * kLanes, from + static_cast<std::size_t>(rows[i]) * kLanes,
                      kLanes * sizeof(float));
        }
      });
    };
    gather(numbers.weight, weight.data());
    if (has_curvature_) gather(numbers.curvature, curvature.data());
    if (!sample_weight_.all_ones()) {
      for (std::size_t i = 0; i < n; ++i) {
        sample_weight[i] = sample_weight_.stored(static_cast<std::size_t>(rows[i]));
      }
    }
    const RowSampleWeights gathered(sample_weight_.all_ones() ? nullptr : sample_weight.data());
    sums.add(weight.data(), has_curvature_ ? curvature.data() : nullptr, gathered,
             entries.codes + first, n);
  }
}

void SparseBuilder::set_common(std::size_t f, Histogram& histogram) {
  const auto width = static_cast<std::size_t>(bins_[f].width());
  const std::size_t common = codes_.sparse.common[f];
  set_rest(all_.positive(0), lanes_, width, common, histogram.positive(f));
  set_rest(all_.negative(0), lanes_, width, common, histogram.negative(f));
  if (has_curvature_) {
    set_rest(all_.curvature(0), lanes_, width, common, histogram.curvature(f));
  }
}

}  // namespace properboost
