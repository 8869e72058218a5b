// Looking a choice up by its name.
//
// Each axis (loss, weak learner, response, step) lists its policies in one tuple.  The names an
// error message offers, and the tests' lists, come from that tuple.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace properboost {

// Uses a policy as it is, without a wrapper.
template <class Policy>
using Unbound = Policy;

template <class Tuple>
struct Registry;

template <class... Policies>
struct Registry<std::tuple<Policies...>> {
  static std::vector<std::string> names() { return {Policies::name...}; }

  // Bind<Policy>(arguments...) for the policy called `name`; errors call the argument `axis`.
  template <class Base, template <class> class Bind = Unbound, class... Arguments>
  static std::unique_ptr<Base> make(const char* axis, const std::string& name,
                                    const Arguments&... arguments) {
    std::unique_ptr<Base> made;
    static_cast<void>((
        (name == Policies::name && (made = std::make_unique<Bind<Policies>>(arguments...), true)) ||
        ...));
    if (!made) throw std::invalid_argument(unknown(axis, name));
    return made;
  }

  static std::string unknown(const char* axis, const std::string& name) {
    std::string message = std::string(axis) + " must be one of ";
    const char* separator = "";
    for (const std::string& known : names()) {
      message += separator + ("'" + known + "'");
      separator = ", ";
    }
    return message + "; got '" + name + "'";
  }
};

}  // namespace properboost
