#include "properboost/responses/response.hpp"

#include "properboost/responses/registry.hpp"

namespace properboost {

std::unique_ptr<Response> make_response(const std::string& name) {
  return responses::Builtins::make<Response, BoundResponse>("response", name);
}

std::vector<std::string> response_names() { return responses::Builtins::names(); }

}  // namespace properboost
