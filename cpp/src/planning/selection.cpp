#include "properboost/planning/selection.hpp"

#include "properboost/planning/selections.hpp"

namespace properboost {

std::unique_ptr<Selection> make_selection(const std::string& name) {
  return selections::Builtins::make<Selection>("selection", name);
}

std::vector<std::string> selection_names() { return selections::Builtins::names(); }

}  // namespace properboost
