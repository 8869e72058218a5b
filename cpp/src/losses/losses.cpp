#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "properboost/losses/bound.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/losses/registry.hpp"

namespace properboost {
namespace {

using Parameters = std::map<std::string, double>;

[[noreturn]] void reject(const std::ostringstream& message) {
  throw std::invalid_argument(message.str());
}

double checked(const char* loss, const losses::Parameter& parameter, const Parameters& parameters) {
  std::ostringstream message;
  const auto entry = parameters.find(parameter.name);
  if (entry == parameters.end()) {
    message << "loss '" << loss << "' needs the parameter '" << parameter.name << "'";
    reject(message);
  }
  const double value = entry->second;
  if (!(value >= parameter.least && value <= parameter.most)) {  // also refuses NaN
    message << parameter.name << " must be between " << parameter.least << " and " << parameter.most
            << "; got " << value;
    reject(message);
  }
  return value;
}

template <class Policy, std::size_t... i>
std::unique_ptr<Loss> make(const Parameters& parameters, std::index_sequence<i...>) {
  for (const auto& [name, value] : parameters) {
    static_cast<void>(value);
    const bool known = ((name == Policy::parameters[i].name) || ...);
    if (known) continue;
    std::ostringstream message;
    message << "loss '" << Policy::name << "' has no parameter '" << name << "'; it takes ";
    if constexpr (sizeof...(i) == 0) message << "none";
    static_cast<void>(((message << (i ? ", '" : "'") << Policy::parameters[i].name << "'"), ...));
    reject(message);
  }
  return losses::bind(Policy{checked(Policy::name, Policy::parameters[i], parameters)...});
}

template <class... Policies>
std::unique_ptr<Loss> find(Registry<std::tuple<Policies...>> builtins, const std::string& name,
                           const Parameters& parameters) {
  std::unique_ptr<Loss> made;
  const auto try_one = [&](auto* policy) {
    using Policy = std::remove_pointer_t<decltype(policy)>;
    if (name != Policy::name) return;
    made = make<Policy>(parameters, std::make_index_sequence<Policy::parameters.size()>());
  };
  (try_one(static_cast<Policies*>(nullptr)), ...);
  if (!made) throw std::invalid_argument(builtins.unknown("loss", name));
  return made;
}

}  // namespace

std::unique_ptr<Loss> make_loss(const std::string& name, const Parameters& parameters) {
  return find(losses::Builtins{}, name, parameters);
}

std::vector<std::string> loss_names() { return losses::Builtins::names(); }

}  // namespace properboost
