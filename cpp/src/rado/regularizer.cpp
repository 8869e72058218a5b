#include "properboost/rado/regularizers/regularizer.hpp"

#include "properboost/rado/regularizers/registry.hpp"

namespace properboost {

std::unique_ptr<Regularizer> make_regularizer(const std::string& name, std::size_t features,
                                              const double* parameter) {
  return regularizers::Builtins::make<Regularizer>("regularizer", name, features, parameter);
}

std::vector<std::string> regularizer_names() { return regularizers::Builtins::names(); }

}  // namespace properboost
