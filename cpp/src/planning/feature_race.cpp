#include "properboost/planning/feature_race.hpp"

#include <algorithm>
#include <utility>

#include "properboost/core/parallel.hpp"
#include "properboost/core/peers.hpp"
#include "properboost/trees/slots.hpp"

namespace properboost {
namespace {

// The best features, at most `most`, in the order of all, and none that is clearly worse.
std::vector<std::size_t> leading(const std::vector<Contrast>& contrasts,
                                 const std::vector<std::size_t>& features, std::size_t most) {
  constexpr double kClearly = 4.0;  // standard deviations of either
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < features.size(); ++i) {
    order.emplace_back(-contrasts[i].deviate(), features[i]);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> left;
  for (const auto& [deviate, f] : order) {
    if (left.size() < most && deviate <= order.front().first + kClearly) left.push_back(f);
  }
  std::sort(left.begin(), left.end());
  return left;
}

// Curvatures are not kept by class; they matter for where a feature is cut, in all cells alike.
void scale(FeatureSearch::Buffer& cells, std::size_t n, const std::vector<double>& stands_for) {
  for (std::size_t b = 0; b < n; ++b) {
    Cell& cell = cells[b];
    const double before = cell.positive + cell.negative;
    cell.positive *= stands_for[Slots::kPositive];
    cell.negative *= stands_for[Slots::kNegative];
    if (before > 0.0) cell.curvature *= (cell.positive + cell.negative) / before;
  }
}

}  // namespace

FeatureRace::FeatureRace(const RoundContext& context, FeatureSearch& search,
                         EffectiveRowCount& effective)
    : at_(context),
      search_(search),
      effective_(effective),
      screens_(context.rows, Slots::of_classes(context.model(0).roles),
               context.algorithm.least_screen()) {}

std::optional<FeatureRace::Winner> FeatureRace::run(Team& team) {
  constexpr std::size_t kMoreRows = 4, kFewerFeatures = 4, kFewest = 4;
  std::vector<std::size_t> left = at_.rows.bins.all_features();
  std::size_t times = 1;
  std::optional<Screen> screen = screens_.screen(at_.round(0), times, team);
  if (!screen) return std::nullopt;
  while (screen && left.size() > kFewest) {
    const auto blocks = cut_into_accumulation_blocks(screen->ranges, at_.batch.roles);
    const std::vector<Contrast> contrasts =
        compare(blocks, screen->stands_for, left, team).of_feature;
    left = leading(contrasts, left, std::max(kFewest, left.size() / kFewerFeatures));
    times *= kMoreRows;
    screen = screens_.screen(at_.round(0), times, team);
  }
  const auto [contrasts, rows] = compare(at_.batch.blocks, {1.0, 1.0}, left, team);
  if (!rows.known()) return std::nullopt;
  return Winner{left[least_likely(contrasts.data(), left.size(), rows)], rows};
}

// The contrasts of some features, from the rows of these blocks, of which each stands for several.
FeatureRace::Contrasts FeatureRace::compare(const std::vector<AccumulationBlock>& blocks,
                                            const std::vector<double>& stands_for,
                                            const std::vector<std::size_t>& features, Team& team) {
  HistogramBuilder builder = search_.make_builder(blocks, features);
  search_.fill(builder, team);
  AllReduce all_reduce = team.all_reduce();
  for (const std::size_t f : features) search_.histogram().add_to(all_reduce, f);
  effective_.sum(blocks, all_reduce, team);
  all_reduce.run();
  Contrasts contrasts{std::vector<Contrast>(features.size()), effective_.count().front()};
  if (!contrasts.rows.known()) return contrasts;
  const double nanoseconds = 4.0 * static_cast<double>(at_.rows.bins.total_width()) *
                             static_cast<double>(features.size()) /
                             static_cast<double>(at_.rows.bins.size());
  team.for_each(features.size(), nanoseconds, [&](std::size_t i) {
    FeatureSearch::Buffer buffer;
    const FeatureCells cells = search_.cells(features[i], 0, buffer);
    scale(buffer, cells.width(), stands_for);
    contrasts.of_feature[i] = search_.contrast_of(cells, features[i], 0, contrasts.rows);
  });
  return contrasts;
}

}  // namespace properboost
