// Packs: which models share lanes, and what a pack holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/boosting/lanes.hpp"
#include "properboost/boosting/margins.hpp"
#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/steps/leverage.hpp"

namespace properboost {

// What one model has of its own.
struct Model {
  const Loss* loss;
  const WeakLearner* weak_learner;
  double gain;
  double learning_rate;
  double prior;  // e as a share of the total weight; 0 for 1/(rows' weight x occupied cells)
  std::vector<Role> roles;  // of each segment
};

inline bool same_but_for_gain(const Model& a, const Model& b) {
  return a.loss == b.loss && a.weak_learner == b.weak_learner &&
         a.learning_rate == b.learning_rate && a.prior == b.prior && a.roles == b.roles;
}

// What a round of a pack costs beside one of 16 lanes.
inline double cost_of_width(std::size_t lanes) {
  switch (width_for(lanes)) {
    case 1: return 0.3;
    case 4: return 0.4;
    case 8: return 0.6;
    default: return 1.0;
  }
}

using Lanes = std::vector<std::size_t>;  // the models of a pack

inline bool any_is_grown(const std::vector<Model>& models) {
  return std::any_of(models.begin(), models.end(),
                     [](const Model& m) { return m.weak_learner->is_grown(); });
}

// Models of one loss share packs; of those, models that leave out the same rows do if that is
// cheaper, because a pack need not read what none of its lanes learns from.
inline std::vector<Lanes> deal_into_packs(const std::vector<Model>& models,
                                          const std::vector<std::size_t>& segments,
                                          std::size_t most) {
  const auto same_rows = [](const Model& a, const Model& b) {
    for (std::size_t s = 0; s < a.roles.size(); ++s) {
      if (learns(a.roles[s]) != learns(b.roles[s])) return false;
    }
    return true;
  };
  const auto deal = [&](bool by_rows) {
    std::vector<Lanes> groups;
    for (std::size_t m = 0; m < models.size(); ++m) {
      const auto fits = [&](const Lanes& group) {
        const Model& first = models[group.front()];
        return first.loss == models[m].loss && (!by_rows || same_rows(first, models[m]));
      };
      const auto found = std::find_if(groups.begin(), groups.end(), fits);
      if (found == groups.end()) {
        groups.push_back({m});
      } else {
        found->push_back(m);
      }
    }
    std::vector<Lanes> packs;
    for (const Lanes& group : groups) {
      for (std::size_t i = 0; i < group.size(); i += most) {
        const auto begin = group.begin() + static_cast<std::ptrdiff_t>(i);
        const std::size_t n = std::min(most, group.size() - i);
        packs.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
      }
    }
    return packs;
  };
  const auto cost = [&](const std::vector<Lanes>& packs) {
    double total = 0.0;
    for (const Lanes& pack : packs) {
      std::size_t rows = 0;
      for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
        const bool used = std::any_of(pack.begin(), pack.end(),
                                      [&](std::size_t m) { return learns(models[m].roles[s]); });
        if (used) rows += segments[s + 1] - segments[s];
      }
      total += cost_of_width(pack.size()) * static_cast<double>(rows);
    }
    return total;
  };
  std::vector<Lanes> by_rows = deal(true);
  std::vector<Lanes> mixed = deal(false);
  return cost(mixed) < cost(by_rows) ? mixed : by_rows;
}

// Lanes that are boosted together.  Their margins are made when they are first needed.
struct Pack {
  Lanes models;
  std::vector<SegmentRoles> roles;
  std::vector<AccumulationBlock> blocks;
  std::vector<std::uint8_t> occupied;  // [lane][code]: whether training rows have it
  std::vector<double> crowding;        // of each feature: the share of rows that one code holds
  std::unique_ptr<Margins> margins;
  std::vector<Regularizers> regularizers;
  std::vector<std::unique_ptr<Leverage>> leverages;  // of each lane, where the step solves
  std::vector<bool> shortened;  // whether a lane's last step was less than its rate
  // Lanes that differ in their gain alone are the same model as long as every step of theirs is
  // shortened: each lane's twin is the one of least gain, whose steps are so for longest.
  std::vector<std::size_t> by_gain, twin;
  std::vector<bool> always_shortened;
};

}  // namespace properboost
