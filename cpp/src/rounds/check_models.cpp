#include "properboost/rounds/check_models.hpp"

#include <algorithm>
#include <stdexcept>

#include "properboost/data/roles.hpp"
#include "properboost/learners/learner.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/responses/response.hpp"
#include "properboost/steps/step.hpp"

namespace properboost {
namespace {

void check(const Model& model, const Algorithm& algorithm) {
  if (model.weak_learner->has_criterion() && algorithm.response().needs_curvature()) {
    throw std::invalid_argument("criterion must be None with a response that needs curvatures");
  }
  if (algorithm.response().reads_rows() && !model.weak_learner->has_shares()) {
    throw std::invalid_argument(
        "smoothing must be at most 0.25 with a response that looks at rows");
  }
  const bool solved = algorithm.step().solves() != Solved::kNone;
  if (has_lines(model) && (solved || !algorithm.response().fits_lines())) {
    throw std::invalid_argument(
        "lines must be none with this response, or with steps that are solved for");
  }
  if (!solved) return;
  if (model.learning_rate != 1.0) {
    throw std::invalid_argument("learning_rate must be 1 with a step that is solved for");
  }
  if (!model.loss->convex()) {
    throw std::invalid_argument("loss must be convex with a step that is solved for");
  }
}

// The classes of a joint model differ in their roles alone, and each row is of one of them.
void check_coupling(const std::vector<Model>& models, const Algorithm& algorithm,
                    std::size_t segments, std::size_t positive_classes) {
  const std::size_t classes = algorithm.coupling().classes;
  if (classes == 1) return;
  if (classes == 0 || models.size() % classes != 0) {
    throw std::invalid_argument("models must come one per class of each joint model");
  }
  if (algorithm.step().solves() != Solved::kNone) {
    throw std::invalid_argument("step must not be one that is solved for in a joint model");
  }
  if (algorithm.response().compares_classes()) {
    throw std::invalid_argument("response must not compare two classes in a joint model");
  }
  for (std::size_t m = 0; m < models.size(); m += classes) {
    for (std::size_t s = 0; s < segments; ++s) {
      std::size_t positives = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const Model& model = models[m + k];
        if (model.loss != models[m].loss || model.gain != models[m].gain ||
            model.learning_rate != models[m].learning_rate ||
            grows_trees(model) != grows_trees(models[m])) {
          throw std::invalid_argument("the classes of a joint model must share loss and gain");
        }
        positives += sign_of(model.roles[s]) > 0.0 ? 1 : 0;
        if (learns(model.roles[s]) != learns(models[m].roles[s]) ||
            is_held_out(model.roles[s]) != is_held_out(models[m].roles[s])) {
          throw std::invalid_argument("the classes of a joint model must learn from the same rows");
        }
      }
      if (positives != positive_classes && models[m].roles[s] != Role::kNone) {
        throw std::invalid_argument("each segment must be of one class of a joint model");
      }
    }
  }
}

// Rows that are of every class by a share are positive in every model.  Those of a joint model are
// one segment.
void check_soft(const std::vector<Model>& models, const Algorithm& algorithm,
                std::size_t segments) {
  const bool is_joint = algorithm.coupling().classes > 1;
  if ((is_joint && segments != 1) || algorithm.least_screen() > 0 ||
      algorithm.step().solves() != Solved::kNone || algorithm.targets().count > 1) {
    throw std::invalid_argument(
        "labels must be none with a screen, with steps that are solved for, for votes, or for a "
        "joint model of several segments");
  }
  for (const Model& model : models) {
    for (const Role role : model.roles) {
      if (sign_of(role) < 0.0) {
        throw std::invalid_argument("labels must be none where rows are negative");
      }
    }
    if (!grows_trees(model)) continue;
    if (is_joint ? has_lines(model) || !algorithm.coupling().shares_trees()
                 : algorithm.response().needs_curvature()) {
      throw std::invalid_argument(
          "labels must be none for trees of independent models with curvatures, and for those of "
          "joint models with lines, or with a tree of each class");
    }
  }
}

// Peers need sums in whole numbers.
void check_peers(const Algorithm& algorithm) {
  if (algorithm.step().solves() != Solved::kNone || algorithm.targets().count > 1) {
    throw std::invalid_argument("steps that are solved for, and votes, must have no peers");
  }
}

}  // namespace

void check_models(const std::vector<Model>& models, const Algorithm& algorithm,
                  const std::vector<std::size_t>& segments, bool have_peers, bool are_soft) {
  for (const Model& model : models) check(model, algorithm);
  const std::size_t classes = algorithm.coupling().classes;
  check_coupling(models, algorithm, segments.size() - 1, are_soft ? classes : 1);
  if (are_soft) check_soft(models, algorithm, segments.size() - 1);
  if (have_peers) check_peers(algorithm);
}

}  // namespace properboost
