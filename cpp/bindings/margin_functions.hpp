// Functions of the user's own, as the engine calls them.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "properboost/losses/loss.hpp"

namespace properboost::bindings {

// From a scipy.LowLevelCallable, which holds a capsule of a C function that is named by its
// signature, or from a Python callable, which takes and returns an array; `what` the loss `name`
// calls it.
std::shared_ptr<const MarginFunction> make_margin_function(const pybind11::object& function,
                                                           const std::string& name,
                                                           const std::string& what);

}  // namespace properboost::bindings
