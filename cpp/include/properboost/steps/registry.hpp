// Adding a step: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/steps/adaptive.hpp"
#include "properboost/steps/guarded.hpp"
#include "properboost/steps/leveraging.hpp"
#include "properboost/steps/line_search.hpp"
#include "properboost/steps/totally_corrective.hpp"
#include "properboost/steps/unit.hpp"

namespace properboost::steps {

using Builtins = Registry<std::tuple<Unit, Guarded, LineSearch, Leveraging, TotallyCorrective>>;
using ForVotes = Registry<std::tuple<Adaptive, LineSearch>>;

}  // namespace properboost::steps
