// How far a feature tells two classes apart, by what their rows with each of its codes weigh.
#pragma once

#include <cstddef>

#include "properboost/learners/contrast.hpp"

namespace properboost {

// The contrast of the best cut of n codes in order, or of n categories.
Contrast find_evidence(const double* positive, const double* negative, std::size_t n, bool ordered);

}  // namespace properboost
