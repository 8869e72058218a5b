#include "properboost/histogram/histogram_builder.hpp"

#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/histogram/flush_schedule.hpp"
#include "properboost/histogram/set_filler.hpp"
#include "properboost/histogram/sparse_builder.hpp"

namespace properboost {

// The state of dense features kept between rounds: the sets of bundles, the rows, and the memory of
// tasks and of the cells of parts of the rows.
class HistogramBuilder::State {
 public:
  State(const TrainingRows& rows, const std::vector<AccumulationBlock>& blocks,
        std::vector<std::size_t> features, const std::vector<double>& crowding, std::size_t lanes,
        bool has_curvature, std::shared_ptr<HistogramMemory> memory)
      : codes_(rows.codes),
        bins_(rows.bins),
        sample_weight_(rows.sample_weight),
        blocks_(blocks),
        rows_(count_rows(blocks)),
        lanes_(lanes),
        features_(features.size()),
        adds_(features.size() * rows_),
        sets_(bundle_features(rows.bins, std::move(features), lanes, has_curvature, blocks,
                              crowding)),
        memory_(std::move(memory)) {
    for (const AccumulationBlock& block : blocks_) {
      for (std::size_t k = 0; k < lanes_; ++k) trains_[k] = trains_[k] || block.roles->trained[k];
    }
  }

  // A task owns its features' cells in one part of the rows and walks them in order, and parts are
  // added in order.
  void fill(const float* weight, const float* curvature, const LaneUnits& units,
            Histogram& histogram, Team& team) {
    const double nanoseconds =
        (0.3 + 0.06 * static_cast<double>(lanes_)) * static_cast<double>(adds_);
    // To fill once, a schedule would take longer than it saves.
    const bool narrow = fills_++ > 0 && are_narrow(units, curvature != nullptr);
    const FilledRows rows{codes_, bins_, sample_weight_, sets_, blocks_, weight, curvature, units};
    const std::unique_ptr<const SetFiller> filler =
        visit_width(lanes_, [&](auto width) { return make_set_filler<width>(rows, narrow); });
    if (filler->needs_schedule() && !schedule_) {
      schedule_ = std::make_unique<FlushSchedule>(sets_, bins_, codes_, blocks_, team);
    }
    const Division into = divide(filler->features_per_task(), team.size());
    set_tasks(into.tasks * into.parts);
    cut_into_parts(into.parts);
    // Other builders that share them may be of other lanes.
    std::vector<std::unique_ptr<Histogram>>& others = memory_->others;
    if (others.size() + 1 < into.parts) others.resize(into.parts - 1);
    for (std::size_t part = 1; part < into.parts; ++part) {
      std::unique_ptr<Histogram>& other = others[part - 1];
      if (!other || !other->is_for(histogram)) {
        other = std::make_unique<Histogram>(bins_, lanes_, curvature != nullptr);
      }
    }
    team.for_each(into.tasks * into.parts, nanoseconds, [&](std::size_t t) {
      const std::size_t part = t % into.parts;
      const std::size_t place = t / into.parts * parts_.size() + part;
      filler->fill({t / into.parts, into.tasks, parts_[part], memory_->sums[place],
                    memory_->scratch[place], memory_->terms[place]},
                   schedule_.get(), part == 0 ? histogram : *others[part - 1]);
    });
    add_parts(into.parts, histogram, team);
  }

 private:
  static constexpr std::size_t kRowsForParts = 16'384;
  static constexpr std::size_t kTasksPerThread = 4;  // as some take longer than others

  // Into how many tasks the features are divided, and into how many parts the rows.
  struct Division {
    std::size_t tasks, parts;
  };

  // A task gets as many features as their sums allow, because it makes every row's terms.
  Division divide(std::size_t features_per_task, std::size_t threads) const {
    const std::size_t least = divide_up(features_, features_per_task);
    // Parts have to be added up, which is not worth it where there are features enough for all.
    const bool may_cut = threads > 1 && rows_ >= kRowsForParts && blocks_.size() > 1 &&
                         least < kTasksPerThread * threads;
    const std::size_t parts = may_cut ? 2 : 1;
    const auto take = [&](std::size_t tasks, std::size_t n) {
      return Division{std::min(sets_.size(), std::max(least, tasks)), n};
    };
    if (parts == 1) return take(threads, parts);
    // Every task makes its rows' terms, which takes as long as adding some lanes' to two features.
    const std::size_t wanted = (lanes_ > 1 ? 1 : kTasksPerThread) * threads;
    const std::size_t most = std::max(parts, std::min(blocks_.size(), threads));
    const std::size_t n_parts = std::clamp(divide_up(wanted, least), parts, most);
    return take(divide_up(wanted, n_parts), n_parts);
  }

  static std::size_t divide_up(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

  // Parts have about as many rows each.
  void cut_into_parts(std::size_t n) {
    if (parts_.size() == n) return;
    parts_.assign(n, {});
    std::size_t before = 0;
    for (const AccumulationBlock& block : blocks_) {
      parts_[before * n / rows_].push_back(&block);
      before += block.rows();
    }
  }

  void add_parts(std::size_t parts, Histogram& histogram, Team& team) {
    if (parts == 1) return;
    const std::size_t numbers = 3 * lanes_ * bins_.total_width();
    const double nanoseconds = 0.3 * static_cast<double>(numbers * (parts - 1));
    team.for_each(sets_.size(), nanoseconds, [&](std::size_t g) {
      for (const Bundle& bundle : sets_[g].bundles) {
        for (const std::size_t f : bundle.features) {
          for (std::size_t part = 1; part < parts; ++part) {
            histogram.add(*memory_->others[part - 1], f);
          }
        }
      }
    });
  }

  // Whether all lanes that train have grains, and rows no sample weight.
  bool are_narrow(const LaneUnits& units, bool has_curvature) const {
    if ((lanes_ == 1 && !has_curvature) || !sample_weight_.all_ones()) return false;
    for (std::size_t k = 0; k < lanes_; ++k) {
      if (!trains_[k]) continue;
      if (!units[k].weight_grain.rounds()) return false;
      if (has_curvature && !units[k].curvature_grain.rounds()) return false;
    }
    return true;
  }

  void set_tasks(std::size_t n) {
    if (memory_->sums.size() < n) memory_->sums.resize(n);
    if (memory_->scratch.size() < n) memory_->scratch.resize(n);
    if (memory_->terms.size() < n) memory_->terms.resize(n);
  }

  const Codes& codes_;
  const Bins& bins_;
  const RowSampleWeights sample_weight_;
  const std::vector<AccumulationBlock> blocks_;
  std::size_t rows_, lanes_, features_, adds_;
  std::array<bool, kMostLanes> trains_{};
  std::vector<BundleSet> sets_;
  std::vector<std::vector<const AccumulationBlock*>> parts_;
  std::size_t fills_ = 0;
  std::unique_ptr<const FlushSchedule> schedule_;  // once it is needed
  const std::shared_ptr<HistogramMemory> memory_;
};

HistogramBuilder::HistogramBuilder(const TrainingRows& rows,
                                   const std::vector<AccumulationBlock>& blocks,
                                   const std::vector<std::size_t>& features,
                                   const std::vector<double>& crowding, std::size_t lanes,
                                   bool has_curvature, std::shared_ptr<HistogramMemory> memory) {
  std::vector<std::size_t> dense, sparse;
  for (const std::size_t f : features) (rows.codes.is_sparse(f) ? sparse : dense).push_back(f);
  if (!sparse.empty()) {
    sparse_ =
        std::make_unique<SparseBuilder>(rows, blocks, std::move(sparse), lanes, has_curvature);
  }
  if (dense.empty()) return;
  dense_ = std::make_unique<State>(rows, blocks, std::move(dense), crowding, lanes, has_curvature,
                                   std::move(memory));
}
HistogramBuilder::HistogramBuilder(HistogramBuilder&&) noexcept = default;
HistogramBuilder::~HistogramBuilder() = default;

void HistogramBuilder::fill(const float* weight, const float* curvature, const LaneUnits& units,
                            Histogram& histogram, Team& team) {
  histogram.set_units(units);
  if (dense_) dense_->fill(weight, curvature, units, histogram, team);
  if (sparse_) sparse_->fill(weight, curvature, units, histogram, team);
}

}  // namespace properboost
