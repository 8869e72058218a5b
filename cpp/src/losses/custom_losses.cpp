// Custom losses: from loss tables, and from functions that are called.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "properboost/data/table.hpp"
#include "properboost/losses/bound.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/losses/table.hpp"

namespace properboost {
namespace losses {
namespace {

double knot(std::size_t k) {
  const auto octave = static_cast<int>(k >> kCellBits);
  const auto place = static_cast<double>(k & ((std::size_t{1} << kCellBits) - 1));
  return std::ldexp(1.0 + place / (1 << kCellBits), octave) - 1.0;
}

// The cubic through values and slopes at both ends of a cell; slopes are by the place in it.  A
// cell that ends as it began is flat: so a loss may have a kink where a weight reaches its limit.
// Slopes too steep for the cell would make the cubic overshoot.  Where both slopes agree with the
// rise, the cubic is monotone; elsewhere it goes little below values that are at least 0.
Cubic<double> hermite(double y0, double y1, double d0, double d1) {
  const double rise = y1 - y0;
  if (rise == 0.0) return {y0, 0.0, 0.0, 0.0};
  const bool monotone = d0 * rise > 0.0 && d1 * rise > 0.0;
  const double steepest = 3.0 * (monotone ? std::fabs(rise) : std::max(y0, y1));
  d0 = std::clamp(d0, -steepest, steepest);
  d1 = std::clamp(d1, -steepest, steepest);
  return {y0, d0, 3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise};
}

// The same for values that fall: the cubic falls too (Fritsch and Carlson, 1980).
Cubic<double> falling_hermite(double y0, double y1, double d0, double d1) {
  const double steepest = 3.0 * (y1 - y0);
  return hermite(y0, y1, std::clamp(d0, steepest, 0.0), std::clamp(d1, steepest, 0.0));
}

constexpr double kLeast = 1e-36;

Cubic<float> narrow(const Cubic<double>& c) {
  // Products of numbers this small would be subnormal, which are slow.
  if (std::max(std::fabs(c.c0), std::fabs(c.c0 + c.c1 + c.c2 + c.c3)) < kLeast) return {};
  return {static_cast<float>(c.c0), static_cast<float>(c.c1), static_cast<float>(c.c2),
          static_cast<float>(c.c3)};
}

// The policy, with the cells it borrows.
struct Storage {
  std::string name;
  std::vector<Cubic<double>> weights, tails;
  std::vector<Cubic<float>> single_weights, single_tails;
  std::vector<double> losses, weight_from, curvature_from;
  std::vector<float> single_losses;
  Table policy;

  Storage(std::string loss_name, const LossTable& table)
      : name(std::move(loss_name)), weights(2 * kCells), tails(kCells), losses(2 * kCells) {
    check(table);
    policy.scale = table.scale;
    policy.inverse_scale = 1.0 / table.scale;
    policy.last = table.scale * knot(kCells);
    // Beyond the last knot the weight is like a power of the margin.  If it falls, it adds next to
    // nothing to the loss.
    const double y = table.left.back();
    policy.steady = y > kLeast && -table.left_slope.back() * knot(kCells) < 0.5 * y ? y : 0.0;
    fill_weights(table);
    fill_tails(table);
    for (const Cubic<double>& cell : weights) single_weights.push_back(narrow(cell));
    for (const Cubic<double>& cell : tails) single_tails.push_back(narrow(cell));
    for (const double loss : losses) {
      single_losses.push_back(loss < kLeast ? 0.0F
                                            : static_cast<float>(std::min(loss, kLargestLoss)));
    }
    policy.name = name.c_str();
    policy.singles = {single_weights.data(), single_losses.data(), single_tails.data()};
    policy.doubles = {weights.data(), losses.data(), tails.data()};
    fill_bounds();
    policy.weight_from = weight_from.data();
    policy.curvature_from = curvature_from.data();
  }

 private:
  static constexpr double kLargestLoss = 1e38;
  // The tolerated error in sums and falls of probabilities; Python's checks allow as much.
  static constexpr double kRounding = 1e-6;

  static void check(const LossTable& table) {
    const auto finite = [](double x) { return std::isfinite(x); };
    for (const auto* values : {&table.right, &table.left}) {
      if (std::any_of(values->begin(), values->end(), [](double x) { return x < 0.0; })) {
        throw std::invalid_argument("a loss's weights must be at least 0");
      }
    }
    for (const auto* values : {&table.right, &table.right_slope, &table.left, &table.left_slope}) {
      if (values->size() != kCells + 1 || !std::all_of(values->begin(), values->end(), finite)) {
        throw std::invalid_argument("a loss table must hold " + std::to_string(kCells + 1) +
                                    " finite numbers on either half");
      }
    }
    // Wider or narrower ones would leave the range of float32.
    if (!(table.scale >= 1e-6 && table.scale <= 1e6)) {
      throw std::invalid_argument("a loss's scale must be between 1e-06 and 1e+06; got " +
                                  std::to_string(table.scale));
    }
    // A joint loss adds up those of all classes.
    if (!(table.beyond >= 0.0 && table.beyond <= 1e300)) {
      std::ostringstream message;
      message << "a loss must be between 0 and 1e+300 at the last knot; got " << table.beyond;
      throw std::invalid_argument(message.str());
    }
  }

  static double cell_width(std::size_t k) { return knot(k + 1) - knot(k); }

  void fill_weights(const LossTable& table) {
    double apart = 0.0;
    const auto fill = [&](Cubic<double>* cells, const std::vector<double>& y,
                          const std::vector<double>& d) {
      for (std::size_t k = 0; k < kCells; ++k) {
        const double width = cell_width(k);
        cells[k] = hermite(y[k], y[k + 1], d[k] * width, d[k + 1] * width);
      }
    };
    fill(weights.data(), table.right, table.right_slope);
    fill(weights.data() + kCells, table.left, table.left_slope);
    double loss = table.beyond;
    for (std::size_t k = kCells; k-- > 0;) {
      loss += policy.scale * cell_width(k) * weights[k].area(1.0);
      losses[k] = loss;
    }
    for (std::size_t k = kCells; k < 2 * kCells; ++k) {
      losses[k] = loss;
      loss += policy.scale * cell_width(k - kCells) * weights[k].area(1.0);
    }
    for (std::size_t k = 0; k <= kCells; ++k) {
      apart = std::max(apart, std::fabs(table.right[k] + table.left[k] - 1.0));
    }
    policy.convex = is_convex(table);
    policy.canonical = apart <= kRounding;
  }

  // A cubic and its slope are no larger in a cell than their coefficients together.
  void fill_bounds() {
    const auto size = [](const Cubic<double>& c) {
      return std::fabs(c.c0) + std::fabs(c.c1) + std::fabs(c.c2) + std::fabs(c.c3);
    };
    const auto steepest = [&](const Cubic<double>& c, std::size_t k) {
      return (std::fabs(c.c1) + 2.0 * std::fabs(c.c2) + 3.0 * std::fabs(c.c3)) /
             (policy.scale * cell_width(k));
    };
    weight_from.resize(2 * kCells);
    curvature_from.resize(2 * kCells);
    double weight = 0.0, curvature = 0.0;
    const auto add = [&](std::size_t k, std::size_t cell) {
      weight = std::max(weight, size(weights[cell]));
      curvature = std::max(
          curvature, policy.convex
                         ? steepest(weights[cell], k)
                         : steepest(tails[k], k) * (size(weights[k]) + size(weights[kCells + k])));
      weight_from[cell] = weight;
      curvature_from[cell] = curvature;
    };
    for (std::size_t k = kCells; k-- > 0;) add(k, k);
    for (std::size_t k = 0; k < kCells; ++k) add(k, kCells + k);
  }

  // No weight may rise with u by more than a small share of the slopes nearer to 0 (or within a
  // unit of it).  The steepest slope of all would be too large a scale for weights that grow
  // exponentially.
  static bool is_convex(const LossTable& table) {
    double right = 0.0;
    for (std::size_t k = 0; knot(k) <= 1.0; ++k) {
      right = std::max({right, std::fabs(table.right_slope[k]), std::fabs(table.left_slope[k])});
    }
    double left = right;
    for (std::size_t k = 0; k <= kCells; ++k) {
      right = std::max(right, std::fabs(table.right_slope[k]));
      left = std::max(left, std::fabs(table.left_slope[k]));
      if (table.right_slope[k] > 1e-6 * right || -table.left_slope[k] > 1e-6 * left) return false;
    }
    return true;
  }

  // At the probability p of u, p w(u) = (1 - p) w(-u): so 1 - p = w(u) / (w(u) + w(-u)).  Keeps
  // tails from rising, which those of functions that were never validated might do.  A loss whose
  // tail rises by more than rounding is not canonical: its weight is not 1 - probability.
  void fill_tails(const LossTable& table) {
    std::vector<double> tail(kCells + 1, 0.0);
    std::vector<double> slope(kCells + 1, 0.0);
    double unbounded = 0.5;  // the tail as the weights have it
    for (std::size_t k = 0; k <= kCells; ++k) {
      const double r = table.right[k];
      const double l = table.left[k];
      if (!(r + l > 0.0)) continue;
      const double last = unbounded;
      unbounded = r / (r + l);
      if (unbounded - last > kRounding) policy.canonical = false;
      tail[k] = unbounded;
      slope[k] = (table.right_slope[k] * (l / (r + l)) - tail[k] * table.left_slope[k]) / (r + l);
      const double before = k == 0 ? 0.5 : tail[k - 1];
      if (tail[k] <= before) continue;
      tail[k] = before;
      slope[k] = 0.0;
    }
    policy.largest_link = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < kCells; ++k) {
      const double width = cell_width(k);
      tails[k] = falling_hermite(tail[k], tail[k + 1], slope[k] * width, slope[k + 1] * width);
      // The probability is 1 at a finite margin; a tail that merely underflows comes near 0 first.
      if (tail[k] > 1e-30 && tail[k + 1] == 0.0) policy.largest_link = policy.scale * knot(k + 1);
    }
  }
};

// A vector of lookups is slow, so strips of margins take three steps: find the cells, fetch them,
// which is one load each, and compute.
class TabulatedLoss final : private Storage, public Bound<Table> {
 public:
  TabulatedLoss(const std::string& name, const LossTable& table)
      : Storage(name, table), Bound<Table>(Storage::policy) {}

  void losses(const float* u, float* out, std::size_t n) const noexcept override {
    for_strips(u, n, [&](Strip& strip, std::size_t begin, std::size_t size) {
      fetch(strip, policy.singles.weight, size);
      fetch_losses(strip, size);
      compute_losses(strip, u + begin, out + begin, size);
    });
  }
  void weights(const float* u, float* out, std::size_t n) const noexcept override {
    for_strips(u, n, [&](Strip& strip, std::size_t begin, std::size_t size) {
      fetch(strip, policy.singles.weight, size);
      compute_weights(strip, out + begin, size);
    });
  }
  void curvatures(const float* u, float* out, std::size_t n) const noexcept override {
    if (!convex()) return Bound<Table>::curvatures(u, out, n);
    for_strips(u, n, [&](Strip& strip, std::size_t begin, std::size_t size) {
      fetch(strip, policy.singles.weight, size);
      const float* const from = u + begin;
      float* const to = out + begin;
      vectorized([&strip, table = Storage::policy, from, to, size] {
        for (std::size_t i = 0; i < size; ++i) {
          to[i] = table.curvature_at(strip.cubic[i], strip.t[i], strip.width[i], from[i]);
        }
      });
    });
  }
  void probabilities(const float* u, float* out, std::size_t n) const noexcept override {
    for_strips(u, n, [&](Strip& strip, std::size_t begin, std::size_t size) {
      vectorized([&strip, size] {
        constexpr auto kHalf = static_cast<std::int32_t>(kCells);
        for (std::size_t i = 0; i < size; ++i) {
          strip.cell[i] -= strip.cell[i] >= kHalf ? kHalf : 0;
        }
      });
      fetch(strip, policy.singles.tail, size);
      const float* const from = u + begin;
      float* const to = out + begin;
      vectorized([&strip, from, to, size] {
        for (std::size_t i = 0; i < size; ++i) {
          to[i] = Table::probability_at(strip.cubic[i], strip.t[i], from[i]);
        }
      });
    });
  }
  void evaluate(const float* u, float* weights_of, float* losses_of, float* curvatures_of,
                std::size_t n) const noexcept override {
    for_strips(u, n, [&](Strip& strip, std::size_t begin, std::size_t size) {
      fetch(strip, policy.singles.weight, size);
      fetch_losses(strip, size);
      const float* const from = u + begin;
      float* const weight = weights_of + begin;
      float* const loss = losses_of + begin;
      // Both in one pass, which reads the cells once.
      vectorized([&strip, table = Storage::policy, from, weight, loss, size] {
        for (std::size_t i = 0; i < size; ++i) {
          const Cubic<float> cubic = strip.cubic[i];
          weight[i] = Table::weight_at(cubic, strip.t[i]);
          loss[i] = table.loss_at(cubic, strip.loss[i], strip.t[i], strip.width[i], from[i]);
        }
      });
    });
    if (curvatures_of != nullptr) curvatures(u, curvatures_of, n);
  }

 private:
  static constexpr std::size_t kStrip = 256;
  struct Strip {
    alignas(64) std::int32_t cell[kStrip];
    alignas(64) float t[kStrip];
    alignas(64) float width[kStrip];
    alignas(64) float loss[kStrip];
    alignas(64) Cubic<float> cubic[kStrip];
  };

  template <class Body>
  void for_strips(const float* u, std::size_t n, const Body& body) const {
    Strip strip;
    for (std::size_t begin = 0; begin < n; begin += kStrip) {
      const std::size_t size = std::min(kStrip, n - begin);
      const float* const from = u + begin;
      vectorized([&strip, table = Storage::policy, from, size] {
        for (std::size_t i = 0; i < size; ++i) {
          const Place<float> at = table.find(from[i]);
          strip.cell[i] = at.cell;
          strip.t[i] = at.t;
          strip.width[i] = at.width;
        }
      });
      body(strip, begin, size);
    }
  }
  static void fetch(Strip& strip, const Cubic<float>* cells, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) strip.cubic[i] = cells[strip.cell[i]];
  }
  void fetch_losses(Strip& strip, std::size_t size) const {
    for (std::size_t i = 0; i < size; ++i) strip.loss[i] = policy.singles.loss[strip.cell[i]];
  }
  static void compute_weights(const Strip& strip, float* out, std::size_t size) {
    vectorized([&strip, out, size] {
      for (std::size_t i = 0; i < size; ++i) {
        out[i] = Table::weight_at(strip.cubic[i], strip.t[i]);
      }
    });
  }
  void compute_losses(const Strip& strip, const float* u, float* out, std::size_t size) const {
    vectorized([&strip, table = Storage::policy, u, out, size] {
      for (std::size_t i = 0; i < size; ++i) {
        out[i] = table.loss_at(strip.cubic[i], strip.loss[i], strip.t[i], strip.width[i], u[i]);
      }
    });
  }
};

class CalledLoss final : public Loss {
 public:
  CalledLoss(std::shared_ptr<const Loss> base, std::shared_ptr<const MarginFunction> weight,
             std::shared_ptr<const MarginFunction> loss)
      : base_(std::move(base)), weight_(std::move(weight)), loss_(std::move(loss)) {
    constexpr float kMiddle = 0.0F;
    float at_zero = 0.0F;
    losses(&kMiddle, &at_zero, 1);
    beside_ = std::fabs(static_cast<double>(at_zero) - base_->loss(0.0));
  }

  const char* name() const noexcept override { return base_->name(); }
  bool convex() const noexcept override { return base_->convex(); }
  bool canonical() const noexcept override { return base_->canonical(); }

  void losses(const float* u, float* out, std::size_t n) const override {
    if (loss_ == nullptr) return base_->losses(u, out, n);
    (*loss_)(u, out, n);
    check("loss", std::numeric_limits<float>::lowest(), u, out, n);
  }
  void weights(const float* u, float* out, std::size_t n) const override {
    (*weight_)(u, out, n);
    check("weight", 0.0F, u, out, n);
    vectorized([out, n] {
      for (std::size_t i = 0; i < n; ++i) out[i] = math::at_most(out[i], kLargestWeight);
    });
  }
  void curvatures(const float* u, float* out, std::size_t n) const override {
    base_->curvatures(u, out, n);
  }
  void probabilities(const float* u, float* out, std::size_t n) const override {
    base_->probabilities(u, out, n);
  }
  void evaluate(const float* u, float* weights_of, float* losses_of, float* curvatures_of,
                std::size_t n) const override {
    weights(u, weights_of, n);
    losses(u, losses_of, n);
    if (curvatures_of != nullptr) curvatures(u, curvatures_of, n);
  }

  void losses_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    base_->losses_in_double(u, out, n);
  }
  void weights_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    base_->weights_in_double(u, out, n);
  }
  void curvatures_in_double(const double* u, double* out, std::size_t n) const noexcept override {
    base_->curvatures_in_double(u, out, n);
  }
  void probabilities_in_double(const double* u, double* out,
                               std::size_t n) const noexcept override {
    base_->probabilities_in_double(u, out, n);
  }
  double loss(double u) const noexcept override { return base_->loss(u); }
  double weight(double u) const noexcept override { return base_->weight(u); }
  double curvature(double u) const noexcept override { return base_->curvature(u); }
  double probability(double u) const noexcept override { return base_->probability(u); }
  double density(double u) const noexcept override { return base_->density(u); }
  double link(double p) const noexcept override { return base_->link(p); }
  double minimum_risk(double p) const noexcept override { return base_->minimum_risk(p); }

  // The functions differ from the table of them, and their loss may differ by a constant.
  double most_loss(double least) const noexcept override {
    return kAllowed * (base_->most_loss(least) + beside_);
  }
  double most_weight(double least) const noexcept override {
    return kAllowed * base_->most_weight(least);
  }
  double most_curvature(double least) const noexcept override {
    return base_->most_curvature(least);
  }

 private:
  static constexpr double kAllowed = 16.0;
  static constexpr float kLargestWeight = 6.2351491e27F;  // e^64: sums stay finite

  void check(const char* what, float least, const float* u, const float* out, std::size_t n) const {
    const auto allowed = [least](float value) {
      return value >= least && value <= std::numeric_limits<float>::max();
    };
    unsigned bad = 0;
    vectorized([&bad, allowed, out, n] {
      unsigned any = 0;
      for (std::size_t i = 0; i < n; ++i) any |= allowed(out[i]) ? 0U : 1U;
      bad = any;
    });
    if (bad == 0) return;
    std::size_t i = 0;
    while (allowed(out[i])) ++i;
    std::ostringstream message;
    message << "loss '" << name() << "': its " << what << " at u = margin / gain = " << u[i]
            << " is " << out[i] << "; it must be finite"
            << (least == 0.0F ? " and at least 0" : "");
    throw std::invalid_argument(message.str());
  }

  std::shared_ptr<const Loss> base_;
  std::shared_ptr<const MarginFunction> weight_, loss_;
  double beside_ = 0.0;  // the difference to the table's loss
};

}  // namespace

double Table::link(double p) const {
  if (p >= doubles.tail[0].value(0.0)) return 0.0;
  // The first cell at whose end the tail is at most p; cells of probability 1 are skipped.
  std::size_t low = 0;
  std::size_t high = kCells - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (doubles.tail[middle].value(1.0) > p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  double begin = 0.0;
  double end = 1.0;
  for (int step = 0; step < 60; ++step) {
    const double t = 0.5 * (begin + end);
    (doubles.tail[low].value(t) > p ? begin : end) = t;
  }
  return -scale * (knot(low) + end * (knot(low + 1) - knot(low)));
}

}  // namespace losses

std::vector<double> loss_knots() {
  std::vector<double> knots;
  for (std::size_t k = 0; k <= losses::kCells; ++k) knots.push_back(losses::knot(k));
  return knots;
}

std::unique_ptr<Loss> make_tabulated_loss(const std::string& name, const LossTable& table) {
  return std::make_unique<losses::TabulatedLoss>(name, table);
}

std::unique_ptr<Loss> make_called_loss(std::shared_ptr<const Loss> base,
                                       std::shared_ptr<const MarginFunction> weight,
                                       std::shared_ptr<const MarginFunction> loss) {
  return std::make_unique<losses::CalledLoss>(std::move(base), std::move(weight), std::move(loss));
}

}  // namespace properboost
