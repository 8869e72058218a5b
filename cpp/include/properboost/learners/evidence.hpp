// How far a feature separates two classes, by the weights of their rows with each of its codes.
#pragma once

#include <cstddef>

#include "properboost/learners/contrast.hpp"

namespace properboost {

// The contrast of the best cut of n codes in order, or of n categories.
Contrast find_evidence(const double* positive, const double* negative, std::size_t n, bool ordered);

}  // namespace properboost
