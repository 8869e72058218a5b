// Adding a joint loss: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/joint/canonical.hpp"
#include "properboost/joint/softmax.hpp"

namespace properboost::joint {

using Builtins = Registry<std::tuple<Softmax, Canonical>>;

}  // namespace properboost::joint
