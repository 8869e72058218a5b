// The race of features: the fewer are left, the more rows they are compared by.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "properboost/histogram/accumulation_block.hpp"
#include "properboost/learners/contrast.hpp"
#include "properboost/planning/effective_rows.hpp"
#include "properboost/planning/feature_search.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/planning/row_screen.hpp"

namespace properboost {

class Team;

// Finds the feature of a lone lane by screens of rows, and only at the end by all of them.
class FeatureRace {
 public:
  // All arguments must outlive it.
  FeatureRace(const RoundContext& context, FeatureSearch& search, EffectiveRowCount& effective);

  struct Winner {
    std::size_t feature;
    EffectiveRows rows;  // all that it was compared by at last
  };
  // None if there are too few rows for a race.  The winner's cells are then those of all rows.
  std::optional<Winner> run(Team& team);

 private:
  struct Contrasts {
    std::vector<Contrast> of_feature;
    EffectiveRows rows;
  };
  Contrasts compare(const std::vector<AccumulationBlock>& blocks,
                    const std::vector<double>& stands_for, const std::vector<std::size_t>& features,
                    Team& team);

  const RoundContext& at_;
  FeatureSearch& search_;
  EffectiveRowCount& effective_;
  RowScreen screens_;
};

}  // namespace properboost
