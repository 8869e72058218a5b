// Rados of any table, and boosting them: sums are those of their rows, and all of it is finite.
#include <memory>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/rado/boost.hpp"
#include "properboost/rado/rados.hpp"
#include "properboost/rado/regularizers/regularizer.hpp"
#include "tables.hpp"

using namespace properboost;
using namespace properboost::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t columns = bytes.between(1, 6);
  const std::size_t rows = bytes.below(16) == 15 ? bytes.below(20'000) : bytes.below(300);
  const StoredTable stored = read_table(bytes, rows, columns);
  std::vector<RadoFeature> features;
  const std::size_t n_features = bytes.between(1, 40);
  for (std::size_t k = 0; k < n_features; ++k) {
    const Column* const column = &stored.table.columns[bytes.below(columns)];
    switch (bytes.below(3)) {
      case 0: features.emplace_back(NumberFeature{column}); break;
      case 1: features.emplace_back(LevelFeature{column, std::int64_t(bytes.below(20))}); break;
      default: features.emplace_back(ConstantFeature{}); break;
    }
  }
  std::vector<std::uint8_t> positive;
  for (std::size_t i = 0; i < rows; ++i) positive.push_back(bytes.content_below(2) == 1 ? 1 : 0);
  const RadoRows rado_rows{rows, positive.data(), bytes.below(256)};
  const std::size_t n = bytes.between(1, 70);
  std::vector<double> rados[2];
  std::size_t finite[2];
  for (const int threads : {1, 3}) {
    const int which = threads / 2;
    rados[which].resize(n * n_features);
    on_threads(threads, [&](Team& team) {
      finite[which] = make_rados(features, rado_rows, 5, n, rados[which].data(), [] {}, team);
    });
  }
  require(finite[0] == finite[1], "which feature is not finite does not depend on threads");
  if (finite[0] < n_features) return 0;
  require(same(rados[0], rados[1]), "rados do not depend on threads");

  // Boosting takes finite rados, and the largest of a coordinate within [1e-150, 1e150].
  std::vector<double>& first_rados = rados[0];
  if (!all_finite(first_rados)) return 0;
  for (std::size_t k = 0; k < n_features; ++k) {
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      largest = std::max(largest, std::abs(first_rados[j * n_features + k]));
    }
    if (largest != 0.0 && (largest < 1e-150 || largest > 1e150)) return 0;
  }
  std::vector<double> slope, matrix(n_features * n_features, 0.0);
  for (std::size_t k = 0; k < n_features; ++k) {
    slope.push_back(static_cast<double>(n_features - k) * bytes.power_of_ten(-3, 0));
    matrix[k * n_features + k] = bytes.power_of_ten(-3, 3);
  }
  std::sort(slope.rbegin(), slope.rend());
  Penalty penalty;
  const std::size_t terms = bytes.below(3);
  for (std::size_t t = 0; t < terms; ++t) {
    const std::string name = bytes.pick(regularizer_names());
    const double* parameter = nullptr;
    if (name == "slope") parameter = slope.data();
    if (name == "ridge" && bytes.flip()) parameter = matrix.data();
    penalty.emplace_back(bytes.power_of_ten(-6, 2), make_regularizer(name, n_features, parameter));
  }
  const RadoBoosting boosting{first_rados.data(),          n,      n_features, bytes.below(40),
                              0.01 + 0.99 * bytes.share(), penalty};
  std::vector<RadoRound> rounds;
  on_threads(3,
             [&](Team& team) { rounds = boost_rados(boosting, [](std::size_t, double) {}, team); });
  for (const RadoRound& round : rounds) {
    require(round.feature >= 0 && static_cast<std::size_t>(round.feature) < n_features,
            "a feature's position");
    require(std::abs(round.edge) <= 1.0 && std::isfinite(round.step), "rounds are finite");
  }
  return 0;
}
