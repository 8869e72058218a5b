// Checking trees that come from Python.
#pragma once

#include <string>

#include "arrays.hpp"
#include "properboost/data/binning.hpp"
#include "properboost/trees/node_lines.hpp"
#include "properboost/trees/tree.hpp"

namespace properboost::bindings {

// Checks that trees and their lines look up features of the bins; `what` names them in errors.
inline void check_features(const Tree& trees, const NodeLines& lines, const Bins& bins,
                           const char* what) {
  for (const std::int32_t f : trees.feature) {
    if (f != Tree::kLeaf && static_cast<std::size_t>(f) >= bins.size()) {
      throw py::value_error(std::string(what) + " must split features of the bins");
    }
  }
  for (const std::int32_t f : lines.feature) {
    if (static_cast<std::size_t>(f) >= bins.size() ||
        bins[static_cast<std::size_t>(f)].positions() == nullptr) {
      throw py::value_error(std::string(what) + " must have lines in features that have means");
    }
  }
}

}  // namespace properboost::bindings
