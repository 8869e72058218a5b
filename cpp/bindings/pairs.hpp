// Pairs from Python, checked.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "properboost/data/pairs.hpp"

namespace properboost::bindings {

// Checks a pair for a table of `features` features.
inline void check_pair(const FeaturePair& pair, std::size_t features) {
  if (pair.first >= features || pair.second >= features) {
    throw pybind11::value_error("pairs must hold positions of features");
  }
}

}  // namespace properboost::bindings
