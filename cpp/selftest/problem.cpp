#include "problem.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/data/bin_means.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/row_sample.hpp"
#include "properboost/data/row_sample_weights.hpp"
#include "properboost/data/table.hpp"
#include "random.hpp"

namespace properboost::selftest {

namespace {

template <class T>
Column column_of(const std::vector<T>& values, Type type) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T), type};
}

}  // namespace

Problem::Problem(std::size_t n) : rows(n) {
  Random random(7);
  constexpr std::size_t kColumns = 8;
  using Row = std::array<double, kColumns>;
  std::vector<std::vector<Row>> sorted(kClasses * kFolds);
  for (std::size_t i = 0; i < n; ++i) {
    Row x;
    for (double& value : x) value = random.next();
    const double raw = 3 * x[0] - 2 * x[1] * x[1] + (x[2] > 0.7 ? 1.0 : 0.0) +
                       (x[3] - 0.5) * (x[4] - 0.5) * 4 + x[7] + 1.5 * random.next();
    const std::size_t its_class = raw > 3.0 ? 2 : raw > 2.0 ? 1 : 0;
    sorted[its_class * kFolds + i % kFolds].push_back(x);
  }
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t s = 0; s < sorted.size(); ++s) {
    for (const Row& x : sorted[s]) {
      for (std::size_t f = 0; f < numbers.size(); ++f) {
        const double value = f == 1 && x[0] > 0.95 ? kMissing : x[f];
        numbers[f].push_back(value);
        side_by_side.push_back(value);
      }
      singles[0].push_back(static_cast<float>(x[3] * x[3] * 1e6));
      singles[1].push_back(static_cast<float>(std::floor(x[4] * 20)));
      counts.push_back(static_cast<std::int16_t>(x[5] * 4000 - 2000));
      levels.push_back(static_cast<std::uint8_t>(x[6] * x[6] * 3));
      categories.push_back(static_cast<std::int8_t>(x[7] * 9 - 1));  // -1: missing
      weight.push_back(0.5 + random.next());
      base.push_back(random.next() - 0.5);
      positive.push_back(s >= kFolds ? 1 : 0);
    }
    segments.push_back(weight.size());
  }
  table.rows = by_row.rows = n;
  for (const auto& values : numbers) table.columns.push_back(column_of(values, Type::f64));
  for (const auto& values : singles) table.columns.push_back(column_of(values, Type::f32));
  table.columns.push_back(column_of(counts, Type::i16));
  table.columns.push_back(column_of(levels, Type::u8));
  table.columns.push_back(column_of(categories, Type::i8));
  constexpr auto kStride = static_cast<std::ptrdiff_t>(3 * sizeof(double));
  for (std::size_t f = 0; f < numbers.size(); ++f) {
    by_row.columns.push_back(
        {reinterpret_cast<const char*>(side_by_side.data() + f), kStride, Type::f64});
  }
  Team team = Team::alone();
  const auto all = sample_rows(n, RowSampleWeights(), n, 0);
  edges = find_edges(table, all, RowSampleWeights(), 40, team);
  edges[0] = find_edges(table, all, RowSampleWeights(), 255, team)[0];
  edges.pop_back();  // of the categories
  for (const std::vector<double>& column_edges : edges) features.emplace_back(column_edges);
  features.emplace_back(8);
  codes.resize(kColumns * n);
  bins().encode(table, RowOrder{}, n, codes.data(), team);
}

Bins Problem::bins_with_means() const {
  Team team = Team::alone();
  const auto means =
      find_bin_means(table, bins(), RowOrder{}, rows, RowSampleWeights(weight.data()), team);
  std::vector<FeatureBins> with_means = features;
  for (std::size_t f = 0; f < edges.size(); ++f) with_means[f] = FeatureBins(edges[f], means[f]);
  return Bins(std::move(with_means));
}

std::vector<Role> Problem::roles(std::size_t fold) {
  std::vector<Role> result;
  for (std::size_t k = 0; k < kClasses; ++k) {
    for (std::size_t s = 0; s < kFolds; ++s) {
      const int magnitude = s == fold ? 2 : 1;
      result.push_back(static_cast<Role>(k == 0 ? -magnitude : magnitude));
    }
  }
  return result;
}

}  // namespace properboost::selftest
