// Custom functions of margins, as the engine calls them.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "properboost/losses/loss.hpp"

namespace properboost::bindings {

// Makes a function from a scipy.LowLevelCallable, which holds a C function in a capsule named by
// its signature, or from a Python callable, which takes and returns an array.  `what` is the role
// of the function in the loss `name`.
std::shared_ptr<const MarginFunction> make_margin_function(const pybind11::object& function,
                                                           const std::string& name,
                                                           const std::string& what);

}  // namespace properboost::bindings
