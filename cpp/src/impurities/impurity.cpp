#include "properboost/impurities/impurity.hpp"

#include "properboost/impurities/registry.hpp"

namespace properboost {

std::unique_ptr<Criterion> make_impurity(const char* axis, const std::string& name,
                                         double parameter) {
  return impurities::Builtins::make<Criterion, BoundImpurity>(axis, name, parameter);
}

std::vector<std::string> impurity_names() { return impurities::Builtins::names(); }

}  // namespace properboost
