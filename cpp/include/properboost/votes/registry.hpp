// Adding a vote: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/votes/labels.hpp"
#include "properboost/votes/plurality.hpp"

namespace properboost::votes {

using Builtins = Registry<std::tuple<Plurality, Labels>>;

}  // namespace properboost::votes
