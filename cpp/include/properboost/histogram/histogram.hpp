// Histograms: the cells of all features, and how the rows' weights are summed into them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/core/aligned.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/cells.hpp"

namespace properboost {

// The sums of the cells of all features in all lanes, [code][lane]: in whole units in a single
// lane, in double in more.
class Histogram {
 public:
  Histogram(const Bins& bins, std::size_t lanes, bool needs_curvature)
      : bins_(&bins), lanes_(lanes), has_curvature_(needs_curvature) {
    if (lanes == 1) {
      whole_.resize(numbers_in_all());
    } else {
      rounded_.resize(numbers_in_all());
    }
  }

  static std::size_t bytes(const Bins& bins, std::size_t lanes, bool needs_curvature) noexcept {
    return bins.total_width() * lanes * (needs_curvature ? 3 : 2) * sizeof(double);
  }

  // Sums of feature f; null if there is no curvature.
  template <class Number>
  Number* positive(std::size_t f) noexcept {
    return numbers<Number>().data() + first(f);
  }
  template <class Number>
  Number* negative(std::size_t f) noexcept {
    return positive<Number>(f) + all();
  }
  template <class Number>
  Number* curvature(std::size_t f) noexcept {
    return has_curvature_ ? negative<Number>(f) + all() : nullptr;
  }

  void clear(std::size_t f) {
    if (lanes_ == 1) {
      clear_numbers<std::int64_t>(f);
    } else {
      clear_numbers<double>(f);
    }
  }

  // The units of a single lane's sums.
  void set_units(const CellUnits& units) noexcept { units_ = units; }

  // Whether the other one has the same cells.
  bool is_for(const Histogram& other) const noexcept {
    return bins_ == other.bins_ && lanes_ == other.lanes_ && has_curvature_ == other.has_curvature_;
  }

  // Adds the sums of other rows in feature f.
  void add(const Histogram& other, std::size_t f) {
    const std::size_t n = lanes_ * static_cast<std::size_t>((*bins_)[f].width());
    for (std::size_t k = first(f); k < numbers_in_all(); k += all()) {
      for (std::size_t i = k; i < k + n && lanes_ == 1; ++i) whole_[i] += other.whole_[i];
      for (std::size_t i = k; i < k + n && lanes_ > 1; ++i) rounded_[i] += other.rounded_[i];
    }
  }

  // Adds the sums of other processes' rows when the share goes, in all features or in one; or in
  // one at once.  Several lanes have no peers.
  void add_to(Share& share) { share.sum(whole_.data(), whole_.size()); }
  void add_to(Share& share, std::size_t f) {
    if (lanes_ > 1) return;
    const auto n = static_cast<std::size_t>((*bins_)[f].width());
    share.sum(positive<std::int64_t>(f), n).sum(negative<std::int64_t>(f), n);
    if (has_curvature_) share.sum(curvature<std::int64_t>(f), n);
  }
  void share(std::size_t f, Team& team) {
    Share share = team.share();
    add_to(share, f);
    share.go();
  }

  // One lane's cells of feature f, gathered into `buffer`; `occupied` has one byte per code, all
  // features side by side.
  FeatureCells feature(std::size_t f, std::size_t lane, const std::uint8_t* occupied,
                       std::array<Cell, kMaxCodes>& buffer) const {
    const FeatureCells result{buffer.data(), occupied + bins_->offset(f), &(*bins_)[f]};
    std::size_t i = first(f) + lane;
    if (lanes_ == 1) {
      for (std::size_t b = 0; b < result.width(); ++b, ++i) {
        buffer[b] = {units_.weight.value(whole_[i]), units_.weight.value(whole_[i + all()]),
                     has_curvature_ ? units_.curvature.value(whole_[i + 2 * all()]) : 0.0};
      }
      return result;
    }
    for (std::size_t b = 0; b < result.width(); ++b, i += lanes_) {
      buffer[b] = {rounded_[i], rounded_[i + all()],
                   has_curvature_ ? rounded_[i + 2 * all()] : 0.0};
    }
    return result;
  }

 private:
  std::size_t first(std::size_t f) const noexcept { return bins_->offset(f) * lanes_; }
  std::size_t all() const noexcept { return bins_->total_width() * lanes_; }
  std::size_t numbers_in_all() const noexcept { return all() * (has_curvature_ ? 3 : 2); }

  template <class Number>
  Aligned<Number>& numbers() noexcept {
    if constexpr (std::is_same_v<Number, double>) {
      return rounded_;
    } else {
      return whole_;
    }
  }
  template <class Number>
  void clear_numbers(std::size_t f) {
    const std::size_t n = lanes_ * static_cast<std::size_t>((*bins_)[f].width());
    std::fill_n(positive<Number>(f), n, Number{0});
    std::fill_n(negative<Number>(f), n, Number{0});
    if (has_curvature_) std::fill_n(curvature<Number>(f), n, Number{0});
  }

  const Bins* bins_;
  std::size_t lanes_;
  bool has_curvature_;
  CellUnits units_;
  Aligned<std::int64_t> whole_;
  Aligned<double> rounded_;
};

// What sums take while they are made.  Builders that work one after the other share it: it is
// several megabytes per thread.
struct HistogramMemory {
  std::vector<Aligned<unsigned char>> sums;  // by task; zero between fills
  std::vector<Aligned<unsigned char>> scratch, terms;
  std::vector<std::unique_ptr<Histogram>> others;  // of all parts of the rows but the first
};

// Sums the weights of the same rows in every round.
class HistogramBuilder {
 public:
  // Everything that `rows` refers to must outlive it.  crowding[f] is the share of the rows in the
  // fullest code of feature f, whether it is one of these features or not.
  HistogramBuilder(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
                   std::vector<std::size_t> features, const std::vector<double>& crowding,
                   std::size_t lanes, bool has_curvature, std::shared_ptr<HistogramMemory> memory);
  HistogramBuilder(HistogramBuilder&&) noexcept;
  ~HistogramBuilder();

  // Cells of its features from the rows' weights and curvatures (null where there are none).  No
  // sum depends on the number of threads; those of a single lane, in these units, do not depend on
  // the order of rows either.  They are of this process's rows.
  void fill(const float* weight, const float* curvature, const CellUnits& units,
            Histogram& histogram, Team& team);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace properboost
