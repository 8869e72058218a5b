// Bin edges and codes of any table: edges ascend, codes are those that a plain search finds, and
// neither depends on threads.
#include "properboost/data/binning.hpp"

#include "properboost/core/parallel.hpp"
#include "properboost/data/edges.hpp"
#include "properboost/data/row_sample.hpp"
#include "properboost/data/spans.hpp"
#include "properboost/data/table.hpp"
#include "properboost/histogram/code_weights.hpp"
#include "tables.hpp"

using namespace properboost;
using namespace properboost::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t columns = bytes.below(6);
  const std::size_t rows = bytes.below(16) == 15 ? 40 * bytes.below(256) : bytes.below(400);
  const StoredTable stored = read_table(bytes, rows, columns);
  const Table& table = stored.table;
  std::vector<double> weights;
  if (bytes.flip()) {
    const bool has_zeros = bytes.flip();
    for (std::size_t i = 0; i < rows; ++i) {
      weights.push_back(
          has_zeros && bytes.content_below(4) == 0
              ? 0.0
              : std::ldexp(bytes.unit() + 0.01, static_cast<int>(bytes.content_below(41)) - 20));
    }
  }
  const RowSampleWeights weight(weights.empty() ? nullptr : weights.data());
  const int max_bins = static_cast<int>(bytes.between(2, 255));
  const std::size_t sample = bytes.between(1, 500);
  const std::uint64_t seed = bytes.below(256);

  const std::vector<std::int64_t> drawn = sample_rows(rows, weight, sample, seed);
  std::vector<std::vector<double>> edges, again;
  const auto find = [&](auto& feature_edges) {
    return [&](Team& team) { feature_edges = find_edges(table, drawn, weight, max_bins, team); };
  };
  on_threads(1, find(edges));
  on_threads(3, find(again));
  require(edges.size() == columns && again.size() == columns, "edges of every column");
  std::vector<Span> spans;
  on_threads(3, [&](Team& team) { spans = find_spans(table, weight, team); });
  for (std::size_t f = 0; f < columns; ++f) {
    Span span;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!(weight[i] > 0.0)) continue;
      const double value = value_of(table.columns[f], i);  // std::fmin may keep a signalling NaN
      if (value < span.low) span.low = value;
      if (value > span.high) span.high = value;
    }
    require(spans[f].low == span.low && spans[f].high == span.high, "the span of the values");
  }
  std::vector<FeatureBins> features;
  for (std::size_t f = 0; f < columns; ++f) {
    require(same(edges[f], again[f]), "edges do not depend on threads");
    require(edges[f].size() < static_cast<std::size_t>(max_bins), "at most max_bins bins");
    if (bytes.below(4) == 3) {  // bins of another table
      auto [bins, its_edges] = read_bins(bytes);
      features.push_back(bins);
      edges[f] = its_edges;
    } else {
      features.emplace_back(edges[f]);
    }
  }
  const Bins bins(features);

  std::vector<std::int64_t> order;
  const bool all = rows == 0 || bytes.flip();
  const std::size_t n = all ? rows : bytes.below(300);
  for (std::size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<std::int64_t>(all ? i : bytes.content_below(rows)));
  }
  const RowOrder row_order{all ? nullptr : order.data()};
  std::vector<std::uint8_t> codes(columns * n), of_threads(columns * n);
  on_threads(1, [&](Team& team) { bins.encode(table, row_order, n, codes.data(), team); });
  on_threads(3, [&](Team& team) { bins.encode(table, row_order, n, of_threads.data(), team); });
  require(codes == of_threads, "codes do not depend on threads");
  for (std::size_t f = 0; f < columns; ++f) {
    for (std::size_t i = 0; i < n; ++i) {
      const double value = value_of(table.columns[f], static_cast<std::size_t>(order[i]));
      require(codes[f * n + i] == code_of(bins[f], edges[f], value), "the code of the value");
    }
  }
  if (!all) return 0;
  std::vector<double> code_weights;
  const std::size_t first = n / 3, second = n / 2;
  const Codes segments{codes.data(), n, {0, first, second, n}};
  on_threads(3, [&](Team& team) {
    code_weights = weigh_codes(segments, bins, {1, -1, 0}, 2, weight, team);
  });
  const double total = weight.sum(0, first) + weight.sum(second, n);
  for (std::size_t f = 0; f < columns; ++f) {
    double sum = 0.0;
    for (std::size_t b = bins.offset(f); b < bins.offset(f + 1); ++b) {
      sum += code_weights[b] + code_weights[bins.total_width() + b];
    }
    require(std::abs(sum - total) <= 1e-9 * total, "the codes hold all of the weight");
  }
  return 0;
}
