// A self-test of the engine without Python, for processors and compilers that cannot run the test
// suite: emulators, cross-compilers.  `make selftest` builds and runs it.
//
// It looks up values on and next to edges; boosts a small problem in every loss, selection and
// width of batch and trees, compares every lane with the model alone, and the final risks with
// those of the machine on which they were first found; boosts a problem of narrow features, which
// are summed jointly, and the same with features too wide for that, with the same bits in a single
// lane; and solves equations of features that are one another's multiples.
//
//     properboost-selftest [codes | losses | bundles | equations]   one part, or all
//     properboost-selftest --probe   reports whether the requested instruction set is available
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "properboost/core/instruction_set.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/region.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/row_sample.hpp"
#include "properboost/data/table.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/histogram/bundles.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/planning/selection.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/rounds/booster.hpp"
#include "properboost/steps/coefficient_solver.hpp"
#include "properboost/steps/step.hpp"
#include "random.hpp"

namespace {

using namespace properboost;
using selftest::Random;
using Sizes = std::initializer_list<std::size_t>;

constexpr std::size_t kRows = 3000;
constexpr std::size_t kFeatures = 5;
constexpr std::size_t kFolds = 3;
constexpr std::size_t kEstimators = 6;

// Training risks of a lone model, by loss: greedy, cyclic, trees.
struct KnownRisks {
  const char* loss;
  double risk[3];
};
constexpr KnownRisks kRisks[] = {
    {"glog", {2.041223689, 1.755255741, 1.813846935}},
    {"ggauss", {1.844077252, 1.566099005, 1.625371997}},
    {"glaplacian", {3.101058754, 2.750967201, 2.823226864}},
    {"gboost", {3.113654372, 2.810408970, 2.873632396}},
    {"exponential", {2.902158620, 2.614829153, 2.662062613}},
    {"savage", {0.616307131, 0.533200755, 0.560815275}},
    {"alpha", {2.993992013, 2.610933804, 2.693416626}},
};

int failures = 0;

void require(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

// -- codes ---------------------------------------------------------------------------------------

std::vector<std::vector<double>> make_edge_lists(std::size_t n) {
  std::vector<double> even, wide, close, halves;
  double just_above = 0.1;
  float single = 0.1f;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - 20.0;
    even.push_back(x);
    wide.push_back(std::copysign(std::exp2(8.0 * std::abs(x + 0.5)), x));  // beyond float
    close.push_back(just_above);                                           // within a float
    just_above = std::nextafter(just_above, 1.0);
    const float next = std::nextafter(single, 1.0f);
    halves.push_back((static_cast<double>(single) + static_cast<double>(next)) / 2);
    single = next;
  }
  std::sort(wide.begin(), wide.end());
  wide.erase(std::unique(wide.begin(), wide.end()), wide.end());
  return {even, wide, close, halves};
}

// Values on and next to the edges, in either type.
std::vector<double> values_around(const std::vector<double>& edges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = {0.0, -0.0, kInfinity, -kInfinity, kNan, -kNan, 1e300, -1e300};
  for (const double e : edges) {
    for (const double x : {e, std::nextafter(e, kInfinity), std::nextafter(e, -kInfinity)}) {
      values.push_back(x);
    }
    if (std::abs(e) > 1e38) continue;
    const auto single = static_cast<float>(e);
    for (const float x : {single, std::nextafter(single, 1e38f), std::nextafter(single, -1e38f)}) {
      values.push_back(static_cast<double>(x));
    }
  }
  return values;
}

// A row-major table of three columns, which all hold `values`, begun at different
// places.
template <class T>
void test_encoding(const std::vector<double>& edges, const std::vector<double>& values, Type type) {
  constexpr std::size_t kColumns = 3;
  const std::size_t n = values.size();
  std::vector<T> x;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t f = 0; f < kColumns; ++f) {
      const double value = values[(i + 17 * f) % n];
      x.push_back(static_cast<T>(
          std::abs(value) > 1e38 && sizeof(T) == 4 ? std::copysign(HUGE_VAL, value) : value));
    }
  }
  Table table{n, {}};
  std::vector<FeatureBins> features;
  for (std::size_t f = 0; f < kColumns; ++f) {
    table.columns.push_back({reinterpret_cast<const char*>(x.data() + f),
                             static_cast<std::ptrdiff_t>(kColumns * sizeof(T)), type});
    features.emplace_back(edges);
  }
  const Bins bins(features);
  std::vector<std::uint8_t> codes(kColumns * n);
  Team::run(2, 1e9, [&](Team& team) { bins.encode(table, RowOrder{}, n, codes.data(), team); });
  std::size_t wrong = 0;
  for (std::size_t f = 0; f < kColumns; ++f) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[i * kColumns + f]);
      const auto below =
          std::count_if(edges.begin(), edges.end(), [value](double edge) { return edge < value; });
      const long expected = std::isnan(value) ? static_cast<long>(edges.size()) + 1 : below;
      wrong += codes[f * n + i] == expected ? 0u : 1u;
    }
  }
  require(wrong == 0, std::to_string(wrong) + " codes of " + std::to_string(edges.size()) +
                          " edges, values of " + std::to_string(sizeof(T)) + " bytes");
}

void test_codes() {
  for (const std::size_t n : Sizes{0, 1, 14, 15, 16, 31, 63, 127, 128, 254}) {
    for (const std::vector<double>& edges : make_edge_lists(n)) {
      const std::vector<double> values = values_around(edges);
      test_encoding<float>(edges, values, Type::f32);
      test_encoding<double>(edges, values, Type::f64);
    }
  }
  std::printf("  codes\n");
}

// -- boosting ------------------------------------------------------------------------------------

struct Problem {
  std::vector<double> columns;  // feature-major, rows sorted by class and fold
  std::vector<double> weight;
  std::vector<std::size_t> segments{0};

  Problem() : columns(kRows * kFeatures) {
    Random random(1);
    std::vector<std::vector<std::vector<double>>> rows(2 * kFolds);
    for (std::size_t i = 0; i < kRows; ++i) {
      std::vector<double> x(kFeatures);
      for (double& value : x) value = random.next();
      const double raw = 4 * (x[0] - 0.5) + 3 * x[1] * x[1] - 1 + 2 * (x[2] > 0.7);
      const bool positive = random.next() < 1 / (1 + std::exp(-raw));
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

std::vector<Role> roles(std::size_t fold) {  // kFolds holds nothing out
  std::vector<Role> result;
  for (std::size_t s = 0; s < 2 * kFolds; ++s) {
    const int magnitude = s % kFolds == fold ? 2 : 1;
    result.push_back(static_cast<Role>(s < kFolds ? -magnitude : magnitude));
  }
  return result;
}

AdditiveBoosting algorithm(const std::string& selection, const std::string& response) {
  return AdditiveBoosting(
      {make_selection(selection), make_response(response), make_step("guarded")});
}

void test_loss(const std::string& name, const Codes& codes, const Bins& bins,
               const double* weight) {
  std::map<std::string, double> parameters;
  if (name == "alpha") parameters["alpha"] = 0.3;
  const std::unique_ptr<Loss> loss = make_loss(name, parameters);
  TreeFields fields;
  fields.max_leaf_nodes = 8;
  fields.max_features = 0.6;
  fields.min_child_weight = 0.0;
  const std::unique_ptr<WeakLearner> table = make_weak_learner(TableFields{}, LearnerOptions{});
  const std::unique_ptr<WeakLearner> tree = make_weak_learner(fields, LearnerOptions{});
  const AdditiveBoosting greedy = algorithm("greedy", "real");
  const AdditiveBoosting cyclic = algorithm("cyclic", "real");
  struct Way {
    const char* name;
    const WeakLearner* learner;
    const Algorithm& algorithm;
  };
  const Way ways[] = {{"greedy", table.get(), greedy},
                      {"cyclic", table.get(), cyclic},
                      {"trees", tree.get(), greedy}};
  for (std::size_t which = 0; which < 3; ++which) {
    const WeakLearner* const learner = ways[which].learner;
    const std::string label = name + ", " + ways[which].name;
    const auto boost = [&](const std::vector<Model>& models) {
      std::vector<std::size_t> all;
      for (std::size_t m = 0; m < models.size(); ++m) all.push_back(m);
      auto boosting = std::make_unique<Boosting>(Rows{codes, bins, RowSampleWeights(weight)},
                                                 models, ways[which].algorithm);
      Team::run(2, 1e9, [&](Team& team) { boosting->advance(kEstimators, all, {}, team); });
      return boosting;
    };
    const auto model = [&](std::size_t m) {
      return Model{loss.get(), learner, 0.5 + static_cast<double>(m % 5), 1.0, 0.0, roles(m % 4)};
    };
    for (const std::size_t n : Sizes{3, 7, 16, 19}) {
      std::vector<Model> models;
      for (std::size_t m = 0; m < n; ++m) models.push_back(model(m));
      const auto together = boost(models);
      for (std::size_t m = 0; m < n; ++m) {
        const auto alone = boost({model(m)});
        const Rounds& a = together->state(m).rounds[0];
        const Rounds& b = alone->state(0).rounds[0];
        bool same = a.feature == b.feature && a.risk.size() == b.risk.size();
        for (std::size_t t = 0; same && t < b.risk.size(); ++t) {
          same = std::abs(a.risk[t] - b.risk[t]) <= 1e-5 * b.risk[t];
        }
        require(same, label + ": lane " + std::to_string(m) + " of " + std::to_string(n));
        require(alone->held_out(0).size() == together->held_out(m).size(), label + ": held out");
      }
    }
    const double risk = boost({model(3)})->state(0).rounds[0].risk.back();
    const auto known = std::find_if(std::begin(kRisks), std::end(kRisks),
                                    [&](const KnownRisks& k) { return name == k.loss; });
    require(known != std::end(kRisks) && std::abs(risk / known->risk[which] - 1) < 1e-5,
            label + ": risk " + std::to_string(risk));
    std::printf("  %-20s risk %.9f\n", label.c_str(), risk);
  }
}

// -- bundles -------------------------------------------------------------------------------------

// Rows of features with 3 to 64 codes; the last code of each is missing.
struct NarrowProblem {
  static constexpr std::size_t kManyRows = 20'000;
  const std::vector<std::size_t> widths = {3, 5, 17, 3, 33, 9, 64, 4};

  std::vector<std::uint8_t> codes, wide_codes;
  std::vector<double> weight;
  std::vector<std::size_t> segments{0};

  NarrowProblem() : codes(kManyRows * widths.size()), wide_codes(codes.size()) {
    Random random(1);
    std::vector<std::vector<std::vector<std::uint8_t>>> rows(2 * kFolds);
    for (std::size_t i = 0; i < kManyRows; ++i) {
      std::vector<std::uint8_t> row;
      double raw = -1.5;
      for (const std::size_t width : widths) {
        const double u = random.next();
        row.push_back(static_cast<std::uint8_t>(u * u * static_cast<double>(width)));
        raw += u * u * (3.0 - 0.4 * static_cast<double>(row.size()));
      }
      const bool positive = random.next() < 1 / (1 + std::exp(-raw));
      rows[(positive ? kFolds : 0) + i % kFolds].push_back(row);
    }
    std::size_t i = 0;
    for (const auto& segment : rows) {
      for (const auto& row : segment) {
        for (std::size_t f = 0; f < widths.size(); ++f) {
          const bool missing = row[f] + 1u == widths[f];
          codes[f * kManyRows + i] = row[f];
          wide_codes[f * kManyRows + i] = missing ? std::uint8_t{254} : row[f];
        }
        weight.push_back(0.5 + random.next());
        ++i;
      }
      segments.push_back(i);
    }
  }

  Bins bins() const {
    std::vector<FeatureBins> features;
    for (const std::size_t width : widths) {
      std::vector<double> edges(width - 2);
      for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = static_cast<double>(e);
      features.emplace_back(edges);
    }
    return Bins(features);
  }
  // Bins with the most codes, so that no two features are summed jointly.
  Bins wide_bins() const { return Bins(std::vector<FeatureBins>(widths.size(), FeatureBins(254))); }
};

// Whether a single lane sums some of the features jointly.
bool has_joint_sums(const Bins& bins, const Codes& codes, bool has_curvature) {
  const std::vector<Role> all = roles(kFolds);
  std::vector<SegmentRoles> train(all.size());
  for (std::size_t s = 0; s < all.size(); ++s) train[s].set(0, all[s]);
  const std::vector<BundleSet> sets = bundle_features(
      bins, bins.all_features(), 1, has_curvature,
      cut_into_accumulation_blocks(codes.segments, train), std::vector<double>(bins.size(), 0.0));
  return std::any_of(sets.begin(), sets.end(), [](const BundleSet& s) { return s.joint(); });
}

void test_bundles() {
  const NarrowProblem problem;
  const Bins bins = problem.bins();
  const Bins wide_bins = problem.wide_bins();
  constexpr std::size_t kRows = NarrowProblem::kManyRows;
  const Codes codes{problem.codes.data(), kRows, problem.segments};
  const Codes wide_codes{problem.wide_codes.data(), kRows, problem.segments};
  const std::unique_ptr<Loss> loss = make_loss("glog", {});
  const std::unique_ptr<WeakLearner> learner = make_weak_learner(TableFields{}, LearnerOptions{});
  const AdditiveBoosting real = algorithm("greedy", "real");
  const AdditiveBoosting newton = algorithm("greedy", "newton");
  for (const AdditiveBoosting* way : {&real, &newton}) {
    const std::string label = way == &real ? "bundles, real" : "bundles, newton";
    for (const std::size_t n : Sizes{1, 2, 4, 8, 16}) {
      std::vector<Model> models;
      std::vector<std::size_t> all;
      for (std::size_t m = 0; m < n; ++m) {
        models.push_back({loss.get(), learner.get(), 0.5 + static_cast<double>(m), 1.0, 0.0,
                          roles(n == 1 ? kFolds : m % 4)});
        all.push_back(m);
      }
      Boosting narrow({codes, bins, RowSampleWeights(problem.weight.data())}, models, *way);
      Boosting wide({wide_codes, wide_bins, RowSampleWeights(problem.weight.data())}, models, *way);
      for (Boosting* boosting : {&narrow, &wide}) {
        Team::run(2, 1e9, [&](Team& team) { boosting->advance(2, all, {}, team); });
      }
      for (std::size_t m = 0; m < n; ++m) {
        const Rounds& a = narrow.state(m).rounds[0];
        const Rounds& b = wide.state(m).rounds[0];
        require(a.feature == b.feature && a.cost == b.cost && a.risk == b.risk,
                label + ": lane " + std::to_string(m) + " of " + std::to_string(n));
      }
    }
    const bool has_curvature = way == &newton;
    require(has_joint_sums(bins, codes, has_curvature), label + ": nothing is summed jointly");
    require(!has_joint_sums(wide_bins, wide_codes, has_curvature),
            label + ": wide features are summed jointly");
    std::printf("  %s\n", label.c_str());
  }
}

// -- steps that are solved for --------------------------------------------------------------------

// A = G G' of rank `rank`, in which some features may be others doubled; b = A c.
void test_least_norm(std::size_t n, std::size_t rank, double scale) {
  Random random(1);
  std::vector<std::vector<double>> g(n, std::vector<double>(rank));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < rank; ++k) {
      g[i][k] = i < rank ? scale * (random.next() - 0.5) : 2.0 * g[i - rank][k];
    }
  }
  const auto entry = [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < rank; ++k) sum += g[i][k] * g[j][k];
    return sum;
  };
  std::vector<double> a, b(n, 0.0), c(n);
  for (double& x : c) x = random.next() - 0.5;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) a.push_back(entry(i, j));
    for (std::size_t j = 0; j < n; ++j) b[i] += entry(i, j) * c[j];
  }
  const std::vector<double> x = solve_least_norm(a, b);
  const std::string what = std::to_string(n) + " features of rank " + std::to_string(rank);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += entry(i, j) * x[j];
    require(std::abs(sum - b[i]) <= 1e-9 * scale * scale, what + ": the equations hold");
    // The solution has the least norm: a feature that is another's double has twice its
    // coefficient.
    if (i >= rank) {
      require(std::abs(x[i] - 2.0 * x[i - rank]) <= 1e-8, what + ": the norm is least");
    }
  }
}

void test_losses() {
  const Problem problem;
  Table table{kRows, {}};
  for (std::size_t f = 0; f < kFeatures; ++f) {
    const auto* data = reinterpret_cast<const char*>(problem.columns.data() + f * kRows);
    table.columns.push_back({data, sizeof(double), Type::f64});
  }
  std::vector<FeatureBins> features;
  std::vector<std::uint8_t> codes(kRows * kFeatures);
  Team::run(2, 1e9, [&](Team& team) {
    const auto rows = sample_rows(kRows, RowSampleWeights(), kRows, 0);
    for (const auto& edges : find_edges(table, rows, RowSampleWeights(), 30, team)) {
      features.emplace_back(edges);
    }
  });
  const Bins bins(features);
  Team::run(2, 1e9, [&](Team& team) { bins.encode(table, RowOrder{}, kRows, codes.data(), team); });
  const Codes borrowed{codes.data(), kRows, problem.segments};
  for (const std::string& loss : loss_names()) {
    test_loss(loss, borrowed, bins, problem.weight.data());
  }
}

void test_equations() {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    test_least_norm(1, 1, scale);
    test_least_norm(7, 7, scale);
    test_least_norm(8, 4, scale);
    test_least_norm(11, 7, scale);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string requested = argc > 1 ? argv[1] : "";
  try {
    const char* set = name(instruction_set());
    if (requested == "--probe") return 0;
    std::printf("instruction set: %s\n", set);
  } catch (const std::invalid_argument&) {
    return 1;
  }
  const std::pair<const char*, void (*)()> parts[] = {{"codes", test_codes},
                                                      {"losses", test_losses},
                                                      {"bundles", test_bundles},
                                                      {"equations", test_equations}};
  int tested = 0;
  for (const auto& [part, test] : parts) {
    if (!requested.empty() && requested != part) continue;
    test();
    ++tested;
  }
  if (tested == 0) {
    std::printf("no part is called %s\n", requested.c_str());
    return 1;
  }
  std::printf(failures == 0 ? "all is well\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
