// Adding a regulariser: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/rado/regularizers/lasso.hpp"
#include "properboost/rado/regularizers/linf.hpp"
#include "properboost/rado/regularizers/ridge.hpp"
#include "properboost/rado/regularizers/slope.hpp"

namespace properboost::regularizers {

using Builtins = Registry<std::tuple<Ridge, Lasso, Linf, Slope>>;

}  // namespace properboost::regularizers
