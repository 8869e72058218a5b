#include "properboost/learners/learner.hpp"

#include <stdexcept>
#include <string_view>
#include <tuple>
#include <variant>

#include "properboost/core/registry.hpp"
#include "properboost/learners/registry.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {
namespace {

template <class Registered>
struct ByFields;

template <class... Learners>
struct ByFields<Registry<std::tuple<Learners...>>> {
  static_assert(sizeof...(Learners) == std::variant_size_v<LearnerFields>);
  static_assert(((std::string_view(Learners::name) == Learners::Fields::name) && ...),
                "a weak learner and its fields have one name");

  static std::unique_ptr<WeakLearner> make(const LearnerFields& fields,
                                           const LearnerOptions& options) {
    std::unique_ptr<WeakLearner> made;
    (make_if<Learners>(fields, options, made), ...);
    return made;
  }

  static LearnerFields find(const std::string& name) {
    LearnerFields fields;
    const bool is_known =
        ((name == Learners::name && (fields = typename Learners::Fields{}, true)) || ...);
    if (!is_known) throw std::invalid_argument(learners::Builtins::unknown("weak_learner", name));
    return fields;
  }

 private:
  template <class Learner>
  static void make_if(const LearnerFields& fields, const LearnerOptions& options,
                      std::unique_ptr<WeakLearner>& made) {
    const auto* const its = std::get_if<typename Learner::Fields>(&fields);
    if (its != nullptr) made = std::make_unique<Learner>(*its, options);
  }
};

}  // namespace

const Criterion& WeakLearner::criterion_or(const Response& response) const noexcept {
  if (criterion_) return **criterion_;
  return response;
}

std::unique_ptr<WeakLearner> make_weak_learner(const LearnerFields& fields,
                                               const LearnerOptions& options) {
  return ByFields<learners::Builtins>::make(fields, options);
}

LearnerFields weak_learner_fields(const std::string& name) {
  return ByFields<learners::Builtins>::find(name);
}

std::vector<std::string> weak_learner_names() { return learners::Builtins::names(); }

}  // namespace properboost
