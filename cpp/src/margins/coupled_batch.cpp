#include "properboost/margins/coupled_batch.hpp"

#include <algorithm>
#include <array>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/data/transpose.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/directional_slope.hpp"
#include "properboost/margins/fill_feature.hpp"
#include "properboost/margins/rows_at_shift.hpp"

namespace properboost {
namespace {

// The rows of one class of a joint model behind one feature's cells.
//
// Values are for the class's share of its way.
class ByCell final : public RowsAtShift {
 public:
  ByCell(const CoupledRows& rows, const MovedRows& moved, std::size_t lane,
         const std::uint8_t* codes, const std::vector<RowShare>& shares, std::size_t n_cells,
         Team& team)
      : RowsAtShift(rows.loss, shares, n_cells),
        rows_(rows),
        moved_(moved),
        lane_(lane),
        codes_(codes),
        team_(team) {}

 private:
  float shift_for(double value) const override { return static_cast<float>(value / rows_.share); }

  CellSums sum_rows(const CellOfCode& cell_of, const std::array<float, kMaxCodes>& shift) override {
    const std::size_t k = lane_;  // a class
    const double total = 2.0 * rows_.training_weight;
    const double of_row = std::max(1.0, rows_.most_sample_weight);
    const bool remembers = !moved_.shift.empty();
    CellSums all;
    sum_tightly(rows_.bounds_ahead(moved_.largest_score, 0.0), [&](const TermBounds& most) {
      std::vector<CellSums> parts(rows_.parts.size() - 1);
      std::vector<TermBounds> largest(parts.size(), TermBounds{});
      all = CellSums{};
      all.units = {most.weight * total, most.curvature * total, of_row * most.weight,
                   of_row * most.curvature};
      for_training_strips(rows_, team_, [&](std::size_t p, CoupledStrip& strip) {
        strip.place(moved_.u.data(), {});
        strip.shift_class(k, codes_, shift.data());
        if (remembers) strip.gather(moved_.shift.data(), strip.shift());
        strip.weigh(true, false, remembers ? strip.shift() : nullptr);
        strip.note_largest(true, false, largest[p]);
        const std::int64_t sign = strip.sign(k) > 0.0F ? 1 : -1;
        const float* const against = strip.against(k);
        for (const auto& [begin, n, place] : strip.pieces()) {
          for (std::size_t i = 0; i < n; ++i) {
            const double s = strip.sample_weight()[place + i];
            const std::size_t cell = cell_of[codes_[begin + i]];
            parts[p].slope[cell] +=
                sign * all.units.weight.round(s * wide(strip.weights(k)[place + i]));
            if (against != nullptr) {
              parts[p].slope[cell] -= all.units.weight.round(s * wide(against[place + i]));
            }
            parts[p].curvature[cell] +=
                all.units.curvature.round(s * wide(strip.curvatures(k)[place + i]));
          }
        }
      });
      for (const CellSums& part : parts) all += part;
      return reduce_largest(largest, most, true, false,
                            team_.all_reduce()
                                .sum(all.slope.data(), all.slope.size())
                                .sum(all.curvature.data(), all.curvature.size()));
    });
    return all;
  }

  const CoupledRows& rows_;
  const MovedRows& moved_;
  const std::size_t lane_;
  const std::uint8_t* const codes_;
  Team& team_;
};

}  // namespace

CoupledBatch::CoupledBatch(const CoupledRows& rows, const MovedRows& moved, std::size_t first,
                           std::size_t lanes, const std::vector<SegmentRoles>& roles,
                           FurtherLanes further)
    : rows_(rows),
      moved_(moved),
      first_(first),
      models_(lanes),
      width_(width_for(further.all(lanes))),
      further_(further),
      roles_(roles) {
  const auto alike = [&](std::size_t a, std::size_t b) { return roles[a].same(roles[b]); };
  for (const RowBlock& block : cut_into_row_blocks(rows.codes.segments, alike)) {
    if (roles[block.segment].trains) blocks_.push_back(block);
  }
  together_ = put_together(blocks_, roles);
  if (!rows.labels.any()) return;
  std::vector<const float*> of_lane;
  for (std::size_t k = 0; k < models_; ++k) {
    of_lane.push_back(rows.labels.of(first_ + k, rows.codes.rows));
  }
  shares_ = spread_shares(of_lane, rows.codes.rows, width_, further_.against);
}

double CoupledBatch::directional_slope(const Move& direction, Team& team) {
  LaneWeights weights{weight_.data() + direction.lane, width_, moved_.largest.weight, {}};
  for (const RowBlock& block : rows_.blocks) {
    const Role role = rows_.role(first_ + direction.lane, block.segment);
    weights.signs.push_back(learns(role) ? sign_of(role) : 0.0);
  }
  const auto slope_of = [&](const float* weight) {
    weights.first = weight + direction.lane;
    return properboost::directional_slope(direction, weights, rows_.blocks, rows_.sample_weight,
                                          rows_.total_weight, team) /
           training_weight(direction.lane);
  };
  const double towards = slope_of(weight_.data());
  if (!rows_.labels.any()) return towards;
  return towards - slope_of(further_.any() ? weight_.data() + further_.against : against_.data());
}

std::unique_ptr<RowsByCell> CoupledBatch::rows_by_cell(std::size_t lane, const std::uint8_t* codes,
                                                       const std::vector<RowShare>& shares,
                                                       std::size_t n_cells, Team& team) {
  return std::make_unique<ByCell>(rows_, moved_, first_ + lane, codes, shares, n_cells, team);
}

void CoupledBatch::store(const CoupledStrip& strip) {
  for (const auto& [begin, n, place] : strip.pieces()) {
    const std::size_t to = begin * width_;
    if (further_.any()) {
      spread_all(strip, place, n, weight_.data() + to);
      continue;
    }
    spread(strip.weights(first_) + place, strip.size(), n, weight_.data() + to);
    if (strip.is_soft()) {
      spread(strip.against(first_) + place, strip.size(), n, against_.data() + to);
    }
    if (curvature_.empty()) continue;
    spread(strip.curvatures(first_) + place, strip.size(), n, curvature_.data() + to);
  }
}

void CoupledBatch::fill(const CellsOfFeature& cells, Aligned<unsigned char>& memory,
                        Team& team) const {
  const double nanoseconds = static_cast<double>(rows_.codes.rows * width_);
  const FeatureRows rows{rows_.rows,          blocks_, together_, roles_, width_,
                         !curvature_.empty(), units_};
  fill_feature(cells, rows, nanoseconds, memory, team, [&](std::size_t c, const AddStrip& add) {
    const RowBlock& block = blocks_[c];
    add(weight_.data() + block.begin * width_,
        curvature_.empty() ? nullptr : curvature_.data() + block.begin * width_, block.begin,
        block.end - block.begin);
  });
  cells.histogram.all_reduce(cells.feature, team);
}

void CoupledBatch::spread_all(const CoupledStrip& strip, std::size_t place, std::size_t n,
                              float* to) const {
  std::array<const char*, kMostLanes> rows;
  const auto at = [=](const float* of_class) {
    return reinterpret_cast<const char*>(of_class + place);
  };
  for (std::size_t k = 0; k < models_; ++k) {
    rows[k] = at(strip.weights(first_ + k));
    rows[k + further_.against] = at(strip.against(first_ + k));
    if (further_.curvature > 0) rows[k + further_.curvature] = at(strip.curvatures(first_ + k));
  }
  transpose(rows.data(), further_.all(models_), n, width_, to);
}

void CoupledBatch::spread(const float* from, std::size_t stride, std::size_t n, float* to) const {
  if (width_ == 1) return static_cast<void>(std::copy_n(from, n, to));  // a class by itself
  std::array<const char*, kMostLanes> rows;
  for (std::size_t k = 0; k < models_; ++k) {
    rows[k] = reinterpret_cast<const char*>(from + k * stride);
  }
  transpose(rows.data(), models_, n, width_, to);
}

}  // namespace properboost
