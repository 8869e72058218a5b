// Adding a weak learner: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/learners/rule.hpp"
#include "properboost/learners/stump.hpp"
#include "properboost/learners/table.hpp"
#include "properboost/learners/tree.hpp"

namespace properboost::learners {

using Builtins = Registry<std::tuple<TableLearner, Stump, TreeLearner, Rule>>;

}  // namespace properboost::learners
