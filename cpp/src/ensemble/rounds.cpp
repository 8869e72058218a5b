#include "properboost/ensemble/ensemble.hpp"

namespace properboost {

void Rounds::push_back(std::int32_t of_feature, double its_cost, double its_step, double its_risk,
                       const double* table, std::size_t width, const Tree& tree,
                       const NodeLines& of_nodes, double its_proposed, double its_taken) {
  feature.push_back(of_feature);
  cost.push_back(its_cost);
  step.push_back(its_step);
  risk.push_back(its_risk);
  proposed.push_back(its_proposed);
  taken.push_back(its_taken);
  values.insert(values.end(), table, table + width);
  offsets.push_back(static_cast<std::int64_t>(values.size()));
  trees.append(tree);
  lines.append(of_nodes);
}

Rounds Rounds::from(std::size_t t) const {
  Rounds found;
  const auto take = [](const auto& own, std::int64_t begin, auto& to) {
    to.assign(own.begin() + begin, own.end());
  };
  const auto first = static_cast<std::int64_t>(t);
  take(feature, first, found.feature);
  take(cost, first, found.cost);
  take(step, first, found.step);
  take(risk, first, found.risk);
  take(proposed, first, found.proposed);
  take(taken, first, found.taken);
  take(values, offsets[t], found.values);
  take(offsets, first, found.offsets);
  for (std::int64_t& offset : found.offsets) offset -= offsets[t];
  const auto begin = static_cast<std::size_t>(offsets[t]);
  if (trees.size() > 0) found.trees = trees.part(begin, values.size());
  if (!lines.empty()) found.lines = lines.part(begin, values.size());
  return found;
}

void Rounds::resize(std::size_t n) {
  feature.resize(n);
  cost.resize(n);
  step.resize(n);
  risk.resize(n);
  proposed.resize(n);
  taken.resize(n);
  offsets.resize(n + 1);
  values.resize(static_cast<std::size_t>(offsets.back()));
  if (trees.size() > 0) trees.resize(values.size());
  if (!lines.empty()) lines.resize(values.size());
}

}  // namespace properboost
