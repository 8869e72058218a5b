// A self-test of the engine without Python, for processors and compilers that cannot run the test
// suite: emulators, cross-compilers.  `make selftest` builds and runs it.
//
// It boosts a small problem in every loss, selection and width of pack, compares every lane with
// the model alone, and the final risks with those of the machine on which they were first found.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "properboost/booster.hpp"
#include "properboost/instruction_set.hpp"
#include "properboost/learners/histogram.hpp"
#include "properboost/responses/real.hpp"
#include "properboost/steps/guarded.hpp"

namespace {

using namespace properboost;

constexpr std::size_t kRows = 3000;
constexpr std::size_t kFeatures = 5;
constexpr std::size_t kFolds = 3;
constexpr std::size_t kEstimators = 6;

// Training risks of a lone model, by loss: greedy, cyclic.
const std::map<std::string, std::vector<double>> kRisks = {
    {"glog", {2.041223689, 1.755255741}},        {"ggauss", {1.844077252, 1.566099005}},
    {"glaplacian", {3.101058754, 2.750967201}},  {"gboost", {3.113654372, 2.810408970}},
    {"exponential", {2.902158620, 2.614829153}}, {"savage", {0.616307131, 0.533200755}},
    {"alpha", {2.993992013, 2.610933804}},
};

int failures = 0;

void require(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

// Numbers in [0, 1), the same everywhere.
class Random {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_ = 1;
};

struct Problem {
  std::vector<double> columns;  // feature-major, rows sorted by class and fold
  std::vector<double> weight;
  std::vector<std::size_t> segments{0};

  Problem() : columns(kRows * kFeatures) {
    Random random;
    std::vector<std::vector<std::vector<double>>> rows(2 * kFolds);
    for (std::size_t i = 0; i < kRows; ++i) {
      std::vector<double> x(kFeatures);
      for (double& value : x) value = random.next();
      const double score = 4 * (x[0] - 0.5) + 3 * x[1] * x[1] - 1 + 2 * (x[2] > 0.7);
      const bool positive = random.next() < 1 / (1 + std::exp(-score));
      rows[(positive ? kFolds : 0) + i % kFolds].push_back(x);
    }
    std::size_t i = 0;
    for (const auto& segment : rows) {
      for (const auto& x : segment) {
        for (std::size_t f = 0; f < kFeatures; ++f) columns[f * kRows + i] = x[f];
        weight.push_back(0.5 + random.next());
        ++i;
      }
      segments.push_back(i);
    }
  }
};

std::vector<Role> roles(std::size_t fold) {  // kFolds leaves nothing out
  std::vector<Role> result;
  for (std::size_t s = 0; s < 2 * kFolds; ++s) {
    const int held = s % kFolds == fold ? 2 : 1;
    result.push_back(static_cast<Role>(s < kFolds ? -held : held));
  }
  return result;
}

void test_loss(const std::string& name, const Codes& codes, const Bins& bins,
               const double* weight) {
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.3;
  const std::unique_ptr<Loss> loss = make_loss(name, parameters);
  const learners::Histogram learner(0.0);
  const BoundResponse<responses::Real> response;
  const steps::Guarded step;
  const selections::Greedy greedy;
  const selections::Cyclic cyclic;
  const Selection* const both[] = {&greedy, &cyclic};
  for (std::size_t which = 0; which < 2; ++which) {
    const Settings settings{both[which], &response, &step, 1.0, 0.0, true};
    const std::string label = name + (which == 0 ? ", greedy" : ", cyclic");
    const auto boost = [&](std::vector<Model> models) {
      std::vector<std::size_t> all;
      for (std::size_t m = 0; m < models.size(); ++m) all.push_back(m);
      auto boosting = std::make_unique<Boosting>(codes, bins, models, settings, weight);
      Team::run(2, 1e9, [&](Team& team) { boosting->advance(kEstimators, all, {}, team); });
      return boosting;
    };
    const auto model = [&](std::size_t m) {
      return Model{loss.get(), &learner, 0.5 + static_cast<double>(m % 5), 0.0, roles(m % 4)};
    };
    for (const std::size_t n : {3, 7, 16, 19}) {
      std::vector<Model> models;
      for (std::size_t m = 0; m < n; ++m) models.push_back(model(m));
      const auto together = boost(models);
      for (std::size_t m = 0; m < n; ++m) {
        const auto alone = boost({model(m)});
        const Rounds& a = together->course(m).rounds;
        const Rounds& b = alone->course(0).rounds;
        bool same = a.feature == b.feature && a.risk.size() == b.risk.size();
        for (std::size_t t = 0; same && t < b.risk.size(); ++t) {
          same = std::abs(a.risk[t] - b.risk[t]) <= 1e-5 * b.risk[t];
        }
        require(same, label + ": lane " + std::to_string(m) + " of " + std::to_string(n));
        require(alone->held_out(0).size() == together->held_out(m).size(), label + ": held out");
      }
    }
    const double risk = boost({model(3)})->course(0).rounds.risk.back();
    const auto known = kRisks.find(name);
    require(known != kRisks.end() && std::abs(risk / known->second[which] - 1) < 1e-5,
            label + ": risk " + std::to_string(risk));
    std::printf("  %-20s risk %.9f\n", label.c_str(), risk);
  }
}

}  // namespace

// With --probe it only says whether the instruction set asked for is to be had.
int main(int argc, char** argv) {
  try {
    const char* set = name(instruction_set());
    if (argc > 1 && std::string(argv[1]) == "--probe") return 0;
    std::printf("instruction set: %s\n", set);
  } catch (const std::invalid_argument&) {
    return 1;
  }
  const Problem problem;
  Table table{kRows, {}};
  for (std::size_t f = 0; f < kFeatures; ++f) {
    const auto* data = reinterpret_cast<const char*>(problem.columns.data() + f * kRows);
    table.columns.push_back({data, sizeof(double), Type::f64});
  }
  std::vector<FeatureBins> features;
  std::vector<std::uint8_t> codes(kRows * kFeatures);
  Team::run(2, 1e9, [&](Team& team) {
    for (const auto& edges : find_edges(table, nullptr, 30, kRows, 0, team)) {
      features.emplace_back(edges);
    }
  });
  const Bins bins(features);
  Team::run(2, 1e9, [&](Team& team) { bins.encode(table, RowOrder{}, kRows, codes.data(), team); });
  const Codes borrowed{codes.data(), kRows, problem.segments};
  for (const std::string& loss : loss_names()) {
    test_loss(loss, borrowed, bins, problem.weight.data());
  }
  std::printf(failures == 0 ? "all is well\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
