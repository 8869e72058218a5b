#include "properboost/histogram/code_sums.hpp"

#include <algorithm>
#include <memory>

#include "properboost/core/instruction_set.hpp"
#include "properboost/histogram/terms.hpp"
#include "properboost/rounds/lanes.hpp"

namespace properboost {
namespace {

template <class Terms>
class RowCodeSums final : public CodeSums {
 public:
  RowCodeSums(std::size_t codes, const LaneUnits& units, unsigned char* memory)
      : codes_(codes), units_(units), sums_(reinterpret_cast<Sum*>(memory)) {
    std::uninitialized_fill_n(sums_, codes, Sum{});
  }

  void set_roles(const SegmentRoles& roles) override {
    if (has_roles_ && trained_ == roles.trained) return;
    terms_ = Terms().of(units_.data(), roles);
    trained_ = roles.trained;
    has_roles_ = true;
  }

  void add(const float* weight, const float* curvature, RowSampleWeights sample_weight,
           const std::uint8_t* codes, std::size_t n) override {
    // Rows whose terms stay in the cache.
    constexpr std::size_t kTogether = Sum::kLanes == 1 ? 512 : 64;
    alignas(64) unsigned char made[kTogether * sizeof(Sum)];
    terms_.read(weight, curvature, sample_weight);
    vectorized(
        [&terms = terms_, codes, n, to = reinterpret_cast<Sum*>(&made[0]), sums = sums_](auto set) {
          for (std::size_t i = 0; i < n; i += kTogether) {
            const std::size_t end = std::min(n, i + kTogether);
            terms.make(set, i, end, to);
            add_terms<1, kMaxCodes>(&codes, MadeTerms<Sum>{to, i}, i, end, sums);
          }
        });
  }

  void flush(const SegmentRoles& roles, Histogram& histogram, std::size_t f) override {
    const Reading<Sum::kLanes> how = Terms().reading(units_.data(), roles);
    vectorized([&, codes = codes_, sums = sums_] { flush_sums(sums, codes, how, histogram, f); });
  }

 private:
  using Sum = typename Terms::Sum;

  const std::size_t codes_;
  const LaneUnits& units_;
  Sum* const sums_;
  Terms terms_;
  std::array<bool, kMostLanes> trained_{};
  bool has_roles_ = false;
};

}  // namespace

std::unique_ptr<CodeSums> make_code_sums(std::size_t codes, std::size_t lanes, bool has_curvature,
                                         bool has_sample_weight, const LaneUnits& units,
                                         unsigned char* memory) {
  std::unique_ptr<CodeSums> sums;
  visit_width(lanes, [&](auto width) {
    visit_terms<width>(has_curvature, has_sample_weight, [&](auto terms) {
      sums = std::make_unique<RowCodeSums<decltype(terms)>>(codes, units, memory);
    });
  });
  return sums;
}

}  // namespace properboost
