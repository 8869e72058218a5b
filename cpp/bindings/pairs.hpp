// Pairs from Python, checked.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "properboost/data/pairs.hpp"

namespace properboost::bindings {

// A pair of a table of so many features.
inline void check_pair(const FeaturePair& pair, std::size_t features) {
  if (pair.first >= features || pair.second >= features) {
    throw pybind11::value_error("pairs must be of the features there are");
  }
}

}  // namespace properboost::bindings
