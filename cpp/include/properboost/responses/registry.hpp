// Adding a response: its header, its include here, its place in this tuple.
#pragma once

#include <tuple>

#include "properboost/core/registry.hpp"
#include "properboost/responses/conditional.hpp"
#include "properboost/responses/exact.hpp"
#include "properboost/responses/newton.hpp"
#include "properboost/responses/real.hpp"
#include "properboost/responses/sign.hpp"

namespace properboost::responses {

using Builtins = Registry<std::tuple<Real, Sign, Newton, Exact, Conditional>>;

}  // namespace properboost::responses
