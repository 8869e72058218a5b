// Adding a weak learner: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/learners/histogram.hpp"
#include "properboost/learners/monomial.hpp"
#include "properboost/learners/stump.hpp"
#include "properboost/learners/tree.hpp"

namespace properboost::learners {

using Builtins = Registry<std::tuple<Histogram, Stump, TreeLearner, Monomial>>;

}  // namespace properboost::learners
