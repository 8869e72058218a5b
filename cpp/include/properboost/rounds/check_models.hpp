// Checks that models fit an algorithm, and each other.
#pragma once

#include <cstddef>
#include <vector>

#include "properboost/rounds/algorithm.hpp"
#include "properboost/rounds/model.hpp"

namespace properboost {

// Throws std::invalid_argument if models cannot be trained by the algorithm, together, and with
// peers if they have any.
void check_models(const std::vector<Model>& models, const Algorithm& algorithm,
                  const std::vector<std::size_t>& segments, bool have_peers, bool are_soft);

}  // namespace properboost
