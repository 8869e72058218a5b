// The rows of a joint model: the constant part, and the part that moves with their margins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "properboost/core/aligned.hpp"
#include "properboost/data/roles.hpp"
#include "properboost/data/training_rows.hpp"
#include "properboost/histogram/cells.hpp"
#include "properboost/joint/joint_loss.hpp"
#include "properboost/losses/loss.hpp"
#include "properboost/margins/term_bounds.hpp"
#include "properboost/rounds/algorithm.hpp"

namespace properboost {

class AllReduce;

// Rows of one class with the same role, which are looked at together.
struct StripRows {
  struct Piece {
    std::size_t begin, rows;
    std::size_t place;  // of the first, among the strip's
  };
  std::size_t of_class;
  bool trains;
  std::size_t rows = 0;
  std::vector<Piece> pieces = {};
};

// The constant part of a coupled pass.
struct CoupledRows {
  // See CoupledMargins.
  CoupledRows(const TrainingRows& rows, std::vector<const std::vector<Role>*> roles,
              const Loss& loss, const Coupling& coupling, double share, bool needs_curvature);

  Role role(std::size_t lane, std::size_t segment) const { return (*roles[lane])[segment]; }

  // Bounds on the terms of a row and class, once no score has moved farther than `farthest` from
  // sizes up to `largest_score`.
  TermBounds bounds_ahead(float largest_score, double farthest) const;

  const TrainingRows& rows;
  const Codes& codes;
  const RowSampleWeights sample_weight;
  const SoftLabels labels;
  const std::size_t classes;
  const std::vector<const std::vector<Role>*> roles;  // of the lanes, one for each class
  const Loss& loss;
  const std::shared_ptr<const JointLoss> joint;
  const double share;
  const bool needs_curvature;
  const std::size_t most_rows;  // of a strip: scores stay in the cache
  // These are of the rows with a role.  Bags and folds have many small segments, whose neighbours
  // share strips; and neighbouring strips share sums: [part] is the first, and the last is the end.
  std::vector<StripRows> strips;
  std::vector<std::size_t> parts;
  std::vector<RowBlock> blocks;  // of those, with the same role in a block
  const double total_weight, most_sample_weight;
  double training_weight = 0.0;
};

// The state that a row pass changes.
struct MovedRows {
  Aligned<float> u;  // [lane][row]
  float largest_score = 0.0F;
  TermBounds largest{1.0, 0.0, 0.0};  // of the terms of the last pass
  Aligned<float> shift;               // the joint loss's last shift of each row, if it keeps one
  std::uint64_t renewals = 0;         // of the weights
};

// The largest of those of all processes' blocks; bounds that were not computed stay as before.
TermBounds reduce_largest(const std::vector<TermBounds>& blocks, const TermBounds& before,
                          bool has_curvature, bool has_loss, AllReduce all_reduce);

}  // namespace properboost
