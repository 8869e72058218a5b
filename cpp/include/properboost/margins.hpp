// Margins and weights of one model's training rows, and the one row pass everything else is made
// of.
//
// The margin kept is u = y F / gain, in segment order.  Moving the rows along a table shifts u by
// +t g on the positive side and -t g on the negative one, and tells the slope there: how fast the
// risk still falls along the table.  The weights it leaves behind are the next round's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properboost/binning.hpp"
#include "properboost/codes.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/parallel.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

class Margins {
 public:
  // Where a move ended, at gain 1 and per unit of training weight.
  struct Point {
    double slope = 0.0;
    double risk = 0.0;
  };

  // `sample_weight` (or null, for ones) is in segment order.
  Margins(const Codes& codes, std::vector<bool> positive, const double* sample_weight,
          double total_sample_weight, const Loss& loss, bool needs_curvature, Team& team)
      : codes_(codes),
        positive_(std::move(positive)),
        chunks_(cut_into_chunks(codes.segments)),
        sample_weight_(sample_weight),
        total_(total_sample_weight),
        loss_(loss),
        team_(team),
        u_(codes.rows, 0.0f),
        weight_(codes.rows),
        curvature_(needs_curvature ? codes.rows : 0) {
    move(codes.feature(0), {}, 0.0);  // nowhere: the first weights
  }

  const float* weight() const noexcept { return weight_.data(); }
  const float* curvature() const noexcept {
    return curvature_.empty() ? nullptr : curvature_.data();
  }

  // u += y t table[code], for good.
  Point move(const std::uint8_t* codes, const std::vector<double>& table, double t) {
    return pass<true>(codes, table, t);
  }

  // The slope after such a move, without making it.
  double slope_after(const std::uint8_t* codes, const std::vector<double>& table, double t) {
    return pass<false>(codes, table, t).slope;
  }

  // The rows behind one feature's cells, for responses that need more than the cells.
  class ByCell final : public RowsByCell {
   public:
    ByCell(Margins& margins, const std::uint8_t* codes, const std::vector<RowShare>& shares,
           std::size_t n_cells)
        : margins_(margins), codes_(codes), shares_(shares), n_(n_cells) {}
    void evaluate(const double* values, double* slope, double* curvature) override {
      std::fill_n(slope, n_, 0.0);
      std::fill_n(curvature, n_, 0.0);
      for (const RowShare& share : shares_) {
        margins_.add_cells(codes_, share, n_, values, slope, curvature);
      }
    }
    void evaluate_pseudo_rows(double value, double* slope, double* curvature) const override {
      margins_.evaluate_pseudo_rows(value, slope, curvature);
    }

   private:
    Margins& margins_;
    const std::uint8_t* codes_;
    const std::vector<RowShare>& shares_;
    std::size_t n_;
  };

 private:
  static constexpr std::size_t kBlock = 1024;  // rows that stay in the first cache
  using Block = std::array<float, kBlock>;
  using PerCode = std::array<float, kMaxCodes>;

  double row_nanoseconds() const { return 4.0 * static_cast<double>(codes_.rows); }
  float side(const Chunk& chunk) const { return positive_[chunk.segment] ? 1.0f : -1.0f; }

  double sample_weight(std::size_t i) const {
    return sample_weight_ == nullptr ? 1.0 : sample_weight_[i];
  }

  static double wide(float x) { return static_cast<double>(x); }

  // Sum of term(i) times the sample weight of row begin + i, in double with a fixed number of
  // accumulators, so that the compiler may use vectors and the order of additions is still ours.
  template <class Term>
  double weighted_sum(std::size_t begin, std::size_t n, const Term& term) const {
    if (sample_weight_ == nullptr) return sum(n, term);
    const double* s = sample_weight_ + begin;
    return sum(n, [&](std::size_t i) { return s[i] * term(i); });
  }

  template <class Term>
  static double sum(std::size_t n, const Term& term) {
    constexpr std::size_t kLanes = 8;
    double lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
    }
    for (; i < n; ++i) lanes[0] += term(i);
    double total = 0.0;
    for (const double lane : lanes) total += lane;
    return total;
  }

  template <bool kKeep>
  Point pass(const std::uint8_t* codes, const std::vector<double>& table, double t) {
    PerCode shift{};
    PerCode direction{};
    for (std::size_t b = 0; b < table.size(); ++b) {
      shift[b] = static_cast<float>(t * table[b]);
      direction[b] = static_cast<float>(table[b]);
    }
    std::vector<Point> parts(chunks_.size());
    team_.for_each(chunks_.size(), row_nanoseconds(), [&](std::size_t k) {
      for (std::size_t begin = chunks_[k].begin; begin < chunks_[k].end; begin += kBlock) {
        const std::size_t n = std::min(kBlock, chunks_[k].end - begin);
        const Point p = pass_block<kKeep>(codes, shift, direction, side(chunks_[k]), begin, n);
        parts[k].slope += p.slope;
        parts[k].risk += p.risk;
      }
    });
    Point sum;
    for (const Point& part : parts) {
      sum.slope += part.slope;
      sum.risk += part.risk;
    }
    return {sum.slope / total_, sum.risk / total_};
  }

  template <bool kKeep>
  Point pass_block(const std::uint8_t* codes, const PerCode& shift, const PerCode& direction,
                   float side, std::size_t begin, std::size_t n) {
    alignas(64) Block u{}, w, along;
    const std::uint8_t* code = codes + begin;
    for (std::size_t i = 0; i < n; ++i) {
      u[i] = u_[begin + i] + side * shift[code[i]];
      along[i] = side * direction[code[i]];
    }
    Point p;
    if constexpr (kKeep) {
      std::copy_n(u.begin(), n, u_.begin() + static_cast<std::ptrdiff_t>(begin));
      Block loss;
      float* c = curvature_.empty() ? nullptr : curvature_.data() + begin;
      loss_.evaluate(u.data(), w.data(), loss.data(), c, n);
      std::copy_n(w.begin(), n, weight_.begin() + static_cast<std::ptrdiff_t>(begin));
      p.risk = weighted_sum(begin, n, [&](std::size_t i) { return wide(loss[i]); });
    } else {
      loss_.weights(u.data(), w.data(), n);
    }
    p.slope = weighted_sum(begin, n, [&](std::size_t i) { return wide(w[i]) * wide(along[i]); });
    return p;
  }

  void add_cells(const std::uint8_t* codes, const RowShare& share, std::size_t n_cells,
                 const double* values, double* slope, double* curvature) {
    const CellOfCode& cell_of = share.cell_of;
    PerCode shift{};
    for (std::size_t b = 0; b < kMaxCodes; ++b) {
      if (cell_of[b] < n_cells) shift[b] = static_cast<float>(values[cell_of[b]]);
    }
    struct Sums {
      std::array<double, kMaxCodes> slope{}, curvature{};
    };
    std::vector<Sums> parts(chunks_.size());
    team_.for_each(chunks_.size(), 2.0 * row_nanoseconds(), [&](std::size_t k) {
      const float side = this->side(chunks_[k]);
      for (std::size_t begin = chunks_[k].begin; begin < chunks_[k].end; begin += kBlock) {
        const std::size_t n = std::min(kBlock, chunks_[k].end - begin);
        alignas(64) Block u, w, c;
        const std::uint8_t* code = codes + begin;
        for (std::size_t i = 0; i < n; ++i) u[i] = u_[begin + i] + side * shift[code[i]];
        loss_.weights(u.data(), w.data(), n);
        loss_.curvatures(u.data(), c.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          const double s = sample_weight(begin + i);
          parts[k].slope[cell_of[code[i]]] += s * wide(side * w[i]);
          parts[k].curvature[cell_of[code[i]]] += s * wide(c[i]);
        }
      }
    });
    for (const Sums& part : parts) {
      for (std::size_t b = 0; b < n_cells; ++b) {
        slope[b] += share.share * part.slope[b];
        curvature[b] += share.share * part.curvature[b];
      }
    }
  }

  // A row of each class at margin 0, moved by value: w(x) - w(-x) and c(x) + c(-x).
  void evaluate_pseudo_rows(double value, double* slope, double* curvature) const {
    const float u[2] = {static_cast<float>(value), static_cast<float>(-value)};
    float w[2];
    float c[2];
    loss_.weights(u, w, 2);
    loss_.curvatures(u, c, 2);
    *slope = static_cast<double>(w[0]) - static_cast<double>(w[1]);
    *curvature = static_cast<double>(c[0]) + static_cast<double>(c[1]);
  }

  const Codes& codes_;
  std::vector<bool> positive_;
  std::vector<Chunk> chunks_;
  const double* sample_weight_;
  double total_;
  const Loss& loss_;
  Team& team_;
  std::vector<float> u_, weight_, curvature_;
};

}  // namespace properboost
