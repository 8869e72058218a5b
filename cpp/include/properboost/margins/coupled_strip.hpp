// Strips: some rows of one class, the unit of a joint model's passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/histogram/row_sums.hpp"
#include "properboost/margins/coupled_rows.hpp"
#include "properboost/margins/term_bounds.hpp"

namespace properboost {

// A class's look-up table, empty where the class does not move.
struct ClassDirection {
  const std::uint8_t* codes = nullptr;
  std::vector<float> table = {};
  float t = 0.0F;
  const float* lines = nullptr;
};
using ClassDirections = std::vector<ClassDirection>;

// [class][row] arrays in the cache.
class CoupledStrip {
 public:
  CoupledStrip(const CoupledRows& of, const StripRows& strip)
      : strip_(strip), n_(strip.rows), rows_(of) {
    static thread_local Aligned<float> memory;
    static thread_local Aligned<double> strip_sample_weight;
    const std::size_t size = rows_.classes * rows_.most_rows;
    const bool soft = rows_.labels.any();
    memory.resize((soft ? 6 : 4) * size + 2 * rows_.most_rows);
    scores_ = memory.data();
    along_ = scores_ + size;
    weights_ = along_ + size;
    curvatures_ = weights_ + size;
    losses_ = curvatures_ + size;
    shift_ = losses_ + rows_.most_rows;
    if (soft) {
      against_ = shift_ + rows_.most_rows;
      shares_ = against_ + size;
    }
    if (!strip.trains || rows_.sample_weight.all_ones()) return;
    strip_sample_weight.resize(rows_.most_rows);
    for (const StripRows::Piece& piece : strip.pieces) {
      for (std::size_t i = 0; i < piece.rows; ++i) {
        strip_sample_weight[piece.place + i] = rows_.sample_weight.stored(piece.begin + i);
      }
    }
    sample_weight_ = RowSampleWeights(strip_sample_weight.data(), rows_.sample_weight.unit());
  }

  std::size_t size() const noexcept { return n_; }
  bool trains() const noexcept { return strip_.trains; }
  const std::vector<StripRows::Piece>& pieces() const noexcept { return strip_.pieces; }
  const RowSampleWeights& sample_weight() const noexcept { return sample_weight_; }
  float* shift() const noexcept { return shift_; }  // memory for the rows' shifts
  const float* weights(std::size_t k) const noexcept { return weights_ + k * n_; }
  const float* curvatures(std::size_t k) const noexcept { return curvatures_ + k * n_; }
  // With soft labels, the weights towards a class and those against it; or null.
  const float* against(std::size_t k) const noexcept {
    return is_soft() ? against_ + k * n_ : nullptr;
  }
  bool is_soft() const noexcept { return against_ != nullptr; }
  // Rows of all classes have the margins of a positive label in each.
  float sign(std::size_t k) const noexcept {
    return k == strip_.of_class || is_soft() ? 1.0F : -1.0F;
  }

  // Copies numbers of all rows into numbers of the strip's, and back.
  void gather(const float* of_row, float* to) const {
    for (const auto& [begin, n, place] : strip_.pieces) std::copy_n(of_row + begin, n, to + place);
  }
  void scatter(const float* from, float* of_row) const {
    for (const auto& [begin, n, place] : strip_.pieces) {
      std::copy_n(from + place, n, of_row + begin);
    }
  }

  // Takes the scores from the margins, [lane][row], moved along the directions of the
  // classes.
  void place(const float* margins, const ClassDirections& directions) {
    for (std::size_t k = 0; k < rows_.classes; ++k) {
      gather(margins + k * rows_.codes.rows, scores_ + k * n_);
      if (directions.empty() || directions[k].table.empty()) continue;
      for (const auto& [begin, n, place] : strip_.pieces) {
        float* const along = along_ + k * n_ + place;
        const float* const table = directions[k].table.data();
        const std::uint8_t* const codes = directions[k].codes + begin;
        for (std::size_t i = 0; i < n; ++i) along[i] = table[codes[i]];
        if (directions[k].lines == nullptr) continue;
        const float* const lines = directions[k].lines + begin;
        for (std::size_t i = 0; i < n; ++i) along[i] += lines[i];
      }
    }
    vectorized([&, n = n_] {
      for (std::size_t k = 0; k < rows_.classes; ++k) {
        float* const __restrict z = scores_ + k * n;
        const float sign = this->sign(k);
        if (directions.empty() || directions[k].table.empty()) {
          for (std::size_t i = 0; i < n; ++i) z[i] = sign * z[i];
          continue;
        }
        const float* const __restrict way = along_ + k * n;
        const float t = directions[k].t;
        for (std::size_t i = 0; i < n; ++i) z[i] = sign * z[i] + t * way[i];
      }
    });
  }

  // Moves one class of rows that have been placed.
  void shift_class(std::size_t k, const std::uint8_t* codes, const float* by_code) {
    for (const auto& [begin, n, place] : strip_.pieces) {
      float* const z = scores_ + k * n_ + place;
      for (std::size_t i = 0; i < n; ++i) z[i] += by_code[codes[begin + i]];
    }
  }

  // Computes the weights.  `shift` is the joint loss's last shift of these rows; it is updated.
  void weigh(bool needs_curvature, bool needs_loss, float* shift) {
    JointRows rows{rows_.classes,
                   n_,
                   strip_.of_class,
                   scores_,
                   shift,
                   weights_,
                   needs_curvature ? curvatures_ : nullptr,
                   needs_loss ? losses_ : nullptr};
    if (is_soft()) {
      weigh_by_shares(rows);
    } else {
      rows_.joint->evaluate(rows);
    }
    const auto classes = static_cast<double>(rows_.classes);
    const auto factor = static_cast<float>((classes - 1.0) / classes / rows_.share);
    if (needs_curvature && factor != 1.0F) {
      vectorized([factor, c = curvatures_, n = rows_.classes * n_] {
        for (std::size_t i = 0; i < n; ++i) c[i] *= factor;
      });
    }
  }

  // `largest` becomes the largest of its terms, if that is larger.
  std::int64_t slope(const ClassDirections& directions, const TermUnits& units,
                     double& largest) const {
    std::int64_t total = 0;
    for (std::size_t k = 0; k < rows_.classes; ++k) {
      if (directions.empty() || directions[k].table.empty()) continue;
      const float* const w = weights(k);
      const float* const along = along_ + k * n_;
      if (is_soft()) {
        const float* const other = against(k);
        total += sum<Signs::kBoth>(
            units, [=](std::size_t i) { return (wide(w[i]) - wide(other[i])) * wide(along[i]); });
        largest = wide(find_largest(
            n_, [=](std::size_t i) { return (w[i] - other[i]) * along[i]; },
            static_cast<float>(largest)));
        continue;
      }
      const std::int64_t class_sum =
          sum<Signs::kBoth>(units, [=](std::size_t i) { return wide(w[i]) * wide(along[i]); });
      largest = wide(find_largest(
          n_, [=](std::size_t i) { return w[i] * along[i]; }, static_cast<float>(largest)));
      total += k == strip_.of_class ? class_sum : -class_sum;
    }
    return total;
  }
  std::int64_t risk(const TermUnits& units) const { return sum_of(losses_, units); }
  // The sum of a class's weights, whatever the rows' labels.
  std::int64_t sum_of_weights(std::size_t k, const TermUnits& units) const {
    const std::int64_t sum = sum_of(weights(k), units);
    return is_soft() ? sum + sum_of(against(k), units) : sum;
  }
  std::int64_t sum_of(const float* numbers, const TermUnits& units) const {
    return sum<Signs::kPositive>(units, [=](std::size_t i) { return wide(numbers[i]); });
  }

  // Makes these the largest terms, if those of some rows are larger; no term is negative.
  void note_largest(bool has_curvature, bool has_loss, TermBounds& largest) const {
    const auto note = [](const float* terms, std::size_t n, double& most) {
      most =
          wide(find_largest(n, [=](std::size_t i) { return terms[i]; }, static_cast<float>(most)));
    };
    if (is_soft()) {
      largest.weight = wide(find_largest(
          rows_.classes * n_, [w = weights_, a = against_](std::size_t i) { return w[i] + a[i]; },
          static_cast<float>(largest.weight)));
    } else {
      note(weights_, rows_.classes * n_, largest.weight);
    }
    if (has_curvature) note(curvatures_, rows_.classes * n_, largest.curvature);
    if (has_loss) note(losses_, n_, largest.loss);
  }

  void store_margins(float* u) const {
    vectorized([&] {
      for (std::size_t k = 0; k < rows_.classes; ++k) {
        const float sign = this->sign(k);
        for (const auto& [begin, n, place] : strip_.pieces) {
          float* const __restrict class_u = u + k * rows_.codes.rows + begin;
          const float* const __restrict z = scores_ + k * n_ + place;
          for (std::size_t i = 0; i < n; ++i) class_u[i] = sign * z[i];
        }
      }
    });
  }
  float largest_score() const {
    return find_largest(rows_.classes * n_, [z = scores_](std::size_t j) { return z[j]; }, 0.0F);
  }

 private:
  // A row counts towards each class by its share, and against it by the rest.
  void weigh_by_shares(JointRows rows) {
    for (std::size_t k = 0; k < rows_.classes; ++k) {
      gather(rows_.labels.of(k, rows_.codes.rows), shares_ + k * n_);
    }
    rows.true_class = rows_.classes;
    rows.shares = shares_;
    rows.tails = against_;
    rows_.joint->evaluate(rows);
    vectorized([w = weights_, a = against_, t = shares_, n = rows_.classes * n_] {
      for (std::size_t i = 0; i < n; ++i) {
        const float p = w[i];
        w[i] = t[i] * a[i];
        a[i] = (1.0F - t[i]) * p;
      }
    });
  }

  template <Signs kSigns, class Term>
  std::int64_t sum(const TermUnits& units, const Term& term) const {
    WholeSums total{};
    vectorized([&, s = sample_weight_, n = n_, term](auto set) {
      add_rows<1, kSigns>(set, n, s, units, total, term);
    });
    return total[0];
  }

  const StripRows& strip_;
  const std::size_t n_;
  const CoupledRows& rows_;
  RowSampleWeights sample_weight_;
  float *scores_, *along_, *weights_, *curvatures_, *losses_, *shift_;
  float *against_ = nullptr, *shares_ = nullptr;  // with soft labels
};

// task(p, strip) for the strips of every part p, one after the other.
template <class Task>
void for_strips(const CoupledRows& rows, Team& team, const Task& task) {
  const double nanoseconds =
      4.0 * static_cast<double>(rows.codes.rows) * static_cast<double>(rows.classes);
  team.for_each(rows.parts.size() - 1, nanoseconds, [&](std::size_t p) {
    for (std::size_t c = rows.parts[p]; c < rows.parts[p + 1]; ++c) {
      CoupledStrip strip(rows, rows.strips[c]);
      task(p, strip);
    }
  });
}

// The same of those that the model trains on.
template <class Task>
void for_training_strips(const CoupledRows& rows, Team& team, const Task& task) {
  for_strips(rows, team, [&](std::size_t p, CoupledStrip& strip) {
    if (strip.trains()) task(p, strip);
  });
}

}  // namespace properboost
