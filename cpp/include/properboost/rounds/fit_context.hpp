// The fit context: the common part of all models that are trained together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace properboost {

class Algorithm;
class PackedCodes;
class Peers;
class SampleWeights;
struct FitState;
struct Model;
struct TrainingRows;

// Raw predictions that models start from: [model][row] in segment order, or one array for all
// models.
struct Base {
  const double* raw;
  std::size_t stride;  // from one model to the next

  double of(std::size_t model, std::size_t i) const noexcept { return raw[model * stride + i]; }
};

struct FitContext {
  const TrainingRows& rows;
  const std::vector<std::size_t>& counts;  // [segment][code]: rows
  const PackedCodes& packed;               // empty if no trees are grown
  const std::vector<Model>& models;
  const Algorithm& algorithm;
  const SampleWeights& weights;
  const std::vector<FitState>& states;
  bool keep_rounds;          // or only the held-out curves
  std::optional<Base> base;  // or else models start from 0
  Peers* peers;              // hold other rows of the same segments
};

}  // namespace properboost
