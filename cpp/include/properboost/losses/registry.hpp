// Adding a loss: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/losses/alpha.hpp"
#include "properboost/losses/exponential.hpp"
#include "properboost/losses/gboost.hpp"
#include "properboost/losses/ggauss.hpp"
#include "properboost/losses/glaplacian.hpp"
#include "properboost/losses/glog.hpp"
#include "properboost/losses/savage.hpp"

namespace properboost::losses {

using Builtins = Registry<std::tuple<GLog, GGauss, GLaplacian, GBoost, Exponential, Savage, Alpha>>;

}  // namespace properboost::losses
