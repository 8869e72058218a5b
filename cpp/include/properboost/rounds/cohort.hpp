// Cohorts: model batches that advance in step, from when models are dealt into them until their
// lanes have finished.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "properboost/margins/moving_margins.hpp"
#include "properboost/planning/planner.hpp"
#include "properboost/rounds/fit_context.hpp"
#include "properboost/rounds/memory.hpp"
#include "properboost/rounds/model_batch.hpp"
#include "properboost/rounds/stepper.hpp"

namespace properboost {

// Models of one loss share batches of at most the size that the algorithm allows.  Models that hold
// out the same rows share one if that is cheaper, because a batch need not read rows that none of
// its lanes trains on; or where there are peers, which have other rows and must do the same.  The
// classes of a joint model stay together, in one batch or in several of full size; with soft labels
// there is room for further lanes.  Returns the batches of each cohort.
std::vector<std::vector<Lanes>> deal_into_cohorts(const std::vector<Model>& models,
                                                  const std::vector<std::size_t>& segments,
                                                  const Algorithm& algorithm, bool have_peers,
                                                  bool are_soft);

// One batch, or those of models that are coupled.  Until it begins there are only its models.
class Cohort {
 public:
  // The context must outlive it.
  Cohort(const FitContext& fit, std::vector<Lanes> batches);

  // Sets up batches whose models start from the base; does nothing a second time.
  void begin();
  bool has_begun() const noexcept { return stepper_ != nullptr; }
  // Its memory from its beginning on.
  Memory memory() const;

  const Lanes& models() const noexcept { return models_; }  // of all batches
  // These are there once it has begun.
  const std::vector<std::unique_ptr<ModelBatch>>& batches() const noexcept { return batches_; }
  MovingMargins& margins() noexcept { return *margins_; }
  Stepper& stepper() noexcept { return *stepper_; }

  // Becomes narrower, if it has begun and enough of its lanes are not requested.  Returns the
  // held-out raw predictions of the models that leave it.
  std::map<std::size_t, std::vector<double>> keep_only(const std::vector<bool>& requested);

  // Raw predictions of the rows whose role in a model is wanted, in segment order; the lanes of all
  // batches are counted through.
  std::vector<double> predict(std::size_t lane, bool (*wanted)(Role)) const;

 private:
  void set_up();  // all but the stepper
  void make_margins();
  void make_coupled_margins();
  void set_to_base(const Base& base, Stepper& stepper);

  const FitContext* fit_;
  std::vector<Lanes> dealt_;  // the models of each batch
  Lanes models_;
  std::vector<std::unique_ptr<ModelBatch>> batches_;
  std::unique_ptr<MovingMargins> margins_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace properboost
