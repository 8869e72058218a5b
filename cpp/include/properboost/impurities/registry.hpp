// Adding an impurity: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/impurities/entropy.hpp"
#include "properboost/impurities/gini.hpp"
#include "properboost/impurities/matsushita.hpp"
#include "properboost/impurities/mu.hpp"
#include "properboost/impurities/zeta.hpp"

namespace properboost::impurities {

using Builtins = Registry<std::tuple<Gini, Entropy, Matsushita, Mu, Zeta>>;

}  // namespace properboost::impurities
