// Losses at any margin, also those from tables: all outputs that the engine reads are finite.
#include "properboost/core/peers.hpp"
#include "properboost/losses/loss.hpp"

#include <memory>
#include <stdexcept>

#include "bytes.hpp"
#include "properboost/joint/joint_loss.hpp"

using namespace properboost;
using namespace properboost::fuzz;

namespace {

std::unique_ptr<Loss> read_table(Bytes& bytes) {
  const std::size_t knots = loss_knots().size();
  LossTable table{bytes.power_of_ten(-30, 30), 0.0, {}, {}, {}, {}};
  table.beyond = bytes.flip() ? bytes.number<double>() : 0.0;
  const double most = bytes.power_of_ten(-30, 30), falls = 0.9 + 0.1 * bytes.share();
  const std::size_t wild = bytes.flip() ? bytes.below(knots) : knots;
  double weight = most;
  for (std::size_t k = 0; k < knots; ++k) {
    if (k == wild) weight = bytes.number<double>();
    table.right.push_back(weight / 2);
    table.right_slope.push_back(-weight / 2 * bytes.unit());
    table.left.push_back(most - weight / 2);
    table.left_slope.push_back(weight / 2 * bytes.unit());
    weight *= falls;
  }
  if (bytes.below(16) == 15) table.left.pop_back();
  return make_tabulated_loss("own", table);
}

// Rows that are of every class by a share; the weights with one label are at most `most`.
void check_shares(const JointLoss& joint, JointRows rows, double most, Bytes& bytes) {
  const std::size_t size = rows.classes * rows.n;
  std::vector<float> shares(size), tails(size);
  for (std::size_t i = 0; i < rows.n; ++i) {
    float total = 0.0F;
    for (std::size_t k = 0; k < rows.classes; ++k) {
      shares[k * rows.n + i] = static_cast<float>(bytes.below(4));
      total += shares[k * rows.n + i];
    }
    for (std::size_t k = 0; k < rows.classes; ++k) {
      float& share = shares[k * rows.n + i];
      share = total > 0.0F ? share / total : 1.0F / static_cast<float>(rows.classes);
    }
  }
  rows.true_class = rows.classes;
  rows.shares = shares.data();
  rows.tails = tails.data();
  joint.evaluate(rows);
  const auto check = [&](const float* numbers, std::size_t n, double bound) {
    for (std::size_t i = 0; i < n; ++i) {
      require(std::isfinite(numbers[i]) && numbers[i] >= 0.0F, "joint losses by shares are finite");
      require(static_cast<double>(numbers[i]) <= bound, "joint weights by shares are at most 1");
    }
  };
  check(rows.weights, size, 1.001 * most);
  check(rows.tails, size, 1.001 * most);
  check(rows.losses, rows.n, std::numeric_limits<double>::infinity());
}

// The joint forms of a loss at any scores.  A table may jump past the shift that makes
// probabilities add up to 1, and its cubics may pass 1 in the cell where it jumps.
void check_joint_forms(const Loss& loss, bool is_table, Bytes& bytes) {
  const std::size_t classes = bytes.between(2, 70);
  const std::size_t n = bytes.between(1, 200);
  const std::size_t true_class = bytes.below(classes);
  const bool has_shifts = bytes.flip();
  const double most_table_weight =
      is_table ? loss.most_weight(std::numeric_limits<double>::lowest()) : 1.0;
  const double most = std::max(most_table_weight, 1.0);
  for (const std::string& name : joint_loss_names()) {
    std::shared_ptr<const JointLoss> joint;
    try {
      joint = make_joint_loss(name, loss);
    } catch (const std::invalid_argument&) {
      continue;
    }
    std::vector<float> scores(classes * n), weights(classes * n), curvatures(classes * n);
    std::vector<float> losses(n), shift(n, std::numeric_limits<float>::quiet_NaN());
    for (float& score : scores) {
      do score = bytes.number<float>();
      while (!std::isfinite(score));
    }
    if (has_shifts) {
      for (float& last : shift) last = bytes.number<float>();
    }
    joint->evaluate({classes, n, true_class, scores.data(), shift.data(), weights.data(),
                     curvatures.data(), losses.data()});
    for (const std::vector<float>& all : {weights, curvatures, losses}) {
      for (const float x : all) require(std::isfinite(x) && x >= 0.0F, "joint losses are finite");
    }
    for (const float w : weights) {
      require(static_cast<double>(w) <= 1.001 * most, "joint weights are at most 1");
    }
    std::vector<double> wide, log_p(classes * n), exact(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < classes; ++k) {
        wide.push_back(static_cast<double>(scores[k * n + i]));
      }
    }
    joint->log_probabilities(wide.data(), classes, n, log_p.data());
    joint->losses(wide.data(), classes, n, true_class, exact.data());
    for (std::size_t i = 0; i < n; ++i) {
      double total = 0.0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double its = log_p[i * classes + k];
        require(std::isfinite(its) && its <= 0.0, "log p is finite");
        total += std::exp(its);
      }
      require(is_table || std::fabs(total - 1.0) <= 1e-9, "probabilities add up to 1");
      require(std::isfinite(exact[i]) && exact[i] >= 0.0, "a joint loss in double");
    }
    check_shares(*joint,
                 {classes, n, true_class, scores.data(), shift.data(), weights.data(),
                  curvatures.data(), losses.data()},
                 most, bytes);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  std::unique_ptr<Loss> loss;
  const bool is_table = bytes.below(3) == 2;
  try {
    if (is_table) {
      loss = read_table(bytes);
    } else {
      const std::string name = bytes.pick(loss_names());
      std::map<std::string, double> parameters;
      if (name == "alpha") parameters["alpha"] = bytes.number<double>();
      loss = make_loss(name, parameters);
    }
  } catch (const std::invalid_argument&) {
    return 0;
  }
  std::vector<float> u(bytes.below(200));
  for (float& margin : u) {
    do margin = bytes.number<float>();
    while (!std::isfinite(margin));
  }
  std::vector<float> out(u.size());
  using Block = void (Loss::*)(const float*, float*, std::size_t) const;
  for (const Block block :
       {&Loss::losses, &Loss::weights, &Loss::curvatures, &Loss::probabilities}) {
    ((*loss).*block)(u.data(), out.data(), u.size());
    for (const float x : out) require(std::isfinite(x) && x >= 0.0f, "blocks are finite");
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    require(out[i] <= 1.0f, "probabilities are at most 1");
    const double margin = bytes.number<double>();
    const double p = loss->probability(margin);
    require(std::isnan(margin) || (p >= 0.0 && p <= 1.0), "a probability");
    const double of = bytes.unit();
    require(std::isfinite(loss->minimum_risk(of)), "the minimum risk");
    require(of == 0.0 || std::isfinite(loss->link(of)), "the link");
  }
  check_joint_forms(*loss, is_table, bytes);
  return 0;
}
