// Algorithms: the parts of every round, for all models that are trained together.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properboost/rounds/lanes.hpp"
#include "properboost/votes/vote_targets.hpp"
#include "properboost/votes/vote_weighting.hpp"

namespace properboost {

class Planner;
class Response;
class RowWeighting;
class Selection;
class Step;
class Vote;
struct Model;
struct RoundContext;

// The choices that all algorithms make.
struct Choices {
  std::shared_ptr<const Selection> selection;
  std::shared_ptr<const Response> response;
  std::shared_ptr<const Step> step;
  std::size_t screening = 0;  // rows by which a round's feature is chosen, or all
};

// How the models of several classes are coupled: `classes` neighbouring models are the classes of
// one, under the joint form of their loss that has this name.
struct Coupling {
  std::size_t classes = 1;  // or each model is alone
  std::string joint_loss = {};
  std::size_t lanes = kMostLanes;  // the most of a batch
  bool shared_trees = false;       // one tree per round for all classes, not one each

  bool shares_trees() const noexcept { return shared_trees && classes > 1; }
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  const Selection& selection() const noexcept { return *choices_.selection; }
  const Response& response() const noexcept { return *choices_.response; }
  const Step& step() const noexcept { return *choices_.step; }
  std::size_t least_screen() const noexcept { return choices_.screening; }
  // The number added to a cell's curvature, in units of sample weight.
  double l2() const noexcept { return l2_; }

  virtual const VoteTargets& targets() const noexcept = 0;
  virtual const Coupling& coupling() const noexcept = 0;
  virtual std::unique_ptr<RowWeighting> make_weighting(std::size_t rows) const = 0;
  // How many models with these weak learners may share a batch.
  virtual std::size_t most_lanes(const Model& model) const = 0;
  // Planners of batches that advance in step, in their order; each plans for as many batches: one,
  // unless an algorithm overrides this.
  virtual std::vector<std::unique_ptr<Planner>> make_planners(
      const std::vector<const RoundContext*>& batches) const;

 protected:
  virtual std::unique_ptr<Planner> make_planner(const RoundContext& batch) const = 0;

  Algorithm(Choices choices, double l2) : choices_(std::move(choices)), l2_(l2) {}

 private:
  const Choices choices_;
  const double l2_;
};

// Adds look-up tables and trees whose cells' values the response finds.
class AdditiveBoosting final : public Algorithm {
 public:
  explicit AdditiveBoosting(Choices choices, double l2 = 0.0, Coupling coupling = {})
      : Algorithm(std::move(choices), l2), coupling_(std::move(coupling)) {}

  const VoteTargets& targets() const noexcept override { return one_; }
  const Coupling& coupling() const noexcept override { return coupling_; }
  std::unique_ptr<RowWeighting> make_weighting(std::size_t rows) const override;
  std::size_t most_lanes(const Model& model) const override;
  std::vector<std::unique_ptr<Planner>> make_planners(
      const std::vector<const RoundContext*>& batches) const override;

 private:
  std::unique_ptr<Planner> make_planner(const RoundContext& batch) const override;

  const VoteTargets one_;
  const Coupling coupling_;
};

// Adds weak classifiers, whose cells vote for each target.
class VoteBoosting final : public Algorithm {
 public:
  VoteBoosting(std::shared_ptr<const Step> step, std::shared_ptr<const Vote> vote,
               VoteTargets targets, double rho, const VoteWeighting& weighting);

  const Vote& vote() const noexcept { return *vote_; }
  // The factor on the odds of being right.
  double rho() const noexcept { return rho_; }
  const VoteWeighting& weighting() const noexcept { return weighting_; }

  const VoteTargets& targets() const noexcept override { return targets_; }
  const Coupling& coupling() const noexcept override { return none_; }
  std::unique_ptr<RowWeighting> make_weighting(std::size_t rows) const override;
  std::size_t most_lanes(const Model& model) const override;

 private:
  std::unique_ptr<Planner> make_planner(const RoundContext& batch) const override;

  const std::shared_ptr<const Vote> vote_;
  const VoteTargets targets_;
  const double rho_;
  const VoteWeighting weighting_;
  const Coupling none_;
};

}  // namespace properboost
