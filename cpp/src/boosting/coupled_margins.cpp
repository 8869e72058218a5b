#include "properboost/boosting/coupled_margins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "properboost/boosting/fill_feature.hpp"
#include "properboost/boosting/shifted_rows.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/data/transpose.hpp"
#include "properboost/histogram/row_sums.hpp"

namespace properboost {
namespace {

// The largest of numbers that are not negative.
template <class Number>
Number largest_of(const std::vector<Number>& numbers) {
  Number most{0};
  for (const Number own : numbers) most = std::max(most, own);
  return most;
}

}  // namespace

// The largest of those of all processes' blocks; what was not found is as it was.
CoupledMargins::Bounds CoupledMargins::share_largest(const std::vector<Bounds>& blocks,
                                                     const Bounds& before, bool has_curvature,
                                                     bool has_loss, Share share) {
  Bounds all{0.0, has_curvature ? 0.0 : before.curvature, has_loss ? 0.0 : before.loss};
  for (const Bounds& block : blocks) {
    all.weight = std::max(all.weight, block.weight);
    if (has_curvature) all.curvature = std::max(all.curvature, block.curvature);
    if (has_loss) all.loss = std::max(all.loss, block.loss);
  }
  share.most(all.weight).most(all.curvature).most(all.loss).go();
  return all;
}

class CoupledMargins::Path {
 public:
  static constexpr std::size_t kMost = 3;  // steps

  // Where a path begins.
  void begin(const float* shift, std::size_t rows) {
    rows_ = rows;
    at_ = 0.0;
    points_ = 0;
    add(0.0);
    std::copy_n(shift, rows, shifts_[0].data());
  }
  void move_by(double t) {
    at_ += t;
    add(at_);
  }
  // Goes to a step, whose shifts take the place of those of the step farthest from it if there are
  // many.
  void add(double step) {
    share_.fill(0.0F);
    for (std::size_t j = 0; j < points_; ++j) {
      double share = 1.0;
      for (std::size_t i = 0; i < points_; ++i) {
        if (i != j) share *= (step - steps_[i]) / (steps_[j] - steps_[i]);
      }
      share_[j] = static_cast<float>(share);
    }
    known_ = points_;
    // One that is almost there is replaced: their difference would be all noise.
    std::size_t nearest = 0, farthest = 0;
    for (std::size_t j = 1; j < points_; ++j) {
      if (distance(step, j) < distance(step, nearest)) nearest = j;
      if (distance(step, j) > distance(step, farthest)) farthest = j;
    }
    const bool full = points_ == kMost;
    const bool close = points_ > 1 && distance(step, nearest) < 0.01 * distance(step, farthest);
    place_ = close ? nearest : full ? farthest : points_;
    points_ = std::max(points_, place_ + 1);
    steps_[place_] = step;
    shifts_[place_].resize(rows_);
  }
  // What the other steps make the shifts of some rows at this one, and what they have been found to
  // be.
  void guess(std::size_t begin, std::size_t n, float* guess) const {
    std::fill_n(guess, n, 0.0F);
    for (std::size_t j = 0; j < known_; ++j) {
      const float* const shift = shifts_[j].data() + begin;
      vectorized([=, share = share_[j]] {
        for (std::size_t i = 0; i < n; ++i) guess[i] += share * shift[i];
      });
    }
  }
  void keep(std::size_t begin, std::size_t n, const float* shift) {
    std::copy_n(shift, n, shifts_[place_].data() + begin);
  }

 private:
  double distance(double step, std::size_t j) const { return std::abs(step - steps_[j]); }

  std::size_t rows_ = 0, points_ = 0, known_ = 0, place_ = 0;
  double at_ = 0.0;  // where the model is
  std::array<double, kMost> steps_{};
  std::array<float, kMost> share_{};  // of the steps, in the guess
  std::array<Aligned<float>, kMost> shifts_;
};

// Some rows of one segment, as a joint model sees them: [class][row] arrays in the cache.
class CoupledMargins::Strip {
 public:
  Strip(const CoupledMargins& of, std::size_t model, const RowBlock& block, std::size_t begin,
        std::size_t n)
      : begin_(begin), n_(n), model_(model), m_(of) {
    while (sign_of(m_.role(first() + own_, block.segment)) < 0.0) ++own_;
    static thread_local Aligned<float> memory;
    const std::size_t size = m_.classes_ * m_.strip_;
    memory.resize(4 * size + 2 * m_.strip_);
    scores_ = memory.data();
    along_ = scores_ + size;
    weights_ = along_ + size;
    curvatures_ = weights_ + size;
    losses_ = curvatures_ + size;
    shift_ = losses_ + m_.strip_;
  }

  std::size_t begin() const noexcept { return begin_; }
  std::size_t size() const noexcept { return n_; }
  float* shift() const noexcept { return shift_; }  // memory for the rows' shifts
  const float* weights(std::size_t k) const noexcept { return weights_ + k * n_; }
  const float* curvatures(std::size_t k) const noexcept { return curvatures_ + k * n_; }
  float sign(std::size_t k) const noexcept { return k == own_ ? 1.0F : -1.0F; }

  // Takes the scores from the margins, moved along the directions of the joint model's classes.
  void place(const Directions& directions) {
    for (std::size_t k = 0; k < m_.classes_; ++k) {
      const float* const u = m_.u_.data() + (first() + k) * m_.codes_.rows + begin_;
      float* const z = scores_ + k * n_;
      const float sign = this->sign(k);
      if (directions.empty() || directions[k].table.empty()) {
        vectorized([=, n = n_] {
          for (std::size_t i = 0; i < n; ++i) z[i] = sign * u[i];
        });
        continue;
      }
      float* const along = along_ + k * n_;
      const float* const table = directions[k].table.data();
      const std::uint8_t* const codes = directions[k].codes + begin_;
      for (std::size_t i = 0; i < n_; ++i) along[i] = table[codes[i]];
      if (directions[k].lines != nullptr) {
        const float* const lines = directions[k].lines + begin_;
        for (std::size_t i = 0; i < n_; ++i) along[i] += lines[i];
      }
      vectorized([=, t = directions[k].t, n = n_] {
        const float* const __restrict way = along;
        float* const __restrict to = z;
        for (std::size_t i = 0; i < n; ++i) to[i] = sign * u[i] + t * way[i];
      });
    }
  }

  // Moves one class of rows that have been placed.
  void shift_class(std::size_t k, const std::uint8_t* codes, const float* by_code) {
    float* const z = scores_ + k * n_;
    for (std::size_t i = 0; i < n_; ++i) z[i] += by_code[codes[begin_ + i]];
  }

  // Finds the weights.  `shift` is what the joint loss remembers of these rows; it is updated.
  void weigh(bool needs_curvature, bool needs_loss, float* shift) {
    m_.joint_->evaluate({m_.classes_, n_, own_, scores_, shift, weights_,
                         needs_curvature ? curvatures_ : nullptr, needs_loss ? losses_ : nullptr});
    const auto classes = static_cast<double>(m_.classes_);
    const auto factor = static_cast<float>((classes - 1.0) / classes / m_.share_);
    if (needs_curvature && factor != 1.0F) {
      vectorized([factor, c = curvatures_, n = m_.classes_ * n_] {
        for (std::size_t i = 0; i < n; ++i) c[i] *= factor;
      });
    }
  }

  // Where many lanes are summed, their weights are multiplied by the rows' beforehand; the sums of
  // a lone lane do that themselves.
  void multiply_by_sample_weights() {
    const RowSampleWeights s = m_.sample_weight_.from(begin_);
    if (s.all_ones()) return;
    for (std::size_t k = 0; k < m_.classes_; ++k) {
      float* const w = weights_ + k * n_;
      float* const c = curvatures_ + k * n_;
      vectorized([=, n = n_, curves = m_.needs_curvature_] {
        for (std::size_t i = 0; i < n; ++i) w[i] *= static_cast<float>(s.given(i));
        for (std::size_t i = 0; curves && i < n; ++i) c[i] *= static_cast<float>(s.given(i));
      });
    }
  }

  // `largest` becomes the largest of its terms, if that is larger.
  std::int64_t slope(const Directions& directions, const TermUnits& units, double& largest) const {
    std::int64_t total = 0;
    for (std::size_t k = 0; k < m_.classes_; ++k) {
      if (directions.empty() || directions[k].table.empty()) continue;
      const float* const w = weights(k);
      const float* const along = along_ + k * n_;
      const std::int64_t own =
          sum(units, [=](std::size_t i) { return wide(w[i]) * wide(along[i]); });
      vectorized([=, &largest, n = n_] {
        float most = static_cast<float>(largest);
        for (std::size_t i = 0; i < n; ++i) {
          const float size = std::abs(w[i] * along[i]);
          most = size > most ? size : most;
        }
        largest = wide(most);
      });
      total += k == own_ ? own : -own;
    }
    return total;
  }
  std::int64_t risk(const TermUnits& units) const { return sum_of(losses_, units); }
  std::int64_t sum_of(const float* numbers, const TermUnits& units) const {
    return sum(units, [=](std::size_t i) { return wide(numbers[i]); });
  }

  // Makes these the largest terms, if those of some rows are larger.
  void note_largest(bool has_curvature, bool has_loss, Bounds& largest) const {
    const auto note = [](const float* terms, std::size_t n, double& most) {
      auto own = static_cast<float>(most);
      vectorized([=, &own] {
        for (std::size_t i = 0; i < n; ++i) own = terms[i] > own ? terms[i] : own;
      });
      most = wide(own);
    };
    note(weights_, m_.classes_ * n_, largest.weight);
    if (has_curvature) note(curvatures_, m_.classes_ * n_, largest.curvature);
    if (has_loss) note(losses_, n_, largest.loss);
  }

  void store_margins(float* u) const {
    for (std::size_t k = 0; k < m_.classes_; ++k) {
      float* const own = u + (first() + k) * m_.codes_.rows + begin_;
      const float* const z = scores_ + k * n_;
      vectorized([=, sign = sign(k), n = n_] {
        for (std::size_t i = 0; i < n; ++i) own[i] = sign * z[i];
      });
    }
  }
  float largest_score() const {
    float most = 0.0F;
    for (std::size_t j = 0; j < m_.classes_ * n_; ++j) most = std::max(most, std::abs(scores_[j]));
    return most;
  }

 private:
  std::size_t first() const noexcept { return model_ * m_.classes_; }

  template <class Term>
  std::int64_t sum(const TermUnits& units, const Term& term) const {
    WholeSums total{};
    vectorized([&, s = m_.sample_weight_.from(begin_), n = n_, term] {
      add_rows<1>(n, s, units, total, term);
    });
    return total[0];
  }

  std::size_t begin_, n_, model_, own_ = 0;
  const CoupledMargins& m_;
  float *scores_, *along_, *weights_, *curvatures_, *losses_, *shift_;
};

// The lanes of one batch.
class CoupledMargins::Batch final : public BatchMargins {
 public:
  Batch(CoupledMargins& all, std::size_t first, const BatchLanes& own)
      : m_(all),
        first_(first),
        models_(own.lanes),
        width_(width_for(own.lanes)),
        roles_(own.roles) {}

  std::size_t lanes() const noexcept override { return width_; }
  double training_weight(std::size_t lane) const noexcept override {
    return m_.training_weight_[(first_ + lane) / m_.classes_];
  }
  const float* weight() const noexcept override { return weight_.data(); }
  const float* curvature() const noexcept override {
    return curvature_.empty() ? nullptr : curvature_.data();
  }
  const CellUnits& cell_units() const noexcept override { return units_; }
  double most_weight(std::size_t /*lane*/) const noexcept override { return m_.largest_.weight; }
  double slope_along(const Move& direction, Team& team) override;
  std::unique_ptr<RowsByCell> rows_by_cell(std::size_t lane, const std::uint8_t* codes,
                                           const std::vector<RowShare>& shares, std::size_t n_cells,
                                           Team& team) override;

  void begin() {
    if (!weight_.empty()) return;
    weight_.assign(m_.codes_.rows * width_, 0.0F);
    if (m_.needs_curvature_) curvature_.assign(m_.codes_.rows * width_, 0.0F);
  }
  void forget() {
    weight_ = {};
    curvature_ = {};
  }
  // Gets the sums of the weights, and the curvatures, of a lone lane.
  void set_units(const CellUnits& units) noexcept { units_ = units; }
  std::size_t first() const noexcept { return first_; }
  // Keeps the weights of a joint model's rows: of its classes that are in this batch.
  void store(std::size_t model, const Strip& strip) {
    const std::size_t begin = std::max(first_, model * m_.classes_);
    const std::size_t end = std::min(first_ + models_, (model + 1) * m_.classes_);
    if (begin >= end) return;
    const std::size_t k = begin - model * m_.classes_;
    const std::size_t place = strip.begin() * width_ + begin - first_;
    spread(strip.weights(k), strip.size(), end - begin, weight_.data() + place);
    if (curvature_.empty()) return;
    spread(strip.curvatures(k), strip.size(), end - begin, curvature_.data() + place);
  }
  // Sums the weights of one feature into its cells.
  void fill(const CellsOfFeature& cells, Team& team) const {
    visit_width(width_, [&](auto width) {
      constexpr std::size_t W = decltype(width)::value;
      const double nanoseconds = static_cast<double>(m_.codes_.rows * W);
      const auto pass = [&](std::size_t c, const auto& add) {
        const RowBlock& block = m_.blocks_[c];
        if (!roles_[block.segment].trains) return;
        add(weight_.data() + block.begin * W,
            curvature_.empty() ? nullptr : curvature_.data() + block.begin * W, block.begin,
            block.end - block.begin);
      };
      fill_feature<W>(cells, m_.rows_, m_.blocks_, roles_, m_.needs_curvature_, units_, nanoseconds,
                      team, pass);
    });
  }

 private:
  // Writes the numbers of n rows in some lanes, [lane][row], as [row][lane].
  void spread(const float* from, std::size_t n, std::size_t lanes, float* to) const {
    std::array<const char*, kMostLanes> rows;
    for (std::size_t k = 0; k < lanes; ++k) rows[k] = reinterpret_cast<const char*>(from + k * n);
    transpose(rows.data(), lanes, n, width_, to);
  }

  CoupledMargins& m_;
  const std::size_t first_, models_, width_;
  const std::vector<SegmentRoles>& roles_;
  Aligned<float> weight_, curvature_;
  CellUnits units_;
};

// The risk of a joint model along the look-up tables of its classes.
class CoupledMargins::Oracle final : public LineSearchOracle {
 public:
  Oracle(CoupledMargins& margins, std::size_t model, Directions directions, Team& team)
      : margins_(margins), model_(model), directions_(std::move(directions)), team_(team) {}
  double slope_at(double t) override {
    for (Direction& direction : directions_) direction.t = static_cast<float>(t - at_);
    return margins_.slope_ahead(model_, directions_, t, team_);
  }
  void moved_to(double t) override { at_ = t; }

 private:
  CoupledMargins& margins_;
  const std::size_t model_;
  Directions directions_;
  Team& team_;
  double at_ = 0.0;
};

// The rows of one class of a joint model behind one feature's cells.
//
// Values are for the class's share of its way.
class CoupledMargins::ByCell final : public ShiftedRows {
 public:
  ByCell(const CoupledMargins& margins, std::size_t lane, const std::uint8_t* codes,
         const std::vector<RowShare>& shares, std::size_t n_cells, Team& team)
      : ShiftedRows(margins.loss_, shares, n_cells),
        m_(margins),
        lane_(lane),
        codes_(codes),
        team_(team) {}

 private:
  float shift_for(double value) const override { return static_cast<float>(value / m_.share_); }

  CellSums sum_rows(const CellOfCode& cell_of, const std::array<float, kMaxCodes>& shift) override {
    const std::size_t model = lane_ / m_.classes_, k = lane_ % m_.classes_;
    const double total = 2.0 * m_.training_weight_[model];
    const double of_row = std::max(1.0, m_.most_sample_weight_);
    const bool remembers = !m_.shift_.empty();
    CellSums all;
    sum_tightly(m_.bounds_ahead(0.0), [&](const Bounds& most) {
      std::vector<CellSums> parts(m_.blocks_.size());
      std::vector<Bounds> largest(parts.size(), Bounds{});
      all = CellSums{};
      all.units = {most.weight * total, most.curvature * total, of_row * most.weight,
                   of_row * most.curvature};
      m_.for_training_strips(model, team_, [&](std::size_t c, Strip& strip) {
        strip.place({});
        strip.shift_class(k, codes_, shift.data());
        if (remembers) {
          const std::size_t place = model * m_.codes_.rows + strip.begin();
          std::copy_n(m_.shift_.data() + place, strip.size(), strip.shift());
        }
        strip.weigh(true, false, remembers ? strip.shift() : nullptr);
        strip.note_largest(true, false, largest[c]);
        const std::int64_t sign = strip.sign(k) > 0.0F ? 1 : -1;
        for (std::size_t i = 0; i < strip.size(); ++i) {
          const double s = m_.sample_weight_[strip.begin() + i];
          const std::size_t cell = cell_of[codes_[strip.begin() + i]];
          parts[c].slope[cell] += sign * all.units.weight.round(s * wide(strip.weights(k)[i]));
          parts[c].curvature[cell] += all.units.curvature.round(s * wide(strip.curvatures(k)[i]));
        }
      });
      for (const CellSums& part : parts) all += part;
      return m_.share_largest(largest, most, true, false,
                              team_.share()
                                  .sum(all.slope.data(), all.slope.size())
                                  .sum(all.curvature.data(), all.curvature.size()));
    });
    return all;
  }

  const CoupledMargins& m_;
  const std::size_t lane_;
  const std::uint8_t* const codes_;
  Team& team_;
};

double CoupledMargins::Batch::slope_along(const Move& direction, Team& team) {
  const std::size_t lane = direction.lane;
  const std::vector<float> entries(direction.table.begin(), direction.table.end());
  const RowSampleWeights given =  // wide batches have them in their weights
      width_ == 1 ? m_.sample_weight_ : RowSampleWeights{};
  TermUnits units;
  const double most = m_.largest_.weight * m_.farthest(entries, direction.lines, team);
  if (given.all_ones() && !m_.sample_weight_.all_ones()) {
    units.set(0, most * m_.most_sample_weight_, m_.codes_.rows);
  } else {
    units.set(0, most, given, m_.total_weight_);
  }
  std::vector<WholeSums> parts(m_.blocks_.size(), WholeSums{});
  team.for_each(parts.size(), static_cast<double>(m_.codes_.rows), [&](std::size_t c) {
    const RowBlock& block = m_.blocks_[c];
    const Role role = m_.role(first_ + lane, block.segment);
    if (!learns(role)) return;
    const float* const w = weight_.data() + block.begin * width_ + lane;
    const std::uint8_t* const code = direction.codes + block.begin;
    const float* const lines = direction.lines == nullptr ? nullptr : direction.lines + block.begin;
    add_rows<1>(block.end - block.begin, given.from(block.begin), units, parts[c],
                [&](std::size_t i) {
                  const float line = lines == nullptr ? 0.0F : lines[i];
                  return wide(w[i * width_]) * wide(entries[code[i]] + line);
                });
    if (sign_of(role) < 0.0) parts[c][0] = -parts[c][0];
  });
  std::int64_t slope = 0;
  for (const WholeSums& part : parts) slope += part[0];
  double lost = 0.0;
  Share share = team.share();
  units.share(share.sum(slope), lost);
  share.go();
  units.lose_if(lost);
  return units.value(0, slope) / training_weight(lane);
}

std::unique_ptr<RowsByCell> CoupledMargins::Batch::rows_by_cell(std::size_t lane,
                                                                const std::uint8_t* codes,
                                                                const std::vector<RowShare>& shares,
                                                                std::size_t n_cells, Team& team) {
  return std::make_unique<ByCell>(m_, first_ + lane, codes, shares, n_cells, team);
}

namespace {

// So few rows at a time that what a strip holds of them stays in the second cache.
std::size_t rows_of_strip(std::size_t classes) {
  constexpr std::size_t kNumbers = 16'384;
  return std::clamp<std::size_t>(kNumbers / classes / 16 * 16, 16, 1'024);
}

}  // namespace

CoupledMargins::CoupledMargins(const TrainingRows& rows,
                               std::vector<const std::vector<Role>*> roles,
                               const std::vector<BatchLanes>& batches, const Loss& loss,
                               const Coupling& coupling, double share, bool needs_curvature)
    : rows_(rows),
      codes_(rows.codes),
      sample_weight_(rows.sample_weight),
      classes_(coupling.classes),
      roles_(std::move(roles)),
      loss_(loss),
      joint_(make_joint_loss(coupling.joint_loss, loss)),
      share_(share),
      needs_curvature_(needs_curvature),
      strip_(rows_of_strip(coupling.classes)),
      total_weight_(rows.totals.all),
      most_sample_weight_(rows.totals.most),
      training_weight_(joint_models(), 0.0),
      u_(rows.codes.rows * roles_.size(), 0.0F) {
  if (joint_->remembers_shifts()) {
    shift_.assign(codes_.rows * joint_models(), std::numeric_limits<float>::quiet_NaN());
    guess_ = shift_;
    paths_.resize(joint_models());
  }
  std::vector<bool> used(codes_.segments.size() - 1, false);
  for (std::size_t s = 0; s < used.size(); ++s) {
    const double total = rows.totals.of_segment[s];
    for (std::size_t model = 0; model < joint_models(); ++model) {
      const Role own = role(model * classes_, s);
      used[s] = used[s] || own != Role::kNone;
      if (learns(own)) training_weight_[model] += total;
    }
  }
  for (const RowBlock& block : cut_into_row_blocks(codes_.segments)) {
    if (used[block.segment]) blocks_.push_back(block);
  }
  std::size_t first = 0;
  for (const BatchLanes& batch : batches) {
    batches_.push_back(std::make_unique<Batch>(*this, first, batch));
    first += batch.lanes;
  }
}
CoupledMargins::~CoupledMargins() = default;

Memory CoupledMargins::needs(std::size_t rows, std::size_t lanes,
                             const std::vector<std::size_t>& widths, const Loss& loss,
                             const Coupling& coupling, bool needs_curvature) {
  std::size_t numbers = lanes;
  if (make_joint_loss(coupling.joint_loss, loss)->remembers_shifts()) {
    numbers += (2 + Path::kMost) * (lanes / coupling.classes);
  }
  const std::size_t width = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  return {rows * numbers * sizeof(float), rows * width * (needs_curvature ? 2 : 1) * sizeof(float)};
}

BatchMargins& CoupledMargins::batch(std::size_t b) noexcept { return *batches_[b]; }

void CoupledMargins::direct(const Move& move, Directions& classes) const {
  Direction& own = classes[move.lane % classes_];
  own.codes = move.codes;
  own.table.assign(move.table.begin(), move.table.end());
  own.t = static_cast<float>(move.t);
  own.lines = move.lines;
}

template <class Task>
void CoupledMargins::for_training_strips(std::size_t model, Team& team, const Task& task) const {
  const double nanoseconds = 4.0 * static_cast<double>(codes_.rows) * static_cast<double>(classes_);
  team.for_each(blocks_.size(), nanoseconds, [&](std::size_t c) {
    const RowBlock& block = blocks_[c];
    if (!learns(role(model * classes_, block.segment))) return;
    for (std::size_t begin = block.begin; begin < block.end; begin += strip_) {
      Strip strip(*this, model, block, begin, std::min(strip_, block.end - begin));
      task(c, strip);
    }
  });
}

double CoupledMargins::slope_ahead(std::size_t model, const Directions& directions, double step,
                                   Team& team) {
  Path* const path = paths_.empty() ? nullptr : &paths_[model];
  if (path != nullptr) path->add(step);
  double slope = 0.0;
  sum_tightly(farthest(directions, team), [&](double most) {
    const TermUnits units = units_of_slope(most);
    std::vector<std::int64_t> parts(blocks_.size(), 0);
    std::vector<double> largest(parts.size(), 0.0);
    for_training_strips(model, team, [&](std::size_t c, Strip& strip) {
      strip.place(directions);
      float* const shift = path == nullptr ? nullptr : strip.shift();
      if (path != nullptr) path->guess(strip.begin(), strip.size(), shift);
      strip.weigh(false, false, shift);
      if (path != nullptr) path->keep(strip.begin(), strip.size(), shift);
      parts[c] += strip.slope(directions, units, largest[c]);
    });
    std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    double there = largest_of(largest);
    double lost = 0.0;
    Share share = team.share();
    units.share(share.sum(sum).most(there), lost);
    share.go();
    units.lose_if(lost);
    slope = units.value(0, sum);
    return there;
  });
  return slope / training_weight_[model];
}

// The largest entry of a look-up table, with what lines add to it.
double CoupledMargins::farthest(const std::vector<float>& table, const float* lines,
                                Team& team) const {
  float most = 0.0F;
  for (const float x : table) most = std::max(most, std::abs(x));
  if (lines == nullptr) return wide(most);
  std::vector<float> parts(blocks_.size(), 0.0F);
  team.for_each(parts.size(), 0.2 * static_cast<double>(codes_.rows), [&](std::size_t c) {
    for (std::size_t i = blocks_[c].begin; i < blocks_[c].end; ++i) {
      parts[c] = std::max(parts[c], std::abs(lines[i]));
    }
  });
  double line = wide(largest_of(parts));
  team.share().most(line).go();
  return wide(most) + line;
}

// The same of all classes that move.  No weight is larger than 1, so that no term of a slope is
// larger than this.
double CoupledMargins::farthest(const Directions& directions, Team& team) const {
  double most = 0.0;
  for (const Direction& own : directions) {
    if (!own.table.empty()) most = std::max(most, farthest(own.table, own.lines, team));
  }
  return most;
}

TermUnits CoupledMargins::units_of_slope(double most) const {
  TermUnits units;
  units.set(0, most, sample_weight_, total_weight_ * static_cast<double>(classes_));
  return units;
}

// Once no score has moved farther than so.
CoupledMargins::Bounds CoupledMargins::bounds_ahead(double farthest) const {
  const auto classes = static_cast<double>(classes_);
  const double least = -wide(largest_score_) - farthest;
  return {1.0,  // a probability
          (classes - 1.0) / classes / share_ * loss_.most_curvature(0.0),
          2.0 * classes * loss_.most_loss(least)};
}

std::unique_ptr<LineSearchOracle> CoupledMargins::look_along(const std::vector<Move>& directions,
                                                             Team& team) {
  const std::size_t model = directions.front().lane / classes_;
  Directions own(classes_);
  for (const Move& direction : directions) direct(direction, own);
  if (!paths_.empty()) paths_[model].begin(shift_.data() + model * codes_.rows, codes_.rows);
  return std::make_unique<Oracle>(*this, model, std::move(own), team);
}

std::vector<Point> CoupledMargins::move(const std::vector<Move>& moves,
                                        const std::vector<PassRequest>& requests, Team& team) {
  std::vector<Move> here;
  double farthest_move = 0.0;
  std::vector<double> most(joint_models(), 0.0);  // of a slope's terms
  for (const Move& move : moves) {
    const std::vector<float> entries(move.table.begin(), move.table.end());
    const double far = farthest(entries, move.lines, team);
    most[move.lane / classes_] = std::max(most[move.lane / classes_], far);
    farthest_move = std::max(farthest_move, std::abs(move.t) * far);
    here.push_back({move.lane, move.codes, move.table, 0.0, move.width, move.lines});
  }
  const Bounds bounds = bounds_ahead(farthest_move);
  const std::vector<double> bounds_of_slopes = most;
  std::vector<Point> points = move_all(moves, requests, bounds, most, team);
  bool loose = is_loose(bounds, largest_);
  for (std::size_t model = 0; model < most.size(); ++model) {
    loose = loose || is_loose(bounds_of_slopes[model], most[model]);
  }
  if (loose) points = move_all(here, requests, Bounds(largest_), most, team);
  return points;
}

std::vector<Point> CoupledMargins::move_all(const std::vector<Move>& moves,
                                            const std::vector<PassRequest>& requests,
                                            const Bounds& bounds, std::vector<double>& most_slopes,
                                            Team& team) {
  for (const auto& batch : batches_) batch->begin();
  const bool needs_risk = requests.front().risk;
  struct Sums {
    std::int64_t slope = 0, risk = 0;
  };
  std::vector<Sums> sums(joint_models() * blocks_.size());
  std::vector<Directions> directions(joint_models(), Directions(classes_));
  std::vector<double> moved(joint_models(), 0.0);  // how far
  for (const Move& move : moves) {
    direct(move, directions[move.lane / classes_]);
    moved[move.lane / classes_] = move.t;
  }
  for (std::size_t model = 0; model < paths_.size(); ++model) {
    if (moved[model] != 0.0) paths_[model].move_by(moved[model]);
  }
  const std::size_t n_blocks = blocks_.size();
  std::vector<TermUnits> slope_units;
  TermUnits risk_units, weight_units, curvature_units;
  slope_units.reserve(joint_models());
  for (const double most : most_slopes) slope_units.push_back(units_of_slope(most));
  std::vector<double> largest_slopes(joint_models() * n_blocks, 0.0);
  risk_units.set(0, bounds.loss, sample_weight_, total_weight_);
  weight_units.set(0, bounds.weight, sample_weight_, total_weight_);
  curvature_units.set(0, bounds.curvature, sample_weight_, total_weight_);
  struct Totals {
    std::int64_t weight = 0, curvature = 0;
  };
  std::vector<Totals> totals(batches_.size() * n_blocks);  // of lone lanes
  std::vector<float> largest_scores(n_blocks, 0.0F);
  std::vector<Bounds> largest(n_blocks, Bounds{});
  const double nanoseconds = 4.0 * static_cast<double>(codes_.rows * roles_.size());
  team.for_each(blocks_.size(), nanoseconds, [&](std::size_t c) {
    const RowBlock& block = blocks_[c];
    for (std::size_t begin = block.begin; begin < block.end; begin += strip_) {
      const std::size_t n = std::min(strip_, block.end - begin);
      for (std::size_t model = 0; model < joint_models(); ++model) {
        const Role role = this->role(model * classes_, block.segment);
        if (role == Role::kNone) continue;
        Strip strip(*this, model, block, begin, n);
        strip.place(directions[model]);
        strip.store_margins(u_.data());
        largest_scores[c] = std::max(largest_scores[c], strip.largest_score());
        if (!learns(role)) continue;
        float* shift = nullptr;
        if (!paths_.empty()) {
          const std::size_t place = model * codes_.rows + begin;
          shift = shift_.data() + place;
          float* const guess = guess_.data() + place;
          if (moved[model] != 0.0) paths_[model].guess(begin, n, guess);
          std::copy_n(guess, n, shift);
        }
        strip.weigh(needs_curvature_, needs_risk, shift);
        if (shift != nullptr && moved[model] != 0.0) paths_[model].keep(begin, n, shift);
        strip.note_largest(needs_curvature_, needs_risk, largest[c]);
        Sums& own = sums[model * n_blocks + c];
        own.slope += strip.slope(directions[model], slope_units[model],
                                 largest_slopes[model * n_blocks + c]);
        if (needs_risk) own.risk += strip.risk(risk_units);
        for (std::size_t b = 0; b < batches_.size(); ++b) {
          const std::size_t lane = batches_[b]->first();
          if (batches_[b]->lanes() > 1 || lane / classes_ != model) continue;
          Totals& total = totals[b * n_blocks + c];
          total.weight += strip.sum_of(strip.weights(lane % classes_), weight_units);
          if (!needs_curvature_) continue;
          total.curvature += strip.sum_of(strip.curvatures(lane % classes_), curvature_units);
        }
        const auto store = [&](bool alone) {
          for (const auto& batch : batches_) {
            if ((batch->lanes() == 1) == alone) batch->store(model, strip);
          }
        };
        store(true);
        if (batches_.front()->lanes() == 1) continue;
        strip.multiply_by_sample_weights();
        store(false);
      }
    }
  });
  std::vector<Sums> all(joint_models());
  std::vector<Totals> in_all(batches_.size());
  for (std::size_t c = 0; c < n_blocks; ++c) {
    for (std::size_t model = 0; model < all.size(); ++model) {
      all[model].slope += sums[model * n_blocks + c].slope;
      all[model].risk += sums[model * n_blocks + c].risk;
    }
    for (std::size_t b = 0; b < in_all.size(); ++b) {
      in_all[b].weight += totals[b * n_blocks + c].weight;
      in_all[b].curvature += totals[b * n_blocks + c].curvature;
    }
  }
  Share share = team.share();
  for (Sums& own : all) share.sum(own.slope).sum(own.risk);
  for (Totals& own : in_all) share.sum(own.weight).sum(own.curvature);
  double farthest_score = wide(largest_of(largest_scores));
  share.most(farthest_score);
  for (std::size_t model = 0; model < joint_models(); ++model) {
    const auto first = largest_slopes.begin() + static_cast<std::ptrdiff_t>(model * n_blocks);
    most_slopes[model] =
        largest_of(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(n_blocks)));
    share.most(most_slopes[model]);
  }
  std::vector<const TermUnits*> units = {&risk_units, &weight_units, &curvature_units};
  for (const TermUnits& own : slope_units) units.push_back(&own);
  std::vector<double> lost(units.size(), 0.0);
  for (std::size_t j = 0; j < units.size(); ++j) units[j]->share(share, lost[j]);
  largest_ = share_largest(largest, bounds, needs_curvature_, needs_risk, share);
  largest_score_ = static_cast<float>(farthest_score);
  for (std::size_t j = 0; j < units.size(); ++j) units[j]->lose_if(lost[j]);
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    // What is so small that none was seen may still be some.
    const double scale = TermUnits::scale_of(sample_weight_);
    const auto unseen = static_cast<std::int64_t>(total_weight_ * scale) + 1;
    const double s = std::max(1.0, most_sample_weight_);
    batches_[b]->set_units(
        {weight_units.value(0, in_all[b].weight + unseen),
         needs_curvature_ ? curvature_units.value(0, in_all[b].curvature + unseen) : 0.0,
         s * largest_.weight, s * largest_.curvature});
    const std::optional<CellsOfFeature>& cells = requests[b].cells;
    if (cells) batches_[b]->fill(*cells, team);
  }
  std::vector<Point> points(roles_.size());
  for (std::size_t model = 0; model < joint_models(); ++model) {
    Point point;
    point.slope = slope_units[model].value(0, all[model].slope) / training_weight_[model];
    point.risk = risk_units.value(0, all[model].risk) / training_weight_[model];
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    point.held_out = {kNone, kNone, kNone};
    std::fill_n(points.begin() + static_cast<std::ptrdiff_t>(model * classes_), classes_, point);
  }
  return points;
}

void CoupledMargins::forget_weights() {
  for (const auto& batch : batches_) batch->forget();
}

}  // namespace properboost
