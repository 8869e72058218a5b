#include "properboost/votes/vote.hpp"

#include "properboost/votes/registry.hpp"

namespace properboost {

std::unique_ptr<Vote> make_vote(const std::string& name, std::size_t targets,
                                VoteCriterion criterion) {
  return votes::Builtins::make<Vote>("vote", name, targets, criterion);
}

std::vector<std::string> vote_names() { return votes::Builtins::names(); }

}  // namespace properboost
