#include "properboost/boosting/model_batch.hpp"

#include <algorithm>
#include <cstddef>

namespace properboost {
namespace {

// The cost of a round of a batch, relative to one of 16 lanes.
double cost_of_width(std::size_t lanes) {
  switch (width_for(lanes)) {
    case 1: return 0.3;
    case 4: return 0.4;
    case 8: return 0.6;
    default: return 1.0;
  }
}

}  // namespace

std::vector<std::vector<Lanes>> deal_into_cohorts(const std::vector<Model>& models,
                                                  const std::vector<std::size_t>& segments,
                                                  std::size_t most, std::size_t coupled) {
  const auto same_rows = [](const Model& a, const Model& b) {
    for (std::size_t s = 0; s < a.roles.size(); ++s) {
      if (learns(a.roles[s]) != learns(b.roles[s])) return false;
    }
    return true;
  };
  const std::size_t together = std::max<std::size_t>(1, most / coupled) * coupled;
  // The models of each cohort.
  const auto deal = [&](bool by_rows) {
    std::vector<Lanes> alike;
    for (std::size_t m = 0; m < models.size(); m += coupled) {
      const auto fits = [&](const Lanes& those) {
        const Model& first = models[those.front()];
        return first.loss == models[m].loss && (!by_rows || same_rows(first, models[m]));
      };
      auto found = std::find_if(alike.begin(), alike.end(), fits);
      if (found == alike.end()) found = alike.insert(alike.end(), Lanes{});
      for (std::size_t k = 0; k < coupled; ++k) found->push_back(m + k);
    }
    std::vector<Lanes> cohorts;
    for (const Lanes& those : alike) {
      for (std::size_t i = 0; i < those.size(); i += together) {
        const auto begin = those.begin() + static_cast<std::ptrdiff_t>(i);
        const std::size_t n = std::min(together, those.size() - i);
        cohorts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
      }
    }
    return cohorts;
  };
  const auto cost = [&](const std::vector<Lanes>& cohorts) {
    double total = 0.0;
    for (const Lanes& cohort : cohorts) {
      std::size_t rows = 0;
      for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
        const bool used = std::any_of(cohort.begin(), cohort.end(),
                                      [&](std::size_t m) { return learns(models[m].roles[s]); });
        if (used) rows += segments[s + 1] - segments[s];
      }
      total += cost_of_width(cohort.size()) * static_cast<double>(rows);
    }
    return total;
  };
  std::vector<Lanes> by_rows = deal(true);
  std::vector<Lanes> mixed = deal(false);
  std::vector<std::vector<Lanes>> cohorts;
  for (const Lanes& those : cost(mixed) < cost(by_rows) ? mixed : by_rows) {
    cohorts.emplace_back();
    for (std::size_t i = 0; i < those.size(); i += most) {
      const auto begin = those.begin() + static_cast<std::ptrdiff_t>(i);
      const std::size_t n = std::min(most, those.size() - i);
      cohorts.back().emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
    }
  }
  return cohorts;
}

}  // namespace properboost
