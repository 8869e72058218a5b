// Sums of rows by the codes of one feature, made as the rows pass by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "properboost/data/row_sample_weights.hpp"
#include "properboost/histogram/histogram.hpp"

namespace properboost {

class CodeSums {
 public:
  virtual ~CodeSums() = default;
  // The rows that follow are of segments with these roles.
  virtual void set_roles(const SegmentRoles& roles) = 0;
  // Adds n rows, whose numbers in all lanes are weight[row][lane] and, unless null, curvature.
  virtual void add(const float* weight, const float* curvature, RowSampleWeights sample_weight,
                   const std::uint8_t* codes, std::size_t n) = 0;
  // Adds the sums to the cells of feature f, of rows with these roles.
  virtual void flush(const SegmentRoles& roles, Histogram& histogram, std::size_t f) = 0;
};

// The bytes of the sums of `codes` codes, in whole cache lines.
constexpr std::size_t code_sum_bytes(std::size_t codes, std::size_t lanes, bool has_curvature) {
  return (codes * lanes * (has_curvature ? 2 : 1) * sizeof(std::int64_t) + 63) / 64 * 64;
}

// Sums of `codes` codes in `lanes` lanes, in these units and in memory that need not be cleared.
// Both must outlive them.
std::unique_ptr<CodeSums> make_code_sums(std::size_t codes, std::size_t lanes, bool has_curvature,
                                         bool has_sample_weight, const LaneUnits& units,
                                         unsigned char* memory);

}  // namespace properboost
