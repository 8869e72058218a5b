// Weak learners: how the cells of a round are chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "properboost/histogram/cells.hpp"
#include "properboost/learners/cell_order.hpp"
#include "properboost/learners/fields.hpp"
#include "properboost/learners/partition.hpp"
#include "properboost/trees/criterion.hpp"
#include "properboost/trees/limits.hpp"

namespace properboost {

// The options of every weak learner, besides its fields.
struct LearnerOptions {
  std::optional<std::shared_ptr<const Criterion>> criterion = {};  // or else the response
  std::uint64_t seed = 0;
  // For each feature, or for either feature of each pair: whether the raw prediction must not fall
  // (1) or not rise (-1) with it, or may do both (0).  Empty where none must.
  std::vector<std::int8_t> directions = {};
  InteractionLimits interactions = {};  // of trees
  // Whether splits of trees and rules are charged for their saving by chance.
  bool allows_for_chance = false;
  // The least share of a node's cost that a split of it must save.  Among look-up tables, only
  // stumps that vote keep to it.
  double min_relative_decrease = 0.0;
  // Share of the features that a look-up table which votes is chosen from, drawn anew each round.
  // Trees and rules have a field of this name instead.
  double max_features = 1.0;
};

class Bins;
class FeatureLearner;
class GrownLearner;
class Response;
struct EffectiveRows;
struct Tree;

// A weak learner as its kind.
using LearnerKind = std::variant<const FeatureLearner*, const GrownLearner*>;

class WeakLearner {
 public:
  virtual ~WeakLearner() = default;
  virtual LearnerKind kind() const noexcept = 0;
  // Whether its partitions assign rows to cells, for responses that read rows.
  virtual bool has_shares() const noexcept { return true; }

  const std::vector<std::int8_t> directions;  // see LearnerOptions

  // The criterion for choosing cells: its own, or else the response.
  const Criterion& criterion_or(const Response& response) const noexcept;
  bool has_criterion() const noexcept { return criterion_.has_value(); }

 protected:
  explicit WeakLearner(const LearnerOptions& options)
      : directions(options.directions), criterion_(options.criterion) {}

 private:
  const std::optional<std::shared_ptr<const Criterion>> criterion_;
};

// A look-up table over one feature.
class FeatureLearner : public WeakLearner {
 public:
  LearnerKind kind() const noexcept final { return this; }

  // Weak classifiers that vote keep to these; other look-up tables are chosen from all features.
  const double min_relative_decrease, max_features;
  const std::uint64_t seed;  // of the random draws
  bool draws(std::size_t features) const { return count_drawn(max_features, features) < features; }

  virtual bool cuts_in_two() const noexcept = 0;  // else it has one cell per code
  // Whether cells without an order are shrunk by their number of rows.
  virtual bool shrinks(const FeatureCells& /*feature*/) const noexcept { return true; }
  // Whether cost and partition depend on how many rows count.
  virtual bool counts_rows() const noexcept { return false; }
  // The least cost this learner reaches on a feature, and the cells that reach it.
  virtual double cost(const FeatureCells& feature, const Criterion& criterion,
                      const Regularizers& r, const EffectiveRows& rows) const = 0;
  virtual Partition partition(const FeatureCells& feature, const Criterion& criterion,
                              const Regularizers& r, const EffectiveRows& rows) const = 0;
  // The statistic of how the classes differ in the cells that this learner would choose if every
  // cut that saves were made; 0 if none saves enough.
  virtual double statistic(const FeatureCells& feature, const Criterion& criterion,
                           const Regularizers& r, const EffectiveRows& rows) const = 0;
  // Its mean by chance, which follows from the codes that have rows.
  virtual double freedom(const FeatureCells& feature) const = 0;

 protected:
  explicit FeatureLearner(const LearnerOptions& options)
      : WeakLearner(options),
        min_relative_decrease(options.min_relative_decrease),
        max_features(options.max_features),
        seed(options.seed) {}
};

// A tree over several features, whose nodes are a feature's codes.
class GrownLearner : public WeakLearner {
 public:
  LearnerKind kind() const noexcept final { return this; }

  const TreeLimits limits;
  const std::uint64_t seed;  // of the random draws

  // Whether trees differ by their random draws, so that a later one may find a split that this did
  // not.
  bool draws(std::size_t features) const {
    return limits.fields.subsample < 1.0 ||
           count_drawn(limits.fields.max_features, features) < features;
  }

  // A node whose cell has no training rows gets the mean of the leaves below it.
  virtual Partition partition(const Tree& tree) const = 0;
  // Which nodes' values must be in order, so that the directions hold.
  virtual CellOrder order(const Tree& /*tree*/, const Bins& /*bins*/) const { return {}; }

 protected:
  GrownLearner(TreeLimits its_limits, const LearnerOptions& options)
      : WeakLearner(options),
        limits(with_options(std::move(its_limits), options)),
        seed(options.seed) {}

 private:
  static TreeLimits with_options(TreeLimits limits, const LearnerOptions& options) {
    limits.directions = options.directions;
    limits.interactions = options.interactions;
    limits.allows_for_chance = options.allows_for_chance;
    limits.min_relative_decrease = options.min_relative_decrease;
    return limits;
  }
};

std::unique_ptr<WeakLearner> make_weak_learner(const LearnerFields& fields,
                                               const LearnerOptions& options);
// The fields of the weak learner of this name, as they are by default.
LearnerFields weak_learner_fields(const std::string& name);
std::vector<std::string> weak_learner_names();

}  // namespace properboost
