#include "properboost/histogram/code_weights.hpp"

#include "properboost/core/exact_sum.hpp"
#include "properboost/core/fixed_point.hpp"
#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"

namespace properboost {
namespace {

double nanoseconds(const Codes& codes, const Bins& bins) {
  return 0.5 * static_cast<double>(codes.bytes(bins.size()));
}

// out[code of row i] += term(i), i in [begin, end), for feature f; `all` is the sum of these terms.
template <class Number, class Term>
void add_feature(const Codes& codes, std::size_t f, std::size_t begin, std::size_t end, int width,
                 const Term& term, Number all, Number* out) {
  if (!codes.is_sparse(f)) {
    add_by_code(codes.feature(f), begin, end, width, term, out);
    return;
  }
  const CodeEntries entries = codes.entries(f, begin, end);
  for (std::size_t k = 0; k < entries.size; ++k) {
    const Number number = term(static_cast<std::size_t>(entries.rows[k]));
    out[entries.codes[k]] += number;
    all -= number;
  }
  out[codes.sparse.common[f]] += all;
}

}  // namespace

std::vector<double> weigh_codes(const Codes& codes, const Bins& bins,
                                const std::vector<int>& group_of, std::size_t groups,
                                RowSampleWeights weight, Team& team) {
  // visit(group, begin, end) for the rows of neighbouring segments that are in a group
  const auto for_segments = [&](const auto& visit) {
    for (std::size_t s = 0; s < group_of.size();) {
      const std::size_t first = s++;
      while (s < group_of.size() && group_of[s] == group_of[first]) ++s;
      if (group_of[first] < 0) continue;
      visit(static_cast<std::size_t>(group_of[first]), codes.segments[first], codes.segments[s]);
    }
  };
  std::vector<ExactSum> totals(groups);
  for_segments([&](std::size_t group, std::size_t begin, std::size_t end) {
    totals[group] += weight.add_up(begin, end);
  });
  AllReduce all_reduce = team.all_reduce();
  for (ExactSum& total : totals) total.add_to(all_reduce);
  all_reduce.run();
  std::vector<FixedPoint> units;
  for (const ExactSum& total : totals) units.emplace_back(total.value());
  const std::size_t width = bins.total_width();
  std::vector<std::int64_t> sums(groups * width, 0);
  // The whole weights of rows that are visited together, in the same order; sparse features need
  // them.
  std::vector<std::int64_t> all;
  for_segments([&](std::size_t group, std::size_t begin, std::size_t end) {
    std::int64_t& sum = all.emplace_back(0);
    if (!codes.sparse.any()) return;
    for (std::size_t i = begin; i < end; ++i) sum += units[group].round(weight[i]);
  });
  team.for_each(bins.size(), nanoseconds(codes, bins), [&](std::size_t f) {
    auto sum = all.begin();
    for_segments([&](std::size_t group, std::size_t begin, std::size_t end) {
      std::int64_t* const group_sums = sums.data() + group * width + bins.offset(f);
      const auto add = [&](const auto& term) {
        add_feature(codes, f, begin, end, bins[f].width(), term, *sum++, group_sums);
      };
      if (weight.all_ones()) {
        add([one = units[group].round(1.0)](std::size_t) { return one; });
      } else {
        add([&](std::size_t i) { return units[group].round(weight.stored(i)); });
      }
    });
  });
  team.all_reduce().sum(sums.data(), sums.size()).run();
  std::vector<double> weights;
  weights.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) weights.push_back(units[i / width].value(sums[i]));
  return weights;
}

std::vector<std::size_t> count_codes(const Codes& codes, const Bins& bins, Team& team) {
  const std::size_t segments = codes.segments.size() - 1;
  std::vector<std::size_t> counts(segments * bins.total_width(), 0);
  team.for_each(bins.size(), nanoseconds(codes, bins), [&](std::size_t f) {
    for (std::size_t s = 0; s < segments; ++s) {
      const std::size_t begin = codes.segments[s], end = codes.segments[s + 1];
      add_feature(
          codes, f, begin, end, bins[f].width(), [](std::size_t) { return std::size_t{1}; },
          end - begin, counts.data() + s * bins.total_width() + bins.offset(f));
    }
  });
  return counts;
}

}  // namespace properboost
