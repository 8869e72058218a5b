#include "properboost/learners/learner.hpp"

#include "properboost/learners/registry.hpp"
#include "properboost/responses/response.hpp"

namespace properboost {

const Criterion& WeakLearner::criterion_or(const Response& response) const noexcept {
  if (criterion_) return **criterion_;
  return response;
}

std::unique_ptr<WeakLearner> make_weak_learner(const std::string& name,
                                               const LearnerOptions& options) {
  return learners::Builtins::make<WeakLearner>("weak_learner", name, options);
}

std::vector<std::string> weak_learner_names() { return learners::Builtins::names(); }

}  // namespace properboost
